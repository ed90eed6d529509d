//! Calibration of predictions: nominal against observed coverage.

use std::path::Path;

use super::axis::{Axes, Axis};
use super::canvas::{Frame, square};
use super::chart::Backdrop;
use super::legend::{Entry, Sample};
use super::rows::remark;
use super::{Caption, PlotError, Quantity, palette};
use crate::coverage::{Coverage, nominal_coverages};
use crate::evenly_spaced::evenly_spaced;

const NAME: &str = "Calibration";

/// The half-width of the central 95 % interval of a Gaussian, in standard deviations; used for
/// sampling errors of frequencies.
pub(super) const HALF_WIDTH_95: f64 = 1.959_963_984_540_054;

/// Draws observed against nominal coverage: the share of observations in the central interval of
/// probability p, against p. For each observation, `levels` holds the probability of the smallest
/// central interval that contains it.
///
/// The gray lens contains 95 % of the shares of a perfectly calibrated model with as many
/// independent test rows: p ± 1.96·√(p(1 − p)/n).
///
/// # Errors
///
/// [`PlotError::NothingToShow`] if no level is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn calibration(path: &Path, levels: &[f64], caption: Caption<'_>) -> Result<(), PlotError> {
    let rows: Vec<f64> = (levels.iter().copied())
        .filter(|level| level.is_finite())
        .collect();
    if rows.is_empty() {
        return Err(PlotError::nothing(NAME, levels.len()));
    }
    let coverage = Coverage::of_levels(rows.iter().copied());
    let curve: Vec<(f64, f64)> = nominal_coverages()
        .map(|nominal| (nominal, coverage.observed(nominal)))
        .collect();
    let left_out = remark(levels.len() - rows.len(), "not finite, left out");
    let frame = Frame {
        facts: facts(rows.len(), &curve, &coverage),
        ..Frame::new(NAME, caption, legend_entries()).with_remarks([left_out])
    };
    let axes = share_axes("nominal coverage", "observed coverage");
    square(path, &frame, axes, (Backdrop::Grid, 1.0), |chart, _| {
        chart.band(&lens(rows.len()), palette::GRAY.filled().faded(0.18));
        chart.lines([[(0.0, 0.0), (1.0, 1.0)]], palette::INK.line(1.0));
        chart.curve(&curve, palette::BLUE.line(2.0));
        chart.dots(curve.iter().copied(), 4.0, palette::BLUE.filled());
    })
}

/// Two axes from 0 to 1.
pub(super) fn share_axes(horizontal: &str, vertical: &str) -> Axes {
    let axis = |name| Axis::new(0.0, 1.0, Quantity::of(name), 5);
    Axes::new(axis(horizontal), axis(vertical))
}

fn legend_entries() -> Vec<Entry<'static>> {
    vec![
        Entry::new(Sample::Line, palette::BLUE, "this model"),
        Entry::new(Sample::Line, palette::INK, "perfect calibration"),
        Entry::new(Sample::Band, palette::GRAY, "its 95 % sampling interval"),
    ]
}

/// The edges p ± 1.96·√(p(1 − p)/n), cut to the unit square.
fn lens(count: usize) -> Vec<[f64; 3]> {
    let edges = |nominal: f64| {
        let half = HALF_WIDTH_95 * (nominal * (1.0 - nominal) / count as f64).sqrt();
        [
            nominal,
            (nominal - half).max(0.0),
            (nominal + half).min(1.0),
        ]
    };
    evenly_spaced((0.0, 1.0), 101)
        .into_iter()
        .map(edges)
        .collect()
}

fn facts(count: usize, curve: &[(f64, f64)], coverage: &Coverage) -> Vec<(&'static str, String)> {
    let gap: f64 = curve
        .iter()
        .map(|(nominal, observed)| (nominal - observed).abs())
        .sum();
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    vec![
        ("test rows", count.to_string()),
        ("50 % coverage", percent(coverage.observed(0.5))),
        ("95 % coverage", percent(coverage.observed(0.95))),
        ("mean gap", percent(gap / curve.len() as f64)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot};
    use super::*;

    #[test]
    fn certain_predictions_are_covered_only_when_right() {
        // Two certain rows, one right and one wrong: every interval covers exactly one of them.
        let plot = Plot::of(|path| calibration(path, &[0.0, 1.0], CAPTION));
        assert_eq!(plot.count("circle"), nominal_coverages().count());
        assert_eq!(plot.count_text("50.0 %"), 2);
    }

    #[test]
    fn an_observation_beyond_the_95_percent_interval_is_not_in_it() {
        let levels = [0.9545, 0.4, 0.7, 0.1, f64::NAN];
        let plot = Plot::of(|path| calibration(path, &levels, CAPTION));
        assert!(plot.has_text("75.0 %"));
        assert!(plot.has_text("1 not finite, left out"));
    }

    #[test]
    fn no_rows_is_an_error() {
        let error = Plot::refused(|path| calibration(path, &[], CAPTION));
        assert!(matches!(error, PlotError::NothingToShow { given: 0, .. }));
    }
}
