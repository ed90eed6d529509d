//! Panels of curves over a shared quantity.

use std::path::Path;

use super::axis::{Axes, Axis, extent, padded, robust_extent};
use super::canvas::{Frame, sheet};
use super::chart::Backdrop;
use super::drawing::Area;
use super::legend::{Entry, Sample};
use super::rows::{MOST_POINTS, thin, usable};
use super::{Caption, PlotError, Quantity, palette, panels};

/// The length of a dash and of a gap, in pixels.
const DASH: f64 = 7.0;

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// A solid line.
    Line,
    /// Dashes, to let a curve underneath show through.
    Dashes,
    /// Faint dots without a line, for noise around another curve.
    Dots,
}

/// The name and line style of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CurveName {
    /// The text of the legend.
    pub text: String,
    /// The line style.
    pub stroke: Stroke,
}

impl CurveName {
    /// A curve with this name and style.
    pub fn new(text: impl Into<String>, stroke: Stroke) -> Self {
        let text = text.into();
        Self { text, stroke }
    }

    /// A dashed line with this name.
    pub fn dashed(text: impl Into<String>) -> Self {
        Self::new(text, Stroke::Dashes)
    }

    /// A line with this name, dashed if `is_dashed`.
    pub fn dashed_if(is_dashed: bool, text: impl Into<String>) -> Self {
        let stroke = if is_dashed {
            Stroke::Dashes
        } else {
            Stroke::Line
        };
        Self::new(text, stroke)
    }
}

impl<T: Into<String>> From<T> for CurveName {
    /// A solid line with this name.
    fn from(text: T) -> Self {
        Self::new(text, Stroke::Line)
    }
}

/// The range of a vertical axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Span {
    /// From the smallest to the largest value.
    Values,
    /// From zero to the largest value.
    FromZero,
    /// From the first number to the second, whatever the values.
    Window(f64, f64),
}

/// A panel of curves.
#[derive(Clone, Debug)]
pub struct CurvePanel<'a> {
    /// The title above the panel.
    pub title: &'a str,
    /// The quantity on the vertical axis.
    pub value: Quantity<'a>,
    /// The points of each curve, from left to right.
    pub curves: Vec<Vec<(f64, f64)>>,
    /// The range of the vertical axis.
    pub span: Span,
    /// The quantity on the horizontal axis, if it is not that of all panels.
    pub along: Option<Quantity<'a>>,
}

impl<'a> CurvePanel<'a> {
    /// Curves of the quantity in the title.
    pub fn new(title: &'a str, span: Span, curves: Vec<Vec<(f64, f64)>>) -> Self {
        Self {
            title,
            value: Quantity::of(title),
            curves,
            span,
            along: None,
        }
    }
}

/// Draws one panel for each of `panels`, with curves called `names` over `along`.
///
/// Outliers do not stretch the axis of a panel; curves are cut there.
///
/// # Errors
///
/// [`PlotError::NothingToShow`] if a panel has no finite value, [`PlotError::Write`] if the file
/// cannot be written.
pub fn curves(
    path: &Path,
    plot: &'static str,
    caption: Caption<'_>,
    names: &[CurveName],
    along: Quantity<'_>,
    panels: &[CurvePanel<'_>],
) -> Result<(), PlotError> {
    let frame = Frame::new(plot, caption, Vec::new());
    curves_in(path, frame, names, along, panels)
}

/// Draws the panels inside `frame`, with a legend of the curves.
pub(super) fn curves_in<'a>(
    path: &Path,
    frame: Frame<'a>,
    names: &'a [CurveName],
    along: Quantity<'_>,
    panels: &[CurvePanel<'_>],
) -> Result<(), PlotError> {
    let axes = (panels.iter())
        .map(|panel| axes(frame.plot, panel, panel.along.unwrap_or(along)))
        .collect::<Result<Vec<Axes>, PlotError>>()?;
    let frame = Frame {
        legend: legend_entries(names, panels),
        more_height: panels::more_height(panels.len()),
        ..frame
    };
    sheet(path, &frame, |_, body| {
        let areas = panels::divide(body, panels.len());
        for ((area, panel), axes) in areas.zip(panels).zip(axes) {
            draw(area, panel, names, axes);
        }
    })
}

/// The entries of the curves that at least one panel shows. A curve of one point is a dot.
fn legend_entries<'a>(names: &'a [CurveName], panels: &[CurvePanel<'_>]) -> Vec<Entry<'a>> {
    let most_points = |curve: usize| {
        let curves = panels.iter().filter_map(|panel| panel.curves.get(curve));
        curves
            .map(|points| sound(points).count())
            .max()
            .unwrap_or(0)
    };
    let entry = |(curve, name): (usize, &'a CurveName)| {
        let sample = match (name.stroke, most_points(curve)) {
            (_, 0) => return None,
            (Stroke::Dots, _) | (_, 1) => Sample::Dot,
            (Stroke::Line, _) => Sample::Line,
            (Stroke::Dashes, _) => Sample::Dashes,
        };
        Some(Entry::new(sample, palette::class(curve), &name.text))
    };
    names.iter().enumerate().filter_map(entry).collect()
}

/// The points that can be placed on axes.
fn sound(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> + Clone {
    let is_sound = |point: &(f64, f64)| usable(point.0) && usable(point.1);
    points.iter().copied().filter(is_sound)
}

/// The horizontal positions of all points if there are few, such as the sizes that were run. `None`
/// for measured values, which have many digits.
fn sizes(points: impl Iterator<Item = (f64, f64)>) -> Option<Vec<f64>> {
    const MOST: usize = 12;
    const MOST_DIGITS: usize = 7;
    let mut sizes: Vec<f64> = Vec::new();
    for (size, _) in points {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
        if sizes.len() > MOST || size.to_string().len() > MOST_DIGITS {
            return None;
        }
    }
    sizes.sort_by(f64::total_cmp);
    Some(sizes)
}

fn axes(
    plot: &'static str,
    panel: &CurvePanel<'_>,
    along: Quantity<'_>,
) -> Result<Axes, PlotError> {
    let points = || panel.curves.iter().flatten();
    let sound = || panel.curves.iter().flat_map(|points| sound(points));
    let values: Vec<f64> = sound().map(|point| point.1).collect();
    let (Some((left, right)), Some((low, high))) = (
        extent(sound().map(|point| point.0)),
        robust_extent(&values, 1.0),
    ) else {
        return Err(PlotError::nothing(plot, points().count()));
    };
    let (low, high) = match panel.span {
        Span::Values => padded((low, high), 0.05),
        Span::FromZero => (low.min(0.0), high),
        Span::Window(low, high) => (low, high),
    };
    let is_whole = sound().all(|point| point.0.fract() == 0.0);
    let horizontal = match sizes(sound()) {
        Some(sizes) => Axis::at(&sizes, along),
        None if is_whole => Axis::whole(left, right, along, 5),
        None => Axis::new(left, right, along, 5),
    };
    Ok(Axes::new(horizontal, Axis::new(low, high, panel.value, 6)))
}

fn draw(area: Area<'_>, panel: &CurvePanel<'_>, names: &[CurveName], axes: Axes) {
    let vertical = axes.y.clone();
    let chart = panels::chart(area, panel.title, axes, Backdrop::Grid);
    for (curve, points) in panel.curves.iter().enumerate() {
        let sound: Vec<(f64, f64)> = sound(points).collect();
        let shown = thin(&sound, MOST_POINTS);
        let color = palette::class(curve);
        let held = shown.iter().copied();
        let held = held.filter(|point| vertical.holds(point.1));
        match names.get(curve).map_or(Stroke::Line, |name| name.stroke) {
            Stroke::Dots => {
                chart.dots(held, 2.0, color.filled().faded(0.45));
                continue;
            }
            Stroke::Dashes => chart.curve(&shown, color.line(2.0).dashed(DASH)),
            Stroke::Line => chart.curve(&shown, color.line(2.0)),
        }
        if shown.len() <= 20 {
            chart.dots(held, 3.0, color.filled());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot, wide_name};
    use super::*;

    const STEP: Quantity<'static> = Quantity::of("step");

    fn panel(curves: Vec<Vec<(f64, f64)>>) -> CurvePanel<'static> {
        CurvePanel {
            title: "test error",
            value: Quantity::of("RMSE"),
            curves,
            span: Span::Values,
            along: None,
        }
    }

    #[test]
    fn every_curve_of_every_panel_is_drawn() {
        let names = ["svgp".into(), "solve".into()];
        let rising = vec![(1.0, 1.0), (2.0, 2.0), (3.0, 4.0)];
        let falling = vec![(1.0, 4.0), (2.0, f64::NAN), (3.0, 1.0)];
        let panels = [
            panel(vec![rising.clone(), falling]),
            panel(vec![rising, vec![]]),
        ];
        let draw = |path: &Path| curves(path, "Curves", CAPTION, &names, STEP, &panels);
        let plot = Plot::of(draw);
        // One for each finite point.
        assert_eq!(plot.count("circle"), 3 + 2 + 3);
        assert!(plot.has_text("svgp") && plot.has_text("solve"));
        assert_eq!(plot.count_text("test error"), 2);
    }

    #[test]
    fn a_dashed_curve_has_gaps() {
        let line = vec![(0.0, 0.0), (1.0, 1.0)];
        let dashes = |dashed| {
            let names = [CurveName::dashed_if(dashed, "svgp")];
            let panels = [panel(vec![line.clone()])];
            let draw = |path: &Path| curves(path, "Curves", CAPTION, &names, STEP, &panels);
            Plot::of(draw).count_dashed()
        };
        // The curve and its sample in the legend.
        assert_eq!((dashes(true), dashes(false)), (2, 0));
    }

    #[test]
    fn a_window_cuts_what_is_beyond_it() {
        let beyond = CurvePanel {
            span: Span::Window(0.0, 10.0),
            ..panel(vec![vec![(0.0, 500.0), (1.0, 5.0)]])
        };
        let names = ["svgp".into()];
        let plot = Plot::of(|path: &Path| curves(path, "Curves", CAPTION, &names, STEP, &[beyond]));
        assert!(plot.has_text("10") && !plot.has_text("500"));
        assert_eq!(plot.count("circle"), 1);
    }

    #[test]
    fn a_long_legend_has_rows() {
        let heights = |count: usize| {
            let names: Vec<CurveName> = (0..count)
                .map(|name| format!("a model of number {name}").into())
                .collect();
            let panels = [panel(vec![vec![(0.0, 1.0), (1.0, 2.0)]; count])];
            let draw = |path: &Path| curves(path, "Curves", CAPTION, &names, STEP, &panels);
            Plot::of(draw).heights_of("a model of number")
        };
        assert_eq!([2, 7].map(|count| heights(count).len()), [1, 2]);
    }

    #[test]
    fn the_samples_of_a_long_legend_are_beside_their_texts() {
        let names: Vec<CurveName> = (0..40)
            .map(|name| format!("a model, {name}").into())
            .collect();
        let panels = [panel(vec![vec![(0.0, 1.0), (1.0, 2.0)]; 40])];
        let draw = |path: &Path| curves(path, "Curves", CAPTION, &names, STEP, &panels);
        let plot = Plot::of(draw);
        let texts = plot.heights_of("a model, ");
        assert!(
            texts.len() > 6 && texts.is_subset(&plot.levels()),
            "{texts:?}"
        );
    }

    #[test]
    fn a_panel_without_values_is_an_error() {
        let panels = [panel(vec![vec![(1.0, f64::NAN)]])];
        let draw = |path: &Path| curves(path, "Curves", CAPTION, &[], STEP, &panels);
        let error = Plot::refused(draw);
        assert!(matches!(error, PlotError::NothingToShow { given: 1, .. }));
    }

    /// The tick labels of a curve over these sizes.
    fn ticks_over(sizes: &[f64]) -> Vec<String> {
        let curve: Vec<(f64, f64)> = sizes.iter().map(|&size| (size, -size.sqrt())).collect();
        let names = ["svgp".into()];
        let panels = [panel(vec![curve])];
        let draw = |path: &Path| curves(path, "Curves", CAPTION, &names, STEP, &panels);
        let texts = Plot::of(draw).texts();
        // The labels of the vertical axis are negative.
        let is_size = |text: &String| text.parse::<f64>().is_ok_and(|size| size > 0.0);
        texts.into_iter().filter(is_size).collect()
    }

    #[test]
    fn ticks_are_at_the_sizes_that_were_run() {
        assert_eq!(ticks_over(&[8.0, 16.0, 32.0]), ["8", "16", "32"]);
        let powers = [8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];
        let labels = powers.map(|size| size.to_string());
        assert_eq!(ticks_over(&powers), labels);
        assert_eq!(ticks_over(&[0.1, 0.25, 0.5]), ["0.1", "0.25", "0.5"]);
        let steps: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert_eq!(ticks_over(&steps), ["200", "400", "600", "800", "1000"]);
    }

    #[test]
    fn a_curve_without_points_is_not_in_the_legend() {
        let names = ["svgp".into(), "absent".into()];
        let panels = [panel(vec![
            vec![(1.0, 1.0), (2.0, 3.0)],
            vec![(1.0, f64::NAN)],
        ])];
        let draw = |path: &Path| curves(path, "Curves", CAPTION, &names, STEP, &panels);
        let plot = Plot::of(draw);
        assert!(plot.has_text("svgp") && !plot.has_text("absent"));
    }

    #[test]
    fn many_panels_and_long_names_have_room() {
        let title = wide_name("title");
        let names: Vec<CurveName> = (0..30)
            .map(|curve| wide_name(&curve.to_string()).into())
            .collect();
        let lines: Vec<Vec<(f64, f64)>> = (0..30)
            .map(|_| vec![(0.0, 1000.001), (1e6, 1000.009)])
            .collect();
        for count in [1, 3, 4, 7, 12] {
            let panel = CurvePanel {
                title: &title,
                value: Quantity::of(&title),
                ..panel(lines.clone())
            };
            let panels = vec![panel; count];
            let along = Quantity {
                name: &title,
                unit: Some("s"),
            };
            Plot::of(|path: &Path| curves(path, "Curves", CAPTION, &names, along, &panels));
        }
    }
}
