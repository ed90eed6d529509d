//! The scores of several models side by side.

use std::path::Path;

use super::axis::{Axes, Axis, extent, padded};
use super::canvas::{Frame, HEIGHT, INK, LABEL_SIZE, MARGIN, WIDE_HEADER, sheet};
use super::chart::{Backdrop, Chart, Surroundings};
use super::drawing::Area;
use super::legend::{Entry, Sample};
use super::text_extent::{fitted, widest};
use super::{Caption, PlotError, Quantity, palette};

const NAME: &str = "Comparison";

const TOP: f64 = 6.0;
const BOTTOM: f64 = 46.0;
/// The widest name that leaves enough room for the scores, in pixels.
const WIDEST_NAME: f64 = 270.0;
/// The smallest height of a row, in pixels.
const ROW: f64 = 18.0;

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

/// Draws one panel for each score that a model has. A dot marks the mean of a model's runs. If there
/// are several, a ring marks each run and a bar extends one standard error to each side.
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
    let has_values = |score: &&ComparedScore| !score.finite().concat().is_empty();
    let shown: Vec<&ComparedScore> = scores.iter().filter(has_values).collect();
    if shown.is_empty() {
        let given = scores
            .iter()
            .flat_map(|score| score.values.iter().flatten());
        return Err(PlotError::nothing(NAME, given.count()));
    }
    let names: Vec<String> = (models.iter())
        .map(|name| fitted(name, LABEL_SIZE, WIDEST_NAME))
        .collect();
    let caption = Caption::new(data, "lower is better in every panel");
    let room = HEIGHT - WIDE_HEADER - 2.0 * TOP - BOTTOM;
    let frame = Frame {
        more_height: (ROW * names.len() as f64 - room).max(0.0),
        ..Frame::new(NAME, caption, legend_entries(&shown))
    };
    sheet(path, &frame, |_, body| {
        let width = widest(&names, LABEL_SIZE).ceil() + 2.0 * MARGIN;
        let (left, panels) = body.split_horizontally(width);
        write_names(left, &names);
        for (area, score) in panels.split_evenly(1, shown.len()).zip(&shown) {
            panel(area, score);
        }
    })
}

impl ComparedScore {
    /// The finite values of the runs of each model.
    fn finite(&self) -> Vec<Vec<f64>> {
        let finite = |values: &Vec<f64>| {
            let values = values.iter().copied();
            values.filter(|value| value.is_finite()).collect()
        };
        self.values.iter().map(finite).collect()
    }
}

fn legend_entries(scores: &[&ComparedScore]) -> Vec<Entry<'static>> {
    let mut runs = scores.iter().flat_map(|score| score.finite());
    if !runs.any(|values| values.len() > 1) {
        return vec![Entry::new(Sample::Dot, palette::BLUE, "one run")];
    }
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

/// Writes the names of the models, each at the height of its row.
fn write_names(area: Area<'_>, names: &[String]) {
    let height = area.height - 2.0 * TOP - BOTTOM;
    for (row, name) in names.iter().enumerate() {
        let share = (row as f64 + 0.5) / names.len() as f64;
        let place = (area.width - MARGIN, TOP + height * share);
        area.write(name, INK.before(), place);
    }
}

fn panel(area: Area<'_>, score: &ComparedScore) {
    let rows = score.values.len() as f64;
    // Half of a tick label extends past either end.
    let around = Surroundings {
        margins: [TOP, 1.5 * MARGIN, TOP, 1.5 * MARGIN],
        left_labels: 0.0,
        bottom_labels: BOTTOM,
    };
    let axes = Axes::new(axis(score), Axis::hidden(rows));
    let chart = Chart::new(area, around, axes, 12.0, Backdrop::Rows);
    for (row, finite) in score.finite().into_iter().enumerate() {
        let y = rows - row as f64 - 0.5;
        let Some((mean, error)) = mean_and_error(&finite) else {
            continue;
        };
        if finite.len() > 1 {
            let rings = finite.iter().map(|&value| (value, y));
            chart.dots(rings, 4.0, palette::GRAY.line(1.0));
        }
        let bar = [(mean - error, y), (mean + error, y)];
        chart.lines([bar], palette::BLUE.line(2.0));
        chart.dots([(mean, y)], 5.0, palette::BLUE.filled());
    }
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
    let ends = score.finite().into_iter().flat_map(|finite| {
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
    use super::super::tests::{Plot, wide_name};
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

    /// Names end where the panels begin, so that short names leave their room to the panels.
    #[test]
    fn names_have_room() {
        let end = |name: &str| {
            let names = [name.to_owned(), "a".to_owned()];
            let scores = [score(vec![vec![1.0, 2.0], vec![0.5]])];
            let plot = Plot::of(|path| comparison(path, "wine", &names, &scores));
            plot.place_of(&name[..4])
        };
        assert!(end("svgp") < 60.0);
        let long = end("CaGP-Opt, L-BFGS, near rows");
        assert!((180.0..300.0).contains(&long), "{long}");
        assert!((270.0..300.0).contains(&end(&"w".repeat(50))));
    }

    #[test]
    fn no_scores_are_an_error() {
        let scores = [score(vec![vec![f64::NAN], vec![]])];
        let names = ["a".to_owned(), "b".to_owned()];
        let error = Plot::refused(|path| comparison(path, "wine", &names, &scores));
        assert!(matches!(error, PlotError::NothingToShow { given: 1, .. }));
    }

    #[test]
    fn scores_without_values_have_no_panel() {
        let names = ["svgp".to_owned(), "exact".to_owned()];
        let scores = [
            ComparedScore {
                name: "error (%)",
                ..score(vec![vec![], vec![f64::NAN]])
            },
            score(vec![vec![0.1, 0.2], vec![0.5]]),
        ];
        let plot = Plot::of(|path| comparison(path, "wine", &names, &scores));
        assert!(plot.has_text("NLPD") && !plot.has_text("error (%)"));
    }

    #[test]
    fn the_legend_of_single_runs_has_no_rings_and_errors() {
        let names = ["svgp".to_owned(), "exact".to_owned()];
        let scores = [score(vec![vec![1.0], vec![0.5]])];
        let plot = Plot::of(|path| comparison(path, "wine", &names, &scores));
        assert!(!plot.has_text("a run") && !plot.has_text("standard error"));
        assert_eq!(plot.count("circle"), 1 + 2);
    }

    #[test]
    fn many_long_names_stay_apart_and_different() {
        let names: Vec<String> = (0..60)
            .map(|cell| wide_name(&format!(", {cell}")))
            .collect();
        let values: Vec<Vec<f64>> = (0..60)
            .map(|cell| vec![1000.0 + 0.1 * f64::from(cell)])
            .collect();
        let scores = vec![score(values); 4];
        let plot = Plot::of(|path| comparison(path, &names[0], &names, &scores));
        let texts = plot.texts();
        let shown = |cell: usize| {
            texts
                .iter()
                .any(|text| text.ends_with(&format!(", {cell}")))
        };
        assert!((1..60).all(shown), "{texts:?}");
    }
}
