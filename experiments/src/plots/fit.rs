//! A fit over one input: mean, 95 % band, data and inducing points.

use std::path::Path;

use plotters::prelude::*;

use super::axis::{Axis, extent, padded, robust_extent};
use super::canvas::{Frame, pixels, wide};
use super::fit_content::{BandOf, Curve, Fit, PICTURE, Visible};
use super::legend::{Entry, Sample};
use super::rows::remark;
use super::{Caption, PlotError, Quantity, palette};

/// Draws a one-dimensional fit: mean, bands of central 95 % intervals, data points, and inducing
/// points as ticks along the bottom.
///
/// The vertical range follows the data and the mean; bands may extend it by half at either end.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if slices of the same rows differ in length,
/// [`PlotError::NothingToShow`] if fewer than two grid points are finite, [`PlotError::Write`] if
/// the file cannot be written.
pub fn fit(
    path: &Path,
    content: &Fit<'_>,
    input: Quantity<'_>,
    target: Quantity<'_>,
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let curve = Curve::new(content)?;
    let train = Visible::new("the training targets", content.train)?;
    let test = Visible::new("the test targets", content.test)?;
    let axes = axes(&curve, &train, &test, input, target)?;
    let frame = Frame {
        plot: PICTURE,
        caption,
        remarks: remarks(content, &curve, &train, &test, &axes),
        legend: legend_entries(content, &train, &test),
    };
    let (horizontal, vertical) = axes.clone();
    wide(path, &frame, axes, |chart| {
        let inside = |point: &&(f64, f64)| horizontal.holds(point.0) && vertical.holds(point.1);
        for (of, edges) in &curve.bands {
            chart.band(edges, of.shade())?;
        }
        let dot = palette::INK.mix(if train.shown.len() > 300 { 0.35 } else { 0.7 });
        let dots = train.shown.iter().filter(inside);
        chart.dots(dots.copied(), 3, dot.filled())?;
        let ring = palette::VERMILION.stroke_width(pixels(3) as u32 / 2);
        let rings = test.shown.iter().filter(inside);
        chart.dots(rings.copied(), 3, ring)?;
        chart.curve(&curve.means, palette::BLUE)?;
        let (low, high) = vertical.limits();
        let top = low + 0.03 * (high - low);
        let held = content
            .inducing
            .iter()
            .filter(|&&place| horizontal.holds(place));
        let ticks = held.map(|&place| [(place, low), (place, top)]);
        chart.lines(ticks, palette::GREEN, 2)
    })
}

impl BandOf {
    /// The strength of the color.
    fn shade(self) -> f64 {
        match self {
            Self::Targets => 0.3,
            Self::Function => 0.45,
        }
    }
}

fn axes(
    curve: &Curve,
    train: &Visible,
    test: &Visible,
    input: Quantity<'_>,
    target: Quantity<'_>,
) -> Result<(Axis, Axis), PlotError> {
    let nothing = || PlotError::nothing(PICTURE, curve.means.len());
    let (left, right) = extent(curve.means.iter().map(|point| point.0)).ok_or_else(nothing)?;
    let heights: Vec<f64> = train
        .all
        .iter()
        .chain(&test.all)
        .map(|point| point.1)
        .chain(curve.means.iter().map(|point| point.1))
        .collect();
    let (low, high) = robust_extent(&heights, 5.0).ok_or_else(nothing)?;
    let bands = curve.bands.iter().flat_map(|(_, edges)| edges);
    let edges = bands.flat_map(|&[_, low, high]| [low, high]);
    let means = curve.means.iter().map(|point| point.1);
    let edges = edges.chain(means);
    let (band_low, band_high) = extent(edges).ok_or_else(nothing)?;
    let (most_low, most_high) = padded((low, high), 0.5);
    let range = (
        low.min(band_low.max(most_low)),
        high.max(band_high.min(most_high)),
    );
    // The lower margin keeps the ticks of the inducing points clear of the data.
    let (padded_low, padded_high) = padded(range, 0.05);
    Ok((
        Axis::new(left, right, input, 8),
        Axis::new(
            padded_low - 0.03 * (range.1 - range.0),
            padded_high,
            target,
            7,
        ),
    ))
}

fn remarks(
    content: &Fit<'_>,
    curve: &Curve,
    train: &Visible,
    test: &Visible,
    axes: &(Axis, Axis),
) -> Vec<String> {
    let outside = train
        .all
        .iter()
        .chain(&test.all)
        .filter(|point| !(axes.0.holds(point.0) && axes.1.holds(point.1)))
        .count();
    let hidden = content
        .inducing
        .iter()
        .filter(|&&place| !axes.0.holds(place))
        .count();
    let thinned = [("training", train), ("test", test)]
        .into_iter()
        .filter(|(_, points)| points.shown.len() < points.all.len())
        .map(|(name, points)| {
            format!(
                "{} of {} {name} points shown",
                points.shown.len(),
                points.all.len()
            )
        });
    thinned
        .chain(remark(outside, "points outside the range shown"))
        .chain(remark(hidden, "inducing points outside the range shown"))
        .chain(remark(
            curve.unusable + train.unusable + test.unusable,
            "values not finite, left out",
        ))
        .collect()
}

fn legend_entries(content: &Fit<'_>, train: &Visible, test: &Visible) -> Vec<Entry<'static>> {
    let mut entries = vec![Entry::new(Sample::Line, palette::BLUE, "mean")];
    entries.extend(content.bands.iter().rev().map(|band| match band.of {
        BandOf::Function => Entry::new(Sample::DarkBand, palette::SKY, "95 % of the function"),
        BandOf::Targets if content.bands.len() == 1 => {
            Entry::new(Sample::Band, palette::SKY, "95 % band")
        }
        BandOf::Targets => Entry::new(Sample::Band, palette::SKY, "95 % with noise"),
    }));
    let sometimes = [
        (
            !train.all.is_empty(),
            Entry::new(Sample::Dot, palette::INK, "training"),
        ),
        (
            !test.all.is_empty(),
            Entry::new(Sample::Ring, palette::VERMILION, "test"),
        ),
        (
            !content.inducing.is_empty(),
            Entry::new(Sample::Tick, palette::GREEN, "inducing"),
        ),
    ];
    let present = sometimes.into_iter().filter(|(present, _)| *present);
    entries.extend(present.map(|(_, entry)| entry));
    entries
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, Plot, wave};
    use super::super::fit_content::{Band, Points, evaluation_grid};
    use super::*;

    const INPUT: Quantity<'static> = Quantity {
        name: "x",
        unit: Some("s"),
    };
    const TARGET: Quantity<'static> = Quantity::of("y");

    #[test]
    fn every_point_and_every_inducing_input_is_drawn() {
        let x = evaluation_grid([0.0, 10.0], 200).expect("grid");
        let mean: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let shifted = |by: f64| -> Vec<f64> { mean.iter().map(|mean| mean + by).collect() };
        let [far_below, below, above, far_above] = [-0.4, -0.2, 0.2, 0.4].map(shifted);
        let inputs: Vec<f64> = (0..40).map(|row| f64::from(row) / 4.0).collect();
        let content = Fit {
            x: &x,
            mean: &mean,
            bands: &[
                Band {
                    of: BandOf::Targets,
                    lower: &far_below,
                    upper: &far_above,
                },
                Band {
                    of: BandOf::Function,
                    lower: &below,
                    upper: &above,
                },
            ],
            train: Points {
                x: &inputs[..30],
                y: &wave(30, 0.0),
            },
            test: Points {
                x: &inputs[30..],
                y: &wave(10, 0.0),
            },
            inducing: &[1.0, 4.0, f64::NAN, 99.0],
        };
        let plot = Plot::of(|path| fit(path, &content, INPUT, TARGET, CAPTION));
        assert_eq!(plot.count("circle"), 40 + 2);
        assert_eq!(plot.count("polygon"), 2);
        assert!(plot.has_text("95 % of the function"));
        assert!(plot.has_text("2 inducing points outside the range shown"));
        assert!(plot.has_text("x (s)"));
    }

    #[test]
    fn holes_in_the_prediction_are_counted() {
        let content = Fit {
            x: &[0.0, 1.0, 2.0, 3.0],
            mean: &[0.0, f64::NAN, 1.0, 2.0],
            bands: &[Band {
                of: BandOf::Targets,
                lower: &[-1.0, -1.0, -1e30, 1.0],
                upper: &[1.0, 1.0, 1e30, 3.0],
            }],
            train: Points::default(),
            test: Points::default(),
            inducing: &[],
        };
        let plot = Plot::of(|path| fit(path, &content, INPUT, TARGET, CAPTION));
        assert!(plot.has_text("1 values not finite, left out"));
        assert_eq!(plot.count_text("training"), 0);
    }

    #[test]
    fn nothing_finite_and_uneven_slices_are_errors() {
        let mut content = Fit {
            x: &[0.0, 1.0],
            mean: &[f64::NAN; 2],
            bands: &[Band {
                of: BandOf::Targets,
                lower: &[-1.0; 2],
                upper: &[1.0; 2],
            }],
            train: Points::default(),
            test: Points::default(),
            inducing: &[],
        };
        let error = Plot::refused(|path| fit(path, &content, INPUT, TARGET, CAPTION));
        assert!(matches!(error, PlotError::NothingToShow { given: 2, .. }));
        content.train = Points { x: &[1.0], y: &[] };
        content.mean = &[0.0; 2];
        let error = Plot::refused(|path| fit(path, &content, INPUT, TARGET, CAPTION));
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
        assert!(evaluation_grid([f64::NAN], 10).is_err());
    }
}
