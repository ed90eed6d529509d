//! Calibration of Gaussian predictions: nominal against observed coverage.

use std::path::Path;

use plotters::prelude::*;

use super::axis::Axis;
use super::canvas::{Frame, drawing, nothing_below, pixels, square};
use super::legend::{Entry, Sample};
use super::predicted_observed::{HALF_WIDTH_95, Predictions, Row};
use super::rows::remark;
use super::{Caption, PictureError, Quantity, palette};
use crate::coverage::{Coverage, nominal_coverages};

const PICTURE: &str = "Calibration";

/// Draws the share of observations inside the central interval of nominal coverage p, against p.
///
/// The grey lens is where 95 % of the shares of a perfectly calibrated model with as many independent test rows
/// lie: p ± 1.96·√(p(1 − p)/n).
///
/// # Errors
///
/// [`PictureError::LengthMismatch`] when the slices differ in length,
/// [`PictureError::NothingToShow`] when no row is finite, [`PictureError::Write`] when the file
/// cannot be written.
pub fn calibration(
    path: &Path,
    predictions: &Predictions<'_>,
    caption: Caption<'_>,
) -> Result<(), PictureError> {
    let rows = predictions.usable_rows(PICTURE)?;
    let coverage = Coverage::of_residuals(rows.iter().map(Row::standardised_residual));
    let curve: Vec<(f64, f64)> = nominal_coverages()
        .map(|nominal| (nominal, coverage.observed(nominal)))
        .collect();
    let frame = Frame {
        picture: PICTURE,
        caption,
        remarks: remark(
            predictions.observed.len() - rows.len(),
            "not finite, left out",
        )
        .into_iter()
        .collect(),
        legend: legend_entries(),
    };
    let facts = facts(rows.len(), &curve, &coverage);
    square(
        path,
        &frame,
        share_axes("nominal coverage", "observed coverage"),
        &facts,
        |chart| {
            let spread = palette::GREY.mix(0.18).filled();
            chart
                .draw_series([Polygon::new(lens(rows.len()), spread)])
                .map_err(drawing(PICTURE))?;
            let diagonal = palette::INK.stroke_width(pixels(1) as u32);
            let line = palette::BLUE.stroke_width(pixels(2) as u32);
            chart
                .draw_series([
                    PathElement::new(vec![(0.0, 0.0), (1.0, 1.0)], diagonal),
                    PathElement::new(curve.clone(), line),
                ])
                .map_err(drawing(PICTURE))?;
            let dot = palette::BLUE.filled();
            chart
                .draw_series(
                    curve
                        .iter()
                        .map(|&point| Circle::new(point, pixels(4), dot)),
                )
                .map_err(drawing(PICTURE))?;
            Ok(())
        },
        nothing_below,
    )
}

/// Two axes from 0 to 1.
pub(super) fn share_axes(horizontal: &str, vertical: &str) -> (Axis, Axis) {
    let axis = |name| Axis::new(0.0, 1.0, Quantity::of(name), 5);
    (axis(horizontal), axis(vertical))
}

fn legend_entries() -> Vec<Entry<'static>> {
    vec![
        Entry::new(Sample::Line, palette::BLUE, "this model"),
        Entry::new(Sample::Line, palette::INK, "perfect calibration"),
        Entry::new(Sample::Band, palette::GREY, "its 95 % sampling spread"),
    ]
}

/// The outline p ± 1.96·√(p(1 − p)/n), cut to the unit square.
fn lens(count: usize) -> Vec<(f64, f64)> {
    let half = |nominal: f64| HALF_WIDTH_95 * (nominal * (1.0 - nominal) / count as f64).sqrt();
    let nominals = || (0..=100).map(|step| f64::from(step) / 100.0);
    let upper = nominals().map(|nominal| (nominal, (nominal + half(nominal)).min(1.0)));
    let lower = nominals().map(|nominal| (nominal, (nominal - half(nominal)).max(0.0)));
    upper.chain(lower.rev()).collect()
}

fn facts(count: usize, curve: &[(f64, f64)], coverage: &Coverage) -> [(&'static str, String); 4] {
    let gap: f64 = curve
        .iter()
        .map(|(nominal, observed)| (nominal - observed).abs())
        .sum();
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    [
        ("test rows", count.to_string()),
        ("50 % coverage", percent(coverage.observed(0.5))),
        ("95 % coverage", percent(coverage.observed(0.95))),
        ("mean gap", percent(gap / curve.len() as f64)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, Picture};
    use super::*;

    #[test]
    fn certain_predictions_are_covered_only_when_right() {
        // Two certain rows, one right and one wrong: every interval covers exactly one of them.
        let predictions = Predictions {
            observed: &[1.0, 2.0],
            mean: &[1.0, 3.0],
            standard_deviation: &[0.0, 0.0],
        };
        let picture = Picture::of(|path| calibration(path, &predictions, CAPTION));
        assert_eq!(picture.count("circle"), nominal_coverages().count());
        assert_eq!(picture.count_text("50.0 %"), 2);
    }

    #[test]
    fn a_residual_of_two_deviations_leaves_the_95_percent_interval() {
        let predictions = Predictions {
            observed: &[2.0, 0.5, 1.0, 0.1],
            mean: &[0.0; 4],
            standard_deviation: &[1.0; 4],
        };
        let picture = Picture::of(|path| calibration(path, &predictions, CAPTION));
        assert!(picture.has_text("75.0 %"));
    }

    #[test]
    fn no_rows_is_an_error() {
        let predictions = Predictions {
            observed: &[],
            mean: &[],
            standard_deviation: &[],
        };
        let error = Picture::refused(|path| calibration(path, &predictions, CAPTION));
        assert!(matches!(
            error,
            PictureError::NothingToShow { given: 0, .. }
        ));
    }
}
