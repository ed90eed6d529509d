//! How training is going, while it goes.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::fitting::LogEntry;

/// Time between two lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Steps that the shown loss is averaged over, about.
const SMOOTHING: f64 = 20.0;

/// Shows the progress of training on the standard error.
pub struct Progress {
    display: Display,
    planned: usize,
    first_step: usize,
    /// The step shown.
    step: usize,
    start: Instant,
    loss: Option<f64>,
    validation: Option<f64>,
}

enum Display {
    Quiet,
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl Progress {
    /// Progress from step `made` of `planned`: a bar on a terminal, a line now and then elsewhere,
    /// nothing when `quiet`.
    pub fn new(made: usize, planned: usize, quiet: bool) -> Self {
        let display = if quiet {
            Display::Quiet
        } else if std::io::stderr().is_terminal() {
            Display::Bar(bar(made, planned))
        } else {
            Display::Lines {
                last: Instant::now(),
            }
        };
        Self {
            display,
            planned,
            first_step: made,
            step: made,
            start: Instant::now(),
            loss: None,
            validation: None,
        }
    }

    /// Shows a step, or once more when its validation is known.
    pub fn update(&mut self, entry: &LogEntry) {
        let (step, loss) = (entry.report.step, entry.report.loss);
        let smooth = match self.loss {
            Some(old) if step == self.step => old,
            Some(old) => old + (loss - old) / SMOOTHING,
            None => loss,
        };
        (self.step, self.loss) = (step, Some(smooth));
        self.validation = entry.validation.or(self.validation);
        let mut text = format!("loss {smooth:.4}");
        if let Some(score) = self.validation {
            text += &format!("  validation NLPD {score:.4}");
        }
        match &mut self.display {
            Display::Quiet => {}
            Display::Bar(bar) => {
                bar.set_message(text);
                bar.set_position(step as u64);
            }
            Display::Lines { last } if last.elapsed() >= LINE_INTERVAL => {
                *last = Instant::now();
                let speed = (step - self.first_step) as f64 / self.start.elapsed().as_secs_f64();
                let left = self.planned.saturating_sub(step) as f64 / speed;
                eprintln!(
                    "step {step}/{}  {text}  {speed:.1} steps/s  {left:.0} s left at most",
                    self.planned
                );
            }
            Display::Lines { .. } => {}
        }
    }
}

/// Takes the bar away.
impl Drop for Progress {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

fn bar(made: usize, planned: usize) -> ProgressBar {
    let template = "{bar:30} {pos}/{len}  {msg}  {speed}  {eta} left";
    // The template is a constant; should it be wrong, the plain bar will do.
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("speed", |state: &ProgressState, text: &mut dyn Write| {
            // Text that cannot be formatted is text that is not shown.
            let _ = write!(text, "{:.0} steps/s", state.per_sec());
        });
    let bar = ProgressBar::new(planned as u64)
        .with_position(made as u64)
        .with_style(style);
    bar.reset_eta();
    bar
}
