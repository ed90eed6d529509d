//! Fits over one input, in one panel or several with the same axes.

use std::path::Path;

use super::axis::{Axes, Axis, extent, padded, robust_extent};
use super::canvas::{Frame, sheet};
use super::chart::Backdrop;
use super::drawing::{Area, Mark};
use super::legend::{Entry, Sample};
use super::rows::{MOST_POINTS, remark_on, same_length, selected, thin, usable};
use super::{Caption, PlotError, PredictedCurve, Quantity, palette, panels};
use crate::evenly_spaced::evenly_spaced;

const NAME: &str = "Fits";

/// The samples of the bands in the legend and the opacities of their colors, widest band first.
const SHADES: [(Sample, f64); 2] = [(Sample::Band, 0.3), (Sample::DarkBand, 0.45)];

/// Data points over one input.
#[derive(Debug, Clone, Copy, Default)]
pub struct Points<'a> {
    /// Inputs `[N]`.
    pub x: &'a [f64],
    /// Targets `[N]`.
    pub y: &'a [f64],
}

/// A band of some standard deviations around the mean.
#[derive(Clone, Copy, Debug)]
pub struct Bands<'a> {
    /// The text of the legend.
    pub text: &'a str,
    /// Half of the width, in standard deviations.
    pub deviations: f64,
}

/// A model of one input, evaluated on a grid of inputs in increasing order.
#[derive(Clone, Debug)]
pub struct FitPanel<'a> {
    /// The title above the panel; empty for a single fit.
    pub title: &'a str,
    /// The inputs with the predicted means, `[G]`.
    pub means: Vec<(f64, f64)>,
    /// The inputs with the lower and upper edge of each band, `[G]`, widest band first.
    pub bands: Vec<Vec<[f64; 3]>>,
    /// The inducing points, `[M]`.
    pub inducing: &'a [f64],
    /// The orthogonal inducing points, `[M2]`.
    pub orthogonal: &'a [f64],
}

impl<'a> FitPanel<'a> {
    /// A model without inducing points.
    pub fn new(title: &'a str, curve: &PredictedCurve, band: Bands<'_>) -> Self {
        Self {
            title,
            means: curve.points(),
            bands: vec![curve.edges(band.deviations)],
            inducing: &[],
            orthogonal: &[],
        }
    }

    /// The fit without the inputs where a value is not finite or the ends of a band are swapped.
    fn sound(&self) -> Self {
        let is_held = |&[_, low, high]: &[f64; 3]| usable(low) && usable(high) && low <= high;
        let is_sound = |&place: &usize| {
            let (x, mean) = self.means[place];
            usable(x) && usable(mean) && self.bands.iter().all(|band| is_held(&band[place]))
        };
        let kept: Vec<usize> = (0..self.means.len()).filter(is_sound).collect();
        let of_band = |band: &Vec<[f64; 3]>| kept.iter().map(|&place| band[place]).collect();
        Self {
            means: kept.iter().map(|&place| self.means[place]).collect(),
            bands: self.bands.iter().map(of_band).collect(),
            ..self.clone()
        }
    }
}

/// `count` evenly spaced inputs that extend 5 % past the finite values given.
///
/// # Errors
///
/// [`PlotError::NothingToShow`] if no value is finite or `count` is below 2.
pub fn evaluation_grid(
    inputs: impl IntoIterator<Item = f64>,
    count: usize,
) -> Result<Vec<f64>, PlotError> {
    let range = extent(inputs.into_iter().filter(|&value| usable(value)));
    let (Some((low, high)), true) = (range, count >= 2) else {
        return Err(PlotError::nothing(NAME, 0));
    };
    let margin = if high > low { 0.05 * (high - low) } else { 1.0 };
    Ok(evenly_spaced((low - margin, high + margin), count))
}

/// The finite points of one kind.
fn finite(points: Points<'_>) -> Result<Vec<(f64, f64)>, PlotError> {
    same_length(NAME, "the targets", points.x.len(), points.y.len())?;
    let pairs = points.x.iter().copied().zip(points.y.iter().copied());
    Ok(pairs.filter(|&(x, y)| usable(x) && usable(y)).collect())
}

/// The visible points and the axes that all panels share.
struct Scene {
    train: Vec<(f64, f64)>,
    test: Vec<(f64, f64)>,
    axes: Axes,
    /// The radius of points in pixels.
    radius: f64,
}

/// What is drawn, in words.
#[derive(Clone, Copy)]
pub(super) struct Words {
    /// The title of a single panel and of several.
    pub plot: [&'static str; 2],
    pub line: &'static str,
    pub points: &'static str,
}

const WORDS: Words = Words {
    plot: ["Fit", NAME],
    line: "mean",
    points: "training",
};
/// Draws one panel for each fit with the same axes: mean, bands, training and held-out points,
/// inducing points as crosses along the bottom, and orthogonal inducing points as triangles along
/// the top. `bands` are the texts of the legend, widest band first.
///
/// The vertical range follows the data and the means; bands may extend it by half at either end.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if slices of the same rows differ in length,
/// [`PlotError::NothingToShow`] if no value is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn fits(
    path: &Path,
    caption: Caption<'_>,
    bands: &[&str],
    points: (Points<'_>, Points<'_>),
    quantities: (Quantity<'_>, Quantity<'_>),
    fits: &[FitPanel<'_>],
) -> Result<(), PlotError> {
    draw_fits(path, WORDS, caption, bands, points, quantities, fits)
}

/// As [`fits`], in these words.
pub(super) fn draw_fits(
    path: &Path,
    words: Words,
    caption: Caption<'_>,
    bands: &[&str],
    (train, test): (Points<'_>, Points<'_>),
    (input, target): (Quantity<'_>, Quantity<'_>),
    fits: &[FitPanel<'_>],
) -> Result<(), PlotError> {
    let given = |fits: &[FitPanel<'_>]| fits.iter().map(|fit| fit.means.len()).sum::<usize>();
    let of_points = train.x.len() + test.x.len();
    let all = given(fits) + of_points;
    let fits: Vec<FitPanel<'_>> = fits.iter().map(FitPanel::sound).collect();
    let (train, test) = (finite(train)?, finite(test)?);
    let sound = given(&fits) + train.len() + test.len();
    let axes = axes(&fits, &[&train, &test], (input, target));
    let axes = axes.ok_or_else(|| PlotError::nothing(NAME, all))?;
    let plot = words.plot[usize::from(fits.len() > 1)];
    let remarks = remarks(&axes, [&train, &test], &fits, all - sound);
    let visible = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        let shown = thin(points, MOST_POINTS);
        shown
            .into_iter()
            .filter(|&point| axes.hold(point))
            .collect()
    };
    let scene = Scene {
        train: visible(&train),
        test: visible(&test),
        axes,
        radius: if fits.len() == 1 { 3.0 } else { 2.0 },
    };
    let legend = scene.legend_entries(words, bands, &fits);
    let frame = Frame {
        more_height: panels::more_height(fits.len()),
        ..Frame::new(plot, caption, legend).with_remarks(remarks)
    };
    sheet(path, &frame, |_, body| {
        for (area, fit) in panels::divide(body, fits.len()).zip(&fits) {
            draw(area, fit, &scene);
        }
    })
}

/// Sentences about what is not drawn.
fn remarks(
    axes: &Axes,
    points: [&Vec<(f64, f64)>; 2],
    fits: &[FitPanel<'_>],
    unusable: usize,
) -> Vec<Option<String>> {
    let is_outside = |point: &&(f64, f64)| !axes.hold(**point);
    let outside = points.into_iter().flatten().filter(is_outside).count();
    let inducing = fits
        .iter()
        .flat_map(|fit| fit.inducing.iter().chain(fit.orthogonal));
    let hidden = inducing.filter(|&&place| !axes.x.holds(place)).count();
    let thinned = points.map(|points| selected(MOST_POINTS, points.len(), "points"));
    let left_out = [
        (outside, "point", "outside the range shown"),
        (hidden, "inducing point", "outside the range shown"),
        (unusable, "value", "not finite, left out"),
    ];
    let left_out = left_out.map(|(count, thing, text)| remark_on(count, thing, text));
    thinned.into_iter().chain(left_out).collect()
}

impl Scene {
    /// The legend entries for everything that at least one panel shows.
    fn legend_entries<'a>(
        &self,
        words: Words,
        bands: &[&'a str],
        fits: &[FitPanel<'_>],
    ) -> Vec<Entry<'a>> {
        let shaded = bands.iter().zip(SHADES).rev();
        let shaded = shaded.map(|(text, (sample, _))| Entry::new(sample, palette::SKY, text));
        let holds = |points: &[f64]| points.iter().any(|&place| self.axes.x.holds(place));
        let is_trained = !self.train.is_empty();
        let is_tested = !self.test.is_empty();
        let has_inducing = fits.iter().any(|fit| holds(fit.inducing));
        let has_orthogonal = fits.iter().any(|fit| holds(fit.orthogonal));
        let (ink, red, green) = (palette::INK, palette::VERMILION, palette::GREEN);
        let sometimes = [
            (is_trained, Sample::Dot, ink, words.points),
            (is_tested, Sample::Ring, red, "held out"),
            (has_inducing, Sample::Cross, green, "inducing"),
            (has_orthogonal, Sample::Triangle, green, "orthogonal"),
        ];
        let present = sometimes.into_iter().filter(|(is_present, ..)| *is_present);
        std::iter::once(Entry::new(Sample::Line, palette::BLUE, words.line))
            .chain(shaded)
            .chain(present.map(|(_, sample, color, text)| Entry::new(sample, color, text)))
            .collect()
    }
}

/// Axes that contain the data and the means; a band may extend them by half at either end. `None` if
/// there is no mean.
fn axes(
    fits: &[FitPanel<'_>],
    points: &[&Vec<(f64, f64)>],
    (input, target): (Quantity<'_>, Quantity<'_>),
) -> Option<Axes> {
    let means = || fits.iter().flat_map(|fit| &fit.means);
    let heights: Vec<f64> = (means().chain(points.iter().copied().flatten()))
        .map(|point| point.1)
        .collect();
    let edges = fits.iter().flat_map(|fit| fit.bands.iter().flatten());
    let edges = edges.flat_map(|&[_, low, high]| [low, high]);
    let (left, right) = extent(means().map(|point| point.0))?;
    let inner = robust_extent(&heights, 5.0)?;
    let outer = extent(edges.chain(means().map(|point| point.1)))?;
    let most = padded(inner, 0.5);
    let range = (
        inner.0.min(outer.0.max(most.0)),
        inner.1.max(outer.1.min(most.1)),
    );
    let (low, high) = padded(range, 0.1);
    let (across, up) = if fits.len() == 1 { (8, 7) } else { (5, 5) };
    Some(Axes::new(
        Axis::new(left, right, input, across),
        Axis::new(low, high, target, up),
    ))
}

fn draw(area: Area<'_>, fit: &FitPanel<'_>, scene: &Scene) {
    let chart = panels::chart(area, fit.title, scene.axes.clone(), Backdrop::Grid);
    for (edges, (_, shade)) in fit.bands.iter().zip(SHADES) {
        chart.band(edges, palette::SKY.filled().faded(shade));
    }
    let faint = if scene.train.len() > 300 { 0.35 } else { 0.6 };
    let dot = palette::INK.filled().faded(faint);
    chart.dots(scene.train.iter().copied(), scene.radius, dot);
    let ring = palette::VERMILION.line(scene.radius / 2.0);
    chart.dots(scene.test.iter().copied(), scene.radius, ring);
    chart.curve(&fit.means, palette::BLUE.line(2.0));
    let (low, high) = scene.axes.y.limits();
    let offset = 0.04 * (high - low);
    let at = |places: &[f64], height: f64| -> Vec<(f64, f64)> {
        let held = places.iter().filter(|&&place| scene.axes.x.holds(place));
        held.map(|&place| (place, height)).collect()
    };
    let (crosses, triangles) = (
        at(fit.inducing, low + offset),
        at(fit.orthogonal, high - offset),
    );
    chart.marks(Mark::Cross, crosses, 4.0, palette::GREEN.line(2.0));
    chart.marks(Mark::Triangle, triangles, 4.0, palette::GREEN.filled());
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot, wave, wide_name};
    use super::*;

    const INPUT: Quantity<'static> = Quantity {
        name: "x",
        unit: Some("s"),
    };
    const TARGET: Quantity<'static> = Quantity::of("y");

    const BANDS: Bands<'static> = Bands {
        text: "±2 deviations",
        deviations: 2.0,
    };

    fn curve(mean: &[f64]) -> PredictedCurve {
        let variance = vec![0.0625; 3];
        PredictedCurve::new(vec![0.0, 1.0, 2.0], mean.to_vec(), variance)
    }

    fn panel<'a>(curve: &PredictedCurve, orthogonal: &'a [f64]) -> FitPanel<'a> {
        FitPanel {
            inducing: &[0.5, 1.5],
            orthogonal,
            ..FitPanel::new("SVGP 5", curve, BANDS)
        }
    }

    fn drawn(
        path: &Path,
        points: [Points<'_>; 2],
        panels: &[FitPanel<'_>],
    ) -> Result<(), PlotError> {
        let ([train, test], texts) = (points, [BANDS.text, "narrower"]);
        let texts = &texts[..panels[0].bands.len()];
        fits(path, CAPTION, texts, (train, test), (INPUT, TARGET), panels)
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
        let plot = Plot::of(|path| drawn(path, [train, test], &all));
        // Two in the legend and three points in each panel.
        assert_eq!(plot.count("circle"), 2 + 2 * 3);
        // One band in each panel, and two triangles: one in the legend, one inside the range.
        assert_eq!(plot.count("polygon"), 2 + 2);
        assert_eq!(plot.count_text("±2 deviations"), 1);
        assert_eq!(plot.count_text("SVGP 5"), 2);
        assert_eq!(plot.count_text("orthogonal"), 1);
        let plain = [panel(&mean, &[])];
        let plot = Plot::of(|path| drawn(path, [train, Points::default()], &plain));
        assert_eq!(plot.count_text("inducing"), 1);
        assert_eq!(plot.count_text("orthogonal"), 0);
        assert_eq!(plot.count_text("held out"), 0);
    }

    #[test]
    fn every_point_and_every_inducing_input_is_drawn() {
        let x = evaluation_grid([0.0, 10.0], 200).expect("grid");
        let mean = |&x: &f64| (x, x.sin());
        let band = |half: f64| move |&x: &f64| [x, x.sin() - half, x.sin() + half];
        let inputs: Vec<f64> = (0..40).map(|row| f64::from(row) / 4.0).collect();
        let fit = FitPanel {
            title: "y",
            means: x.iter().map(mean).collect(),
            bands: [0.4, 0.2]
                .map(|half| x.iter().map(band(half)).collect())
                .into(),
            inducing: &[1.0, 4.0, f64::NAN, 99.0],
            orthogonal: &[],
        };
        let train = Points {
            x: &inputs[..30],
            y: &wave(30, 0.0),
        };
        let test = Points {
            x: &inputs[30..],
            y: &wave(10, 0.0),
        };
        let plot = Plot::of(|path| drawn(path, [train, test], &[fit]));
        assert_eq!(plot.count("circle"), 40 + 2);
        assert_eq!(plot.count("polygon"), 2);
        assert!(plot.has_text("narrower"));
        assert!(plot.has_text("2 inducing points outside the range shown"));
        assert!(plot.has_text("x (s)"));
    }

    #[test]
    fn holes_in_the_prediction_are_counted() {
        let fit = FitPanel {
            title: "y",
            means: vec![(0.0, 0.0), (1.0, f64::NAN), (2.0, 1.0), (3.0, 2.0)],
            bands: vec![vec![
                [0.0, -1.0, 1.0],
                [1.0, -1.0, 1.0],
                [2.0, -1e30, 1e30],
                [3.0, 1.0, 3.0],
            ]],
            inducing: &[],
            orthogonal: &[],
        };
        let plot = Plot::of(|path| drawn(path, [Points::default(); 2], &[fit]));
        assert!(plot.has_text("1 value not finite, left out"));
        assert_eq!(plot.count_text("training"), 0);
    }

    #[test]
    fn nothing_finite_and_uneven_slices_are_errors() {
        let none = Points::default();
        let nothing = [panel(&curve(&[f64::NAN; 3]), &[])];
        let error = Plot::refused(|path| drawn(path, [none; 2], &nothing));
        assert!(matches!(error, PlotError::NothingToShow { given: 3, .. }));
        let uneven = Points { x: &[1.0], y: &[] };
        let fit = [panel(&curve(&[0.0; 3]), &[])];
        let error = Plot::refused(|path| drawn(path, [uneven, none], &fit));
        assert!(matches!(error, PlotError::LengthMismatch { .. }));
        assert!(evaluation_grid([f64::NAN], 10).is_err());
    }

    #[test]
    fn the_legend_names_what_is_inside_the_range() {
        let mean = curve(&[0.0, 1.0, 0.0]);
        let fit = FitPanel {
            inducing: &[99.0],
            orthogonal: &[-99.0],
            ..panel(&mean, &[])
        };
        let test = Points {
            x: &[50.0],
            y: &[0.0],
        };
        let plot = Plot::of(|path| drawn(path, [Points::default(), test], &[fit]));
        for hidden in ["held out", "inducing", "orthogonal"] {
            assert!(!plot.texts().contains(&hidden.to_owned()), "{hidden}");
        }
        assert!(plot.has_text("mean"));
    }

    #[test]
    fn long_names_have_room() {
        let (name, mean) = (wide_name("a"), curve(&[2000.0, 2000.1, 2000.2]));
        for count in [1, 3, 8] {
            let fit = FitPanel {
                title: &name,
                ..panel(&mean, &[1.0])
            };
            let quantity = Quantity {
                name: &name,
                unit: Some(&name),
            };
            let panels = vec![fit; count];
            let draw = |path: &Path| {
                fits(
                    path,
                    CAPTION,
                    &[&name],
                    (Points::default(), Points::default()),
                    (quantity, quantity),
                    &panels,
                )
            };
            Plot::of(draw);
        }
    }
}
