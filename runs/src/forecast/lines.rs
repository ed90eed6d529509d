//! What is said about the series on the terminal.

use burn_gp_datasets::{agreeing, counted};
use burn_gp_models::forecasting::{ForecastScores, missing_steps};

use super::sentences::of_series;
use super::table::SeriesTable;
use super::work::SeriesForecast;
use crate::text_table::aligned;

/// What was found in the table, in one line.
pub fn of_table(table: &SeriesTable) -> String {
    let rows: usize = table.series.iter().map(|own| own.series.len()).sum();
    let gaps: usize = match table.calendar.is_regular() {
        true => table
            .series
            .iter()
            .map(|own| missing_steps(own.series.times()))
            .sum(),
        false => 0,
    };
    let rows = counted(rows, "value");
    let mut line = match table.series.len() {
        1 => format!("{}: {rows}, {}", table.target, table.calendar.name()),
        count => format!(
            "{}: {count} series, {rows}, {}",
            table.target,
            table.calendar.name()
        ),
    };
    let by = table.by.as_deref().unwrap_or_default();
    let rows = |count| counted(count, "row");
    let counts = [
        (gaps, format!("{gaps} missing")),
        (
            table.repeated,
            format!("{} at the time of another", table.repeated),
        ),
        (
            table.left_out,
            format!(
                "{} without a time or a value left out",
                rows(table.left_out)
            ),
        ),
        (
            table.unnamed,
            format!("{} without a name in {by} left out", rows(table.unnamed)),
        ),
    ];
    for (_, text) in counts.into_iter().filter(|(count, _)| *count > 0) {
        line += &format!(", {text}");
    }
    line
}

/// The forecast of a series, in one line.
pub fn of_forecast(own: &SeriesForecast) -> String {
    let model = match &own.model {
        Ok(model) => model.words.clone(),
        Err(fallback) => format!("{}, because {}", fallback.baseline, fallback.reason),
    };
    let scores = own.backtest.as_ref().and_then(|backtest| {
        let scores = backtest.scores()?;
        let better = backtest.better_baseline();
        let better = better.map_or_else(String::new, |baseline| format!("; {baseline} was better"));
        Some(format!(
            "; MASE {:.3}, CRPS {:.3}{better}",
            scores.mase, scores.crps
        ))
    });
    of_series(&own.name, &format!("{model}{}", scores.unwrap_or_default()))
}

/// What is said if models have fewer forecasts of the past than wanted.
pub fn of_origins(all: &[SeriesForecast], wanted: usize) -> Option<String> {
    let modeled = all.iter().filter(|own| own.model.is_ok());
    let found = modeled.map(|own| own.backtest.as_ref().map_or(0, |own| own.windows.len()));
    let fewer: Vec<usize> = found.filter(|found| *found < wanted).collect();
    let why = "the values before the others are too few";
    match (&fewer[..], all.len()) {
        ([], _) => None,
        ([found], 1) => Some(format!("{found} of {wanted} origins are scored: {why}")),
        (_, count) => Some(format!(
            "{} of {count} series {} fewer than {wanted} origins that are scored: {why}",
            fewer.len(),
            agreeing(fewer.len(), ["has", "have"])
        )),
    }
}

/// The mean scores of the model and the baselines as a table; `None` without a backtest.
pub fn of_scores(all: &[SeriesForecast]) -> Option<Vec<String>> {
    let backtests: Vec<_> = all.iter().filter_map(|own| own.backtest.as_ref()).collect();
    let own: Vec<ForecastScores> = backtests.iter().filter_map(|own| own.scores()).collect();
    let own = ForecastScores::mean(&own)?;
    let baselines: Vec<Vec<_>> = backtests.iter().map(|own| own.baselines()).collect();
    let mut names: Vec<_> = baselines.iter().flatten().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let mut header: Vec<String> = ["forecast", "MASE", "sMAPE", "CRPS"]
        .map(str::to_owned)
        .to_vec();
    header.extend(
        own.levels
            .iter()
            .map(|level| format!("within {}", share(*level))),
    );
    let row = |name: String, scores: &ForecastScores| {
        let mut cells = vec![
            name,
            format!("{:.3}", scores.mase),
            share(scores.smape),
            format!("{:.3}", scores.crps),
        ];
        cells.extend(scores.coverage.iter().map(|coverage| share(*coverage)));
        cells
    };
    let mut rows = vec![header, row("model".to_owned(), &own)];
    for name in names {
        let scores = baselines.iter().flatten().filter(|(own, _)| *own == name);
        let mean = ForecastScores::mean(scores.map(|(_, scores)| scores))?;
        rows.push(row(name.to_string(), &mean));
    }
    Some(aligned(&rows))
}

fn share(fraction: f64) -> String {
    let text = format!("{:.1}", 100.0 * fraction);
    format!("{} %", text.trim_end_matches(".0"))
}
