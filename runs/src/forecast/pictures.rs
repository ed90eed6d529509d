//! The pictures of a forecast: history and fan, and the parts.

use std::path::Path;

use burn_gp_models::forecasting::Forecast;

use super::table::SeriesTable;
use super::work::SeriesForecast;
use crate::plots::{
    Caption, CurveName, CurvePanel, FitPanel, PlotError, Points, Quantity, Span, curves, forecast,
};

/// At most this many bands are drawn.
const BANDS: usize = 2;
/// The history is this many times as long as the forecast, …
const HISTORY: usize = 6;
/// … but has this many values at least.
const LEAST_HISTORY: usize = 60;
/// Half of the width of a central interval of 95 %, in standard deviations.
const HALF_WIDTH: f64 = 1.96;

fn caption_of<'a>(table: &'a SeriesTable, own: &'a SeriesForecast) -> &'a str {
    match own.name.as_str() {
        "" => &table.data,
        name => name,
    }
}

fn model_of(own: &SeriesForecast) -> String {
    match &own.model {
        Ok(model) => model.words.clone(),
        Err(fallback) => fallback.baseline.to_string(),
    }
}

fn axis(table: &SeriesTable) -> Quantity<'_> {
    Quantity::of(&table.time)
}

/// Draws the end of the history, the medians and the intervals of the forecast.
pub fn draw_forecast(
    path: &Path,
    table: &SeriesTable,
    own: &SeriesForecast,
    levels: &[f64],
) -> Result<(), PlotError> {
    let count = (HISTORY * own.forecast.len()).max(LEAST_HISTORY);
    let history = own.series.latest(count);
    let times = history.times().iter();
    let x: Vec<f64> = times.map(|time| table.calendar.axis_value(*time)).collect();
    let mut widest_first = levels.to_vec();
    widest_first.sort_by(|a, b| b.total_cmp(a));
    widest_first.truncate(BANDS);
    let past: Vec<(f64, f64)> = (x.iter().copied().zip(history.values().iter().copied())).collect();
    let panel = fan(table, &own.forecast, &past, &widest_first);
    let texts: Vec<String> = (widest_first.iter())
        .map(|level| format!("{} % interval", (1e4 * level).round() / 100.0))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let points = Points {
        x: &x,
        y: history.values(),
    };
    let model = model_of(own);
    forecast(
        path,
        Caption::new(caption_of(table, own), &model),
        &texts,
        points,
        (axis(table), Quantity::of(&table.target)),
        panel,
    )
}

/// The medians and the intervals of a forecast after the past, where the intervals have no width.
fn fan(
    table: &SeriesTable,
    future: &Forecast,
    past: &[(f64, f64)],
    levels: &[f64],
) -> FitPanel<'static> {
    let times = future.times.iter();
    let x: Vec<f64> = times.map(|time| table.calendar.axis_value(*time)).collect();
    let band = |level: &f64| -> Vec<[f64; 3]> {
        let [lower, upper] = future.interval(*level);
        let ends = x.iter().zip(lower.into_iter().zip(upper));
        let edges = ends.map(|(&x, (low, high))| [x, low, high]);
        past.iter().map(|&(x, y)| [x, y, y]).chain(edges).collect()
    };
    let medians = x.iter().copied().zip(future.medians());
    FitPanel {
        title: "",
        means: past.iter().copied().chain(medians).collect(),
        bands: levels.iter().map(band).collect(),
        inducing: &[],
        orthogonal: &[],
    }
}

/// Draws the end of each part with its interval, in a panel of its own. Without a model there is nothing to draw.
pub fn draw_components(
    path: &Path,
    table: &SeriesTable,
    own: &SeriesForecast,
) -> Result<(), PlotError> {
    let Ok(model) = &own.model else {
        return Ok(());
    };
    let horizon = own.forecast.len();
    let count = horizon + (HISTORY * horizon).max(LEAST_HISTORY);
    let first = model.times.len().saturating_sub(count);
    let x: Vec<f64> = (model.times[first..].iter())
        .map(|time| table.calendar.axis_value(*time))
        .collect();
    let panels: Vec<CurvePanel<'_>> = (model.components.iter())
        .map(|component| {
            let at = |width: f64| -> Vec<(f64, f64)> {
                let values = component.means.iter().zip(&component.deviations);
                let values = values.map(|(mean, deviation)| mean + width * deviation);
                x.iter().copied().zip(values.skip(first)).collect()
            };
            let three = vec![at(0.0), at(-HALF_WIDTH), at(HALF_WIDTH)];
            CurvePanel::new(&component.name, Span::Values, three)
        })
        .collect();
    let names = [
        CurveName::from("mean"),
        CurveName::dashed("lower end, 95 %"),
        CurveName::dashed("upper end, 95 %"),
    ];
    let subject = model_of(own);
    let caption = Caption::new(caption_of(table, own), &subject);
    curves(path, "Parts", caption, &names, axis(table), &panels)
}
