//! Progress of training and evaluation.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc::{self, RecvTimeoutError, Sender},
};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::standard_error::{tell, warn};
use crate::training_log::LogEntry;

/// The time between two lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// The time before the first update and between updates during an evaluation.
const GLANCE: Duration = Duration::from_millis(500);

/// The approximate number of steps over which the shown loss is averaged.
const SMOOTHING: f64 = 20.0;

/// Shows the progress of training on the standard error.
pub struct Progress {
    display: Display,
    /// The step on display.
    step: usize,
    loss: Option<f64>,
    validation: Option<f64>,
}

impl Progress {
    /// Starts at step `made` of `planned`. Shows a bar on a terminal, occasional lines elsewhere, and nothing
    /// if `quiet`.
    pub fn new(made: usize, planned: usize, quiet: bool) -> Self {
        Self {
            display: Display::new("step", made, planned, quiet, Instant::now()),
            step: made,
            loss: None,
            validation: None,
        }
    }

    /// Shows a step. Is called again when the validation score of the step is known.
    pub fn update(&mut self, entry: &LogEntry) {
        let (step, loss) = (entry.report.step, entry.report.loss);
        let smooth = match self.loss {
            // A skipped step has no loss.
            Some(old) if step == self.step || !loss.is_finite() => old,
            Some(old) => old + (loss - old) / SMOOTHING,
            None => loss,
        };
        (self.step, self.loss) = (step, Some(smooth));
        self.validation = entry.validation.or(self.validation);
        let mut text = format!("  loss {smooth:.4}");
        if let Some(score) = self.validation {
            text += &format!("  validation NLPD {score:.4}");
        }
        self.display.show(step, &text, " at most");
    }

    /// Prints a warning above the display. Prints nothing if there is no display.
    pub fn warn(&self, text: &str) {
        match &self.display.kind {
            Kind::Quiet => {}
            Kind::Bar(bar) => bar.suspend(|| warn(text)),
            Kind::Lines { .. } => warn(text),
        }
    }
}

/// Shows the progress over the rows of a long evaluation on the standard error. A separate thread updates the
/// display, because a single chunk of rows can take long.
pub struct RowProgress {
    done: Arc<AtomicUsize>,
    /// The thread ends when the sender is dropped.
    thread: Option<(Sender<()>, JoinHandle<()>)>,
}

impl RowProgress {
    /// Starts the progress over `planned` items called `row`, displayed like [`Progress`].
    pub fn new(row: &'static str, planned: usize, quiet: bool) -> Self {
        let done = Arc::new(AtomicUsize::new(0));
        let thread = (!quiet).then(|| {
            let (sender, ended) = mpsc::channel();
            let (done, start) = (Arc::clone(&done), Instant::now());
            let show = move || {
                let mut display = None;
                while ended.recv_timeout(GLANCE) == Err(RecvTimeoutError::Timeout) {
                    let begun = || Display::new(row, 0, planned, false, start);
                    let display: &mut Display = display.get_or_insert_with(begun);
                    display.show(done.load(Ordering::Relaxed), "", "");
                }
            };
            (sender, std::thread::spawn(show))
        });
        Self { done, thread }
    }

    /// Records the number of finished rows.
    pub fn update(&mut self, done: usize) {
        self.done.store(done, Ordering::Relaxed);
    }
}

/// Removes the display before anything else is printed.
impl Drop for RowProgress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            drop(sender);
            // A thread that panicked has nothing to show.
            let _ = thread.join();
        }
    }
}

/// A bar or lines that show how many items of work are done.
struct Display {
    kind: Kind,
    unit: &'static str,
    planned: usize,
    /// The number of items that were done before the start.
    first: usize,
    start: Instant,
}

enum Kind {
    Quiet,
    Bar(ProgressBar),
    Lines { last: Instant },
}

impl Display {
    /// A display of work that began at `start`.
    fn new(unit: &'static str, made: usize, planned: usize, quiet: bool, start: Instant) -> Self {
        let kind = if quiet {
            Kind::Quiet
        } else if std::io::stderr().is_terminal() {
            Kind::Bar(bar(unit, made, planned).with_elapsed(start.elapsed()))
        } else {
            Kind::Lines { last: start }
        };
        Self {
            kind,
            unit,
            planned,
            first: made,
            start,
        }
    }

    /// Shows the position, `text` and the time left, followed by `bound`.
    fn show(&mut self, position: usize, text: &str, bound: &str) {
        let (unit, planned) = (self.unit, self.planned);
        match &mut self.kind {
            Kind::Quiet => {}
            Kind::Bar(bar) => {
                bar.set_message(text.to_owned());
                bar.set_position(position as u64);
            }
            Kind::Lines { last } if last.elapsed() >= LINE_INTERVAL => {
                *last = Instant::now();
                let (made, left) = (position - self.first, planned.saturating_sub(position));
                let rate = rate(unit, made, left, self.start.elapsed());
                tell(&format!("{unit} {position}/{planned}{text}  {rate}{bound}"));
            }
            Kind::Lines { .. } => {}
        }
    }
}

/// The speed and the remaining time for `left` items; the `elapsed` time if no item is done.
fn rate(unit: &str, made: usize, left: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if made == 0 {
        return format!("{seconds:.0} s so far");
    }
    let speed = made as f64 / seconds;
    format!("{speed:.1} {unit}s/s  {:.0} s left", left as f64 / speed)
}

/// Removes the bar.
impl Drop for Display {
    fn drop(&mut self) {
        if let Kind::Bar(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }
}

fn bar(unit: &'static str, made: usize, planned: usize) -> ProgressBar {
    let template = "{bar:30} {pos}/{len}{msg}  {speed}  {eta} left";
    // The template is a constant; if it is invalid, the default bar is used.
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "speed",
            move |state: &ProgressState, text: &mut dyn Write| {
                // A failure only loses the text.
                let _ = write!(text, "{:.0} {unit}s/s", state.per_sec());
            },
        );
    let bar = ProgressBar::new(planned as u64)
        .with_position(made as u64)
        .with_style(style);
    bar.reset_eta();
    bar
}

#[cfg(test)]
mod tests {
    use super::{Duration, rate};

    #[test]
    fn lines_have_the_rate_and_the_time_left() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(
            rate("test row", 200, 3000, elapsed),
            "20.0 test rows/s  150 s left"
        );
        assert_eq!(rate("test row", 0, 3000, elapsed), "10 s so far");
    }
}
