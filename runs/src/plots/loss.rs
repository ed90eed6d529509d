//! Training loss against step.

use std::path::Path;

use super::axis::{padded, robust_extent};
use super::canvas::Frame;
use super::curves::{CurveName, CurvePanel, Span, Stroke, curves_in};
use super::rows::{MOST_POINTS, remark, selected, thin, usable};
use super::{Caption, PlotError, Quantity};

const NAME: &str = "Training loss";

/// The loss at one training step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossPoint {
    /// The number of the step, epoch or iteration.
    pub step: u64,
    /// The negative objective per datum.
    pub loss: f64,
}

/// The kind of a training step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Steps on mini-batches. The loss is noisy, so a moving average is drawn over faint points.
    MiniBatches,
    /// Full-batch iterations. The loss is drawn as it is.
    FullBatch,
}

/// Draws the loss per datum against the step, and states the loss of the kept model over all
/// training rows.
///
/// The vertical axis ignores a small share of outliers, such as the first values of a run; the plot
/// states how many it leaves out. The moving average uses only the n points inside the range: n/50
/// of them on either side, fewer near the ends.
///
/// # Errors
///
/// [`PlotError::NothingToShow`] if no loss is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn loss(
    path: &Path,
    points: &[LossPoint],
    kept: LossPoint,
    progress: Progress,
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let finite: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| usable(point.loss))
        .map(|point| (point.step as f64, point.loss))
        .collect();
    let losses: Vec<f64> = finite.iter().map(|point| point.1).collect();
    let Some(range) = robust_extent(&losses, 0.5) else {
        return Err(PlotError::nothing(NAME, points.len()));
    };
    let (low, high) = padded(range, 0.05);
    let is_visible = |point: &&(f64, f64)| (low..=high).contains(&point.1);
    // One huge early value would raise the average of a hundred steps around it.
    let visible: Vec<(f64, f64)> = finite.iter().filter(is_visible).copied().collect();
    let shown = thin(&finite, MOST_POINTS);
    let thinned = selected(shown.len(), finite.len(), "points");
    let outside = finite.len() - visible.len();
    let (along, names, curves) = match progress {
        Progress::FullBatch => ("iteration", vec!["all training rows".into()], vec![shown]),
        Progress::MiniBatches => (
            "step",
            vec![
                CurveName::new("mini-batch", Stroke::Dots),
                "moving average".into(),
            ],
            // The average of a single loss would hide it.
            match visible.len() {
                0 | 1 => vec![shown, Vec::new()],
                _ => vec![shown, moving_average(&visible)],
            },
        ),
    };
    let LossPoint { step, loss } = kept;
    let kept = format!("kept model (step {step}), all training rows: {loss:.4}").replace('-', "−");
    let remarks = [
        Some(kept),
        thinned,
        remark(outside, "outside the range shown"),
        remark(points.len() - finite.len(), "not finite, left out"),
    ];
    let frame = Frame::new(NAME, caption, Vec::new()).with_remarks(remarks);
    let panel = CurvePanel {
        title: "",
        ..CurvePanel::new("loss per datum", Span::Window(low, high), curves)
    };
    curves_in(path, frame, &names, Quantity::of(along), &[panel])
}

/// A moving average over n/50 points on either side, fewer near the ends.
fn moving_average(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let widest = (points.len() / 50).max(2);
    points
        .iter()
        .enumerate()
        .map(|(index, &(step, _))| {
            let before = widest.min(index);
            // The window is symmetric, because losses fall steeply at the start and a one-sided
            // window would be biased downward.
            let after = before.min(points.len() - 1 - index);
            let window = &points[index - before..=index + after];
            let sum: f64 = window.iter().map(|point| point.1).sum();
            (step, sum / window.len() as f64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot};
    use super::*;

    fn decaying(count: u64) -> Vec<LossPoint> {
        (1..=count)
            .map(|step| LossPoint {
                step,
                loss: 1.0 + 500.0 / (step * step) as f64 + 0.05 * (step as f64 * 1.7).sin(),
            })
            .collect()
    }

    const KEPT: LossPoint = LossPoint {
        step: 40,
        loss: -1.25,
    };

    #[test]
    fn the_loss_of_the_kept_model_is_named() {
        let plot = Plot::of(|path| loss(path, &decaying(50), KEPT, Progress::MiniBatches, CAPTION));
        assert!(plot.has_text("kept model (step 40), all training rows: −1.2500"));
    }

    #[test]
    fn mini_batches_show_at_most_two_thousand_points_and_a_line() {
        let plot =
            Plot::of(|path| loss(path, &decaying(5000), KEPT, Progress::MiniBatches, CAPTION));
        let circles = plot.count("circle");
        assert!((1900..=2001).contains(&circles), "{circles}");
        assert!(plot.has_text("2000 of 5000 points shown"));
        assert!(plot.has_text("outside the range shown"));
    }

    #[test]
    fn values_that_are_not_finite_are_left_out_and_counted() {
        let mut points = decaying(50);
        points[7].loss = f64::NAN;
        points[8].loss = f64::INFINITY;
        let plot = Plot::of(|path| loss(path, &points, KEPT, Progress::FullBatch, CAPTION));
        assert!(plot.has_text("2 not finite, left out"));
    }

    #[test]
    fn one_point_is_a_plot_and_none_is_an_error() {
        let one = [LossPoint { step: 3, loss: 0.5 }];
        let plot = Plot::of(|path| loss(path, &one, KEPT, Progress::FullBatch, CAPTION));
        // One in the legend.
        assert_eq!(plot.count("circle"), 1 + 1);
        let none = [LossPoint {
            step: 3,
            loss: f64::NAN,
        }];
        for points in [&none[..], &[]] {
            let error =
                Plot::refused(|path| loss(path, points, KEPT, Progress::FullBatch, CAPTION));
            assert!(matches!(error, PlotError::NothingToShow { .. }));
        }
    }

    #[test]
    fn a_single_mini_batch_has_no_average_in_the_legend() {
        let one = [LossPoint { step: 3, loss: 0.5 }];
        let plot = Plot::of(|path| loss(path, &one, KEPT, Progress::MiniBatches, CAPTION));
        assert!(plot.has_text("mini-batch") && !plot.has_text("moving average"));
    }
}
