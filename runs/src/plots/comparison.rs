//! The scores of several models side by side.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Axis, extent, padded};
use super::canvas::{
    Area, Frame, HEIGHT, LABEL_SIZE, MARGIN, WIDE_HEADER, ink, pixels, plain_text, sheet,
};
use super::chart::Chart;
use super::legend::{Entry, Sample};
use super::{Caption, PlotError, Quantity, palette};

const PICTURE: &str = "Comparison";

const TOP: i32 = 6;
const BOTTOM: i32 = 46;
/// The longest name that leaves enough room for the scores, in characters.
const LONGEST_NAME: usize = 36;
/// The width of letters relative to the font size, for a wide sans-serif font.
const LETTER_WIDTH: f64 = 0.62;

/// One score for all models.
#[derive(Clone, Debug)]
pub struct ComparedScore {
    /// The name of the score.
    pub name: &'static str,
    /// The unit, if any.
    pub unit: Option<&'static str>,
    /// The values of the runs of each model.
    pub values: Vec<Vec<f64>>,
}

/// Draws one panel for each score. Each model has a ring for each run, the mean, and a bar of one
/// standard error to each side.
///
/// # Errors
///
/// [`PlotError::NothingToShow`] if no value is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn comparison(
    path: &Path,
    data: &str,
    models: &[String],
    scores: &[ComparedScore],
) -> Result<(), PlotError> {
    let given = scores
        .iter()
        .flat_map(|score| score.values.iter().flatten());
    if !given.clone().any(|value| value.is_finite()) {
        return Err(PlotError::nothing(PICTURE, given.count()));
    }
    let caption = Caption::new(data, "lower is better in every panel");
    let frame = Frame::new(PICTURE, caption, legend_entries());
    sheet(path, &frame, |_, body| {
        let texts: Vec<String> = (models.iter())
            .map(|name| plain_text(name, LONGEST_NAME))
            .collect();
        let width = width_of(&texts);
        let (names, panels) = body.split_horizontally(width);
        write_names(&names, width, &texts)?;
        let areas = panels.split_evenly(1, scores.len());
        for (area, score) in areas.iter().zip(scores) {
            panel(area, score)?;
        }
        Ok(())
    })
}

fn legend_entries() -> Vec<Entry<'static>> {
    vec![
        Entry::new(Sample::Dot, palette::BLUE, "mean of the runs"),
        Entry::new(Sample::Ring, palette::GRAY, "a run"),
        Entry::new(
            Sample::Line,
            palette::BLUE,
            "one standard error to each side",
        ),
    ]
}

/// The width of the names in pixels, with a margin on each side.
fn width_of(names: &[String]) -> i32 {
    let letters = names.iter().map(|name| name.chars().count()).max();
    let text = letters.unwrap_or(0) as f64 * LABEL_SIZE * LETTER_WIDTH;
    text.ceil() as i32 + 2 * MARGIN
}

/// Writes the names of the models, each at the height of its row.
fn write_names(area: &Area<'_>, width: i32, names: &[String]) -> Result<(), PlotError> {
    let style = ink().pos(Pos::new(HPos::Right, VPos::Center));
    let height = f64::from(HEIGHT as i32 - WIDE_HEADER - 2 * TOP - BOTTOM);
    for (row, name) in names.iter().enumerate() {
        let share = (row as f64 + 0.5) / names.len() as f64;
        let y = TOP + (height * share).round() as i32;
        area.write(name, &style, (width - MARGIN, y))?;
    }
    Ok(())
}

fn panel(area: &Area<'_>, score: &ComparedScore) -> Result<(), PlotError> {
    let rows = score.values.len();
    let mut builder = ChartBuilder::on(&area.inner);
    builder
        .margin_top(pixels(TOP))
        .margin_left(pixels(MARGIN))
        .margin_right(pixels(2 * MARGIN))
        .margin_bottom(pixels(TOP))
        .set_label_area_size(LabelAreaPosition::Bottom, pixels(BOTTOM));
    let mut chart = Chart::of_rows(&mut builder, PICTURE, axis(score), rows)?;
    for (row, values) in score.values.iter().enumerate() {
        let y = (rows - row) as f64 - 0.5;
        let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        let Some((mean, error)) = mean_and_error(&finite) else {
            continue;
        };
        if finite.len() > 1 {
            let rings = finite.iter().map(|&value| (value, y));
            chart.dots(rings, 4, palette::GRAY.stroke_width(pixels(1) as u32))?;
        }
        chart.lines([[(mean - error, y), (mean + error, y)]], palette::BLUE, 2)?;
        chart.dots([(mean, y)], 5, palette::BLUE.filled())?;
    }
    Ok(())
}

/// The mean and its standard error; the error of a single value is zero.
fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (count - 1.0).max(1.0) / count).sqrt();
    (!values.is_empty()).then_some((mean, error))
}

/// An axis that contains all runs and bars.
fn axis(score: &ComparedScore) -> Axis {
    let ends = score.values.iter().flat_map(|values| {
        let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        let bar = mean_and_error(&finite).map(|(mean, error)| [mean - error, mean + error]);
        finite.into_iter().chain(bar.into_iter().flatten())
    });
    let (low, high) = extent(ends).map_or((0.0, 1.0), |range| padded(range, 0.1));
    let quantity = Quantity {
        name: score.name,
        unit: score.unit,
    };
    Axis::new(low, high, quantity, 3)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::Plot;
    use super::*;

    fn score(values: Vec<Vec<f64>>) -> ComparedScore {
        ComparedScore {
            name: "NLPD",
            unit: None,
            values,
        }
    }

    #[test]
    fn every_run_and_every_mean_is_drawn() {
        let names = ["svgp".to_owned(), "exact".to_owned()];
        let scores = [
            score(vec![vec![1.0, 2.0, 3.0], vec![0.5]]),
            score(vec![vec![f64::NAN, 2.0], vec![]]),
        ];
        let plot = Plot::of(|path| comparison(path, "wine", &names, &scores));
        // Two in the legend, three runs and two means; a single run has only its mean.
        assert_eq!(plot.count("circle"), 2 + 3 + 2 + 1);
        assert!(plot.has_text("svgp") && plot.has_text("exact"));
    }

    /// Names end where the panels begin, and start far enough from the edge to be visible in full.
    /// Letters are 7 pixels wide on average in the widest of the usual fonts.
    #[test]
    fn names_have_room() {
        for (name, shown) in [
            ("svgp", "svgp"),
            ("CaGP-Opt, L-BFGS, near rows", "CaGP-Opt, L-BFGS, near rows"),
            (&"w".repeat(50), &format!("{}…", "w".repeat(36))),
        ] {
            let names = [name.to_owned(), "a".to_owned()];
            let scores = [score(vec![vec![1.0, 2.0], vec![0.5]])];
            let plot = Plot::of(|path| comparison(path, "wine", &names, &scores));
            let end = plot.place_of(shown) / f64::from(pixels(1));
            let needed = 7.0 * shown.chars().count() as f64;
            assert!((needed..400.0).contains(&end), "{name}: {end}");
        }
    }

    #[test]
    fn no_scores_are_an_error() {
        let scores = [score(vec![vec![f64::NAN], vec![]])];
        let names = ["a".to_owned(), "b".to_owned()];
        let error = Plot::refused(|path| comparison(path, "wine", &names, &scores));
        assert!(matches!(error, PlotError::NothingToShow { given: 1, .. }));
    }
}
