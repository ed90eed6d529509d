//! Reliability diagrams of class probabilities.

use std::path::Path;

use burn_gp_core::metrics::{CalibrationBin, calibration_bins};

use super::calibration::{HALF_WIDTH_95, share_axes};
use super::canvas::{Frame, GRAY, square};
use super::chart::Backdrop;
use super::drawing::Area;
use super::legend::{Entry, Sample};
use super::rows::{remark, same_length};
use super::{Caption, PlotError, palette};

const NAME: &str = "Reliability";

/// The number of bins of equal width on the probability axis; also used for the expected
/// calibration error.
pub const CALIBRATION_BINS: usize = 10;

/// Wilson's 95 % interval of the frequency in a nonempty bin.
fn interval(bin: &CalibrationBin) -> (f64, f64) {
    let (count, share) = (bin.count as f64, bin.frequency());
    let squared = HALF_WIDTH_95 * HALF_WIDTH_95;
    let center = (share + squared / (2.0 * count)) / (1.0 + squared / count);
    let spread = share * (1.0 - share) / count + squared / (4.0 * count * count);
    let half = HALF_WIDTH_95 * spread.sqrt() / (1.0 + squared / count);
    ((center - half).max(0.0), (center + half).min(1.0))
}

/// The class whose probabilities are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbabilityOf {
    /// The second of two classes.
    PositiveClass,
    /// The most likely of several classes.
    LikeliestClass,
}

/// The predicted probability of an event for each row, and whether it happened.
#[derive(Debug, Clone, Copy)]
pub struct Reliability<'a> {
    /// The event: a row belongs to the positive class, or to its most likely class.
    pub of: ProbabilityOf,
    /// The predicted probabilities, `[N]`.
    pub probability: &'a [f64],
    /// Whether the event happened, `[N]`.
    pub happened: &'a [bool],
    /// The share of the rows that do not belong to their most likely class.
    pub error: f64,
    /// The expected calibration error of the most likely classes.
    pub ece: f64,
}

/// Draws the frequency of an event against its predicted probability, in bins.
///
/// Bars are Wilson's 95 % intervals of the frequencies. The error rate and the expected calibration
/// error beside the plot are the same as in the run's files. The small histogram counts the rows in
/// each bin.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if the slices differ in length, [`PlotError::NothingToShow`] if no
/// probability lies in 0 to 1, [`PlotError::Write`] if the file cannot be written.
pub fn reliability(
    path: &Path,
    content: &Reliability<'_>,
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let (probability, happened) = (content.probability, content.happened);
    same_length(NAME, "the labels", probability.len(), happened.len())?;
    let rows: Vec<(f64, bool)> = probability
        .iter()
        .copied()
        .zip(happened.iter().copied())
        .filter(|(value, _)| (0.0..=1.0).contains(value))
        .collect();
    if rows.is_empty() {
        return Err(PlotError::nothing(NAME, probability.len()));
    }
    let bins = calibration_bins(rows.iter().copied(), CALIBRATION_BINS);
    let filled: Vec<&CalibrationBin> = bins.iter().filter(|bin| bin.count > 0).collect();
    let left_out = remark(probability.len() - rows.len(), "outside 0 to 1, left out");
    let frame = Frame {
        facts: facts(content, &rows),
        ..Frame::new(NAME, caption, legend_entries()).with_remarks([left_out])
    };
    let axes = share_axes("predicted probability", "observed frequency");
    square(path, &frame, axes, (Backdrop::Grid, 1.0), |chart, below| {
        chart.lines([[(0.0, 0.0), (1.0, 1.0)]], palette::INK.line(1.0));
        let bars = filled.iter().map(|bin| {
            let ((low, high), at) = (interval(bin), bin.mean_probability());
            [(at, low), (at, high)]
        });
        chart.lines(bars, palette::BLUE.line(2.0).faded(0.6));
        let dots = (filled.iter()).map(|bin| (bin.mean_probability(), bin.frequency()));
        chart.dots(dots, 5.0, palette::BLUE.filled());
        histogram(below, &bins);
    })
}

fn legend_entries() -> Vec<Entry<'static>> {
    vec![
        Entry::new(Sample::BarredDot, palette::BLUE, "bin and 95 % interval"),
        Entry::new(Sample::Line, palette::INK, "perfect calibration"),
    ]
}

fn facts(content: &Reliability<'_>, rows: &[(f64, bool)]) -> Vec<(&'static str, String)> {
    let happened = rows.iter().filter(|row| row.1).count() as f64 / rows.len() as f64;
    let name = match content.of {
        ProbabilityOf::PositiveClass => "positive",
        ProbabilityOf::LikeliestClass => "correct",
    };
    vec![
        ("test rows", rows.len().to_string()),
        (name, format!("{:.1} %", 100.0 * happened)),
        ("error", format!("{:.2} %", 100.0 * content.error)),
        ("ECE", format!("{:.4}", content.ece)),
    ]
}

/// Draws the number of rows in each bin as small bars.
fn histogram(area: Area<'_>, bins: &[CalibrationBin]) {
    const BAR: f64 = 20.0;
    const HEIGHT: f64 = 90.0;
    const TOP: f64 = 20.0;
    const BASE: f64 = TOP + 22.0 + HEIGHT;
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    area.write("rows per bin", GRAY, (0.0, TOP));
    for (index, bin) in bins.iter().enumerate() {
        let height = HEIGHT * bin.count as f64 / most;
        let corner = (BAR * index as f64, BASE - height);
        area.rectangle(corner, (BAR - 2.0, height), palette::SKY.filled());
    }
    let right = BAR * bins.len() as f64;
    area.line(&[(0.0, BASE), (right, BASE)], palette::GRAY.line(1.0));
    area.write("0", GRAY, (0.0, BASE + 4.0));
    area.write("1", GRAY, (right - 8.0, BASE + 4.0));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot};
    use super::*;

    fn content<'a>(probability: &'a [f64], happened: &'a [bool]) -> Reliability<'a> {
        Reliability {
            of: ProbabilityOf::PositiveClass,
            probability,
            happened,
            error: 1.0 / 6.0,
            ece: 0.1,
        }
    }

    #[test]
    fn one_dot_a_filled_bin_and_the_scores_of_the_files() {
        // Bins 0.1 (3 of 4 negative rows right) and 1.0 (certain and right).
        let probability = [0.1, 0.1, 0.1, 0.1, 1.0, 1.0];
        let positive = [false, false, false, true, true, true];
        let content = content(&probability, &positive);
        let plot = Plot::of(|path| reliability(path, &content, CAPTION));
        assert_eq!(plot.count("circle"), 2 + 1);
        assert!(plot.has_text("0.1000"));
        assert!(plot.has_text("16.67 %"));
        assert!(plot.has_text("50.0 %"));
    }

    #[test]
    fn wilson_interval_of_half_of_ten() {
        // Reference: 0.5 ± 1.96·√(0.025 + 3.8415/400)/(1 + 0.38415) = 0.5 ± 0.26341.
        let bin = CalibrationBin {
            count: 10,
            happened: 5,
            probability: 5.0,
        };
        let (low, high) = interval(&bin);
        assert!((low - 0.236_59).abs() < 1e-5 && (high - 0.763_41).abs() < 1e-5);
    }

    #[test]
    fn values_that_are_no_probability_are_counted_or_refused() {
        let likeliest = Reliability {
            of: ProbabilityOf::LikeliestClass,
            ..content(&[0.5, f64::NAN, 1.2], &[true; 3])
        };
        let plot = Plot::of(|path| reliability(path, &likeliest, CAPTION));
        assert!(plot.has_text("2 outside 0 to 1, left out"));
        let outside = content(&[-0.1], &[true]);
        let error = Plot::refused(|path| reliability(path, &outside, CAPTION));
        assert!(matches!(error, PlotError::NothingToShow { given: 1, .. }));
        let short = content(&[0.1], &[]);
        let error = Plot::refused(|path| reliability(path, &short, CAPTION));
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
    }
}
