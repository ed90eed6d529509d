//! Panels of fits over the same input.

use std::path::Path;

use plotters::prelude::*;

use super::axis::{Axis, extent, padded, robust_extent};
use super::canvas::{Area, Frame, pixels, sheet};
use super::chart::Chart;
use super::fit_content::Points;
use super::legend::{Entry, Sample};
use super::rows::{same_length, usable};
use super::{Caption, PlotError, PredictedCurve, Quantity, palette, panels};

const PICTURE: &str = "Fits";
/// The strength of the color of a band.
const SHADE: f64 = 0.3;

/// A model of one input.
#[derive(Clone, Copy, Debug)]
pub struct FitPanel<'a> {
    /// The title above the panel.
    pub title: &'a str,
    /// The predictions, with the standard deviations of the band.
    pub curve: &'a PredictedCurve,
    /// The inducing points, `[M]`.
    pub inducing: &'a [f64],
    /// The orthogonal inducing points, `[M2]`.
    pub orthogonal: &'a [f64],
}

impl<'a> FitPanel<'a> {
    /// A model without inducing points.
    pub fn new(title: &'a str, curve: &'a PredictedCurve) -> Self {
        Self {
            title,
            curve,
            inducing: &[],
            orthogonal: &[],
        }
    }
}

/// The meaning of the bands in all panels.
#[derive(Clone, Copy, Debug)]
pub struct Bands<'a> {
    /// The text of the legend.
    pub text: &'a str,
    /// Half of the width, in standard deviations.
    pub deviations: f64,
}

/// Draws one panel for each fit with the same axes: mean, band, training and held-out points,
/// inducing points as crosses along the bottom, and orthogonal inducing points as triangles along
/// the top.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if slices of the same rows differ in length,
/// [`PlotError::NothingToShow`] if no value is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn fits(
    path: &Path,
    caption: Caption<'_>,
    band: Bands<'_>,
    (train, test): (Points<'_>, Points<'_>),
    (input, target): (Quantity<'_>, Quantity<'_>),
    fits: &[FitPanel<'_>],
) -> Result<(), PlotError> {
    for FitPanel { curve, .. } in fits {
        let count = curve.x.len();
        same_length(PICTURE, "the mean", count, curve.mean.len())?;
        same_length(PICTURE, "the band", count, curve.deviation.len())?;
    }
    for points in [train, test] {
        same_length(PICTURE, "the targets", points.x.len(), points.y.len())?;
    }
    let axes = axes(fits, band, &[train, test], (input, target))?;
    let frame = Frame::new(PICTURE, caption, legend_entries(band.text, test, fits));
    sheet(path, &frame, |_, body| {
        for (area, fit) in panels::divide(body, fits.len()).iter().zip(fits) {
            draw(area, fit, band, (train, test), axes.clone())?;
        }
        Ok(())
    })
}

/// The legend entries for everything that at least one panel shows.
fn legend_entries<'a>(band: &'a str, test: Points<'_>, fits: &[FitPanel<'_>]) -> Vec<Entry<'a>> {
    let mut entries = vec![
        Entry::new(Sample::Line, palette::BLUE, "mean"),
        Entry::new(Sample::Band, palette::SKY, band),
        Entry::new(Sample::Dot, palette::INK, "training"),
    ];
    if !test.x.is_empty() {
        entries.push(Entry::new(Sample::Ring, palette::VERMILION, "held out"));
    }
    if fits.iter().any(|fit| !fit.inducing.is_empty()) {
        entries.push(Entry::new(Sample::Cross, palette::GREEN, "inducing"));
    }
    if fits.iter().any(|fit| !fit.orthogonal.is_empty()) {
        entries.push(Entry::new(Sample::Triangle, palette::GREEN, "orthogonal"));
    }
    entries
}

/// Axes that contain the data and the means; a band may extend them by half at either end.
fn axes(
    fits: &[FitPanel<'_>],
    band: Bands<'_>,
    points: &[Points<'_>],
    (input, target): (Quantity<'_>, Quantity<'_>),
) -> Result<(Axis, Axis), PlotError> {
    let places = fits.iter().flat_map(|fit| fit.curve.x.iter().copied());
    let means = fits.iter().flat_map(|fit| fit.curve.mean.iter().copied());
    let targets = points.iter().flat_map(|points| points.y.iter().copied());
    let heights: Vec<f64> = means
        .chain(targets)
        .filter(|&value| usable(value))
        .collect();
    let edges = fits.iter().flat_map(|fit| {
        let edges = fit.curve.edges(band.deviations).into_iter();
        edges.flat_map(|[_, low, high]| [low, high])
    });
    let (Some((left, right)), Some(inner), Some(outer)) = (
        extent(places.filter(|&value| usable(value))),
        robust_extent(&heights, 5.0),
        extent(edges.filter(|&value| usable(value))),
    ) else {
        return Err(PlotError::nothing(PICTURE, heights.len()));
    };
    let most = padded(inner, 0.5);
    let range = (
        inner.0.min(outer.0.max(most.0)),
        inner.1.max(outer.1.min(most.1)),
    );
    let (low, high) = padded(range, 0.1);
    Ok((
        Axis::new(left, right, input, 5),
        Axis::new(low, high, target, 5),
    ))
}

fn draw(
    area: &Area<'_>,
    fit: &FitPanel<'_>,
    band: Bands<'_>,
    (train, test): (Points<'_>, Points<'_>),
    axes: (Axis, Axis),
) -> Result<(), PlotError> {
    let (horizontal, vertical) = axes.clone();
    let inside = |point: &(f64, f64)| horizontal.holds(point.0) && vertical.holds(point.1);
    let visible = |points: Points<'_>| -> Vec<(f64, f64)> {
        let pairs = points.x.iter().copied().zip(points.y.iter().copied());
        pairs.filter(inside).collect()
    };
    let mut chart = panels::chart(area, PICTURE, fit.title, axes)?;
    chart.band(&fit.curve.edges(band.deviations), SHADE)?;
    chart.dots(visible(train), 2, palette::INK.mix(0.6).filled())?;
    let ring = palette::VERMILION.stroke_width(pixels(1) as u32);
    chart.dots(visible(test), 2, ring)?;
    let means = fit.curve.mean.iter().copied();
    let means: Vec<(f64, f64)> = fit.curve.x.iter().copied().zip(means).collect();
    chart.curve(&means, palette::BLUE)?;
    draw_inducing(&mut chart, fit, &horizontal, &vertical)
}

fn draw_inducing(
    chart: &mut Chart<'_>,
    fit: &FitPanel<'_>,
    horizontal: &Axis,
    vertical: &Axis,
) -> Result<(), PlotError> {
    let (low, high) = vertical.limits();
    let offset = 0.04 * (high - low);
    let places = |points: &[f64], height: f64| -> Vec<(f64, f64)> {
        let held = points.iter().filter(|&&place| horizontal.holds(place));
        held.map(|&place| (place, height)).collect()
    };
    let line = palette::GREEN.stroke_width(pixels(2) as u32);
    let crosses = places(fit.inducing, low + offset).into_iter();
    chart.draw(crosses.map(|point| Cross::new(point, pixels(4), line)))?;
    let triangles = places(fit.orthogonal, high - offset).into_iter();
    let filled = palette::GREEN.filled();
    chart.draw(triangles.map(|point| TriangleMarker::new(point, pixels(4), filled)))
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, Plot};
    use super::*;

    const INPUT: Quantity<'static> = Quantity::of("x");
    const TARGET: Quantity<'static> = Quantity::of("y");

    const BANDS: Bands<'static> = Bands {
        text: "±2 deviations",
        deviations: 2.0,
    };

    fn curve(mean: &[f64]) -> PredictedCurve {
        let variance = vec![0.0625; 3];
        PredictedCurve::new(vec![0.0, 1.0, 2.0], mean.to_vec(), variance)
    }

    fn panel<'a>(curve: &'a PredictedCurve, orthogonal: &'a [f64]) -> FitPanel<'a> {
        FitPanel {
            inducing: &[0.5, 1.5],
            orthogonal,
            ..FitPanel::new("SVGP 5", curve)
        }
    }

    #[test]
    fn bands_are_so_many_deviations_wide() {
        let edges = curve(&[0.0, 1.0, 0.0]).edges(BANDS.deviations);
        assert_eq!(edges, [[0.0, -0.5, 0.5], [1.0, 0.5, 1.5], [2.0, -0.5, 0.5]]);
    }

    #[test]
    fn every_panel_has_data_band_and_inducing_inputs() {
        let mean = curve(&[0.0, 1.0, 0.0]);
        let all = [panel(&mean, &[]), panel(&mean, &[1.0, 9.0])];
        let train = Points {
            x: &[0.0, 1.0],
            y: &[0.1, 0.9],
        };
        let test = Points {
            x: &[2.0],
            y: &[0.0],
        };
        let quantities = (INPUT, TARGET);
        let draw = |path: &Path| fits(path, CAPTION, BANDS, (train, test), quantities, &all);
        let plot = Plot::of(draw);
        // Two in the legend and three points in each panel.
        assert_eq!(plot.count("circle"), 2 + 2 * 3);
        // One band in each panel, and two triangles: one in the legend, one inside the range.
        assert_eq!(plot.count("polygon"), 2 + 2);
        assert_eq!(plot.count_text("±2 deviations"), 1);
        assert_eq!(plot.count_text("SVGP 5"), 2);
        assert_eq!(plot.count_text("orthogonal"), 1);
        let (none, plain) = (Points { x: &[], y: &[] }, [panel(&mean, &[])]);
        let draw = |path: &Path| fits(path, CAPTION, BANDS, (train, none), quantities, &plain);
        let plot = Plot::of(draw);
        assert_eq!(plot.count_text("inducing"), 1);
        assert_eq!(plot.count_text("orthogonal"), 0);
        assert_eq!(plot.count_text("held out"), 0);
        let shorter = curve(&[0.0, 1.0]);
        let uneven = [panel(&shorter, &[])];
        let draw = |path: &Path| fits(path, CAPTION, BANDS, (train, test), quantities, &uneven);
        let error = Plot::refused(draw);
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
    }
}
