//! The files of a forecast.

use burn_gp_models::forecasting::{Calendar, ForecastScores};
use serde_json::{Map, Value, json};

use super::table::SeriesTable;
use super::work::SeriesForecast;
use crate::csv_text::csv_text;

/// The probabilities of the quantiles in the table.
const QUANTILES: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// The name of a level or a probability in a header: 80 for 0.8.
fn percent(level: f64) -> String {
    let text = format!("{:.4}", 100.0 * level);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `series,time,median,mean,std,lower_80,upper_80,…,q10,…,q90`, a row for each series and time.
pub fn forecast_csv(table: &SeriesTable, all: &[SeriesForecast], levels: &[f64]) -> String {
    let mut header: Vec<String> = ["series", "time", "median", "mean", "std"]
        .map(str::to_owned)
        .to_vec();
    for level in levels {
        header.extend(["lower", "upper"].map(|end| format!("{end}_{}", percent(*level))));
    }
    header.extend(QUANTILES.map(|p| format!("q{}", percent(p))));
    let mut rows = vec![header];
    for own in all {
        let forecast = &own.forecast;
        let [means, deviations] = forecast.moments();
        let mut columns = vec![forecast.medians(), means, deviations];
        for level in levels {
            columns.extend(forecast.interval(*level));
        }
        columns.extend(QUANTILES.map(|p| forecast.quantile(p)));
        for (row, time) in forecast.times.iter().enumerate() {
            let mut cells = vec![own.name.clone(), table.calendar.text(*time)];
            cells.extend(columns.iter().map(|column| column[row].to_string()));
            rows.push(cells);
        }
    }
    csv_text(rows)
}

/// `series,time,component,mean,std`, the parts of each series in the past and the future, before the logarithm is
/// inverted.
pub fn components_csv(table: &SeriesTable, all: &[SeriesForecast]) -> String {
    let header = ["series", "time", "component", "mean", "std"].map(str::to_owned);
    let mut rows = vec![header];
    for own in all {
        let Ok(model) = &own.model else { continue };
        for component in &model.components {
            let values = component.means.iter().zip(&component.deviations);
            for (time, (mean, deviation)) in model.times.iter().zip(values) {
                let cells = [
                    own.name.clone(),
                    table.calendar.text(*time),
                    component.name.clone(),
                    mean.to_string(),
                    deviation.to_string(),
                ];
                rows.push(cells);
            }
        }
    }
    csv_text(rows)
}

/// `series,origin,time,y,median,lower_80,upper_80,…`, the forecasts of the past.
pub fn backtest_csv(table: &SeriesTable, all: &[SeriesForecast], levels: &[f64]) -> String {
    let mut header: Vec<String> = ["series", "origin", "time", "y", "median"]
        .map(str::to_owned)
        .to_vec();
    for level in levels {
        header.extend(["lower", "upper"].map(|end| format!("{end}_{}", percent(*level))));
    }
    let mut rows = vec![header];
    for own in all {
        for window in own.backtest.iter().flat_map(|backtest| &backtest.windows) {
            let mut columns = vec![window.values.clone(), window.forecast.medians()];
            for level in levels {
                columns.extend(window.forecast.interval(*level));
            }
            let origin = table.calendar.text(window.origin);
            for (row, time) in window.forecast.times.iter().enumerate() {
                let mut cells = vec![own.name.clone(), origin.clone(), table.calendar.text(*time)];
                cells.extend(columns.iter().map(|column| column[row].to_string()));
                rows.push(cells);
            }
        }
    }
    csv_text(rows)
}

/// Everything that was chosen and scored, with the means of the scores over series.
pub fn metrics_json(table: &SeriesTable, all: &[SeriesForecast], horizon: usize) -> String {
    let text = json!({
        "data": table.data,
        "target": table.target,
        "time": table.time,
        "frequency": table.calendar.name(),
        "horizon": horizon,
        "scores": means_of(all),
        "series": all.iter().map(|own| of_series(own, &table.calendar)).collect::<Vec<_>>(),
    });
    format!("{text:#}\n")
}

/// The scores of a model and of the baselines, by name.
fn named_scores(
    model: Option<ForecastScores>,
    baselines: Vec<(String, ForecastScores)>,
) -> Map<String, Value> {
    let model = model.map(|scores| ("model".to_owned(), scores));
    let all = model.into_iter().chain(baselines);
    all.map(|(name, scores)| (name, json!(scores))).collect()
}

/// The means of the scores over the series that have a backtest.
fn means_of(all: &[SeriesForecast]) -> Map<String, Value> {
    let backtests = || all.iter().filter_map(|own| own.backtest.as_ref());
    let of_model: Vec<ForecastScores> = backtests().filter_map(|own| own.scores()).collect();
    let baselines: Vec<Vec<_>> = backtests().map(|own| own.baselines()).collect();
    // Series without a season have fewer baselines; means are over the series that have them.
    let mut names: Vec<_> = baselines
        .iter()
        .flatten()
        .map(|(baseline, _)| *baseline)
        .collect();
    names.sort_unstable();
    names.dedup();
    let of_baseline = |name| {
        let scores = baselines.iter().flatten().filter(|(own, _)| *own == name);
        ForecastScores::mean(scores.map(|(_, scores)| scores))
    };
    let named = names
        .into_iter()
        .filter_map(|name| Some((name.to_string(), of_baseline(name)?)));
    named_scores(ForecastScores::mean(&of_model), named.collect())
}

fn of_series(own: &SeriesForecast, calendar: &Calendar) -> Value {
    let mut value = json!({
        "series": own.name,
        "rows": own.series.len(),
        "first": calendar.text(own.series.times()[0]),
        "last": calendar.text(own.series.last_time()),
    });
    let mut add = |name: &str, added: Value| value[name] = added;
    match &own.model {
        Ok(model) => {
            add("model", json!(model.words));
            add("transform", json!(model.transform));
            add("companion", json!(model.companion));
            let candidates = model.candidates.iter().map(|candidate| {
                json!({
                    "model": candidate.structure.to_string(),
                    "criterion": candidate.criterion,
                    "crps": candidate.score,
                })
            });
            add("candidates", candidates.collect());
        }
        Err(fallback) => {
            add("model", json!(fallback.baseline.to_string()));
            add("reason", json!(fallback.reason));
        }
    }
    if let Some(backtest) = &own.backtest {
        let baselines = backtest.baselines().into_iter();
        let baselines = baselines.map(|(name, scores)| (name.to_string(), scores));
        let scores = named_scores(backtest.scores(), baselines.collect());
        add("backtest_model", json!(backtest.model));
        add("origins", json!(backtest.windows.len()));
        add("scores", Value::Object(scores));
        let better = backtest
            .better_baseline()
            .map(|baseline| baseline.to_string());
        add("better_baseline", json!(better));
    }
    value
}
