//! `burn-gp forecast`: forecasts of series over time.

mod arguments;
mod column_errors;
mod continued;
mod covariates;
mod files;
mod left_out;
mod lines;
mod pictures;
mod sentences;
mod table;
mod work;

use std::path::{Path, PathBuf};

use burn_gp_models::forecasting::{FEWEST_VALUES, Forecasting, Season, Transform};
use rayon::prelude::*;

pub use arguments::ForecastArguments;
use left_out::LeftOut;
use sentences::of_series;
use table::SeriesTable;
use work::SeriesForecast;

use crate::failure::Failure;
use crate::output::{
    BACKTEST, COMPONENTS, COMPONENTS_PLOT, FORECAST, FORECAST_PLOT, METRICS, OutputFolder,
    default_folder_name, write_text,
};
use crate::plots::warn_undrawn;
use crate::standard_error::warn;
use crate::standard_output::inform;
use crate::threads;

/// The horizon without a season.
const HORIZON: usize = 10;
/// This many series of each thread are forecast before their lines are printed.
const SERIES_A_TURN: usize = 4;

/// Runs `burn-gp forecast`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn forecast(arguments: &ForecastArguments) -> Result<(), Failure> {
    let seasons = arguments.check()?;
    let (table, saved, forecasting) = match &arguments.model_dir {
        Some(model_dir) => {
            let continued = continued::read(model_dir, arguments)?;
            (
                continued.table,
                Some(continued.saved),
                continued.forecasting,
            )
        }
        None => {
            let table = table::read(arguments)?;
            let forecasting = forecasting(arguments, seasons, &table);
            require_logarithms(&table, &forecasting)?;
            if !arguments.season.is_empty() {
                warn_about_seasons(&table, &forecasting);
            }
            (table, None, forecasting)
        }
    };
    for own in &table.series {
        covariates::check_future(&own.name, &own.series, forecasting.horizon, &table.calendar)?;
    }
    let out = (arguments.out.clone())
        .unwrap_or_else(|| PathBuf::from(default_folder_name(&table.data, "forecast")));
    let folder = OutputFolder::claim(&out, arguments.overwrite)?;
    inform(&format!("{}\n", lines::of_table(&table)));
    let all = match &saved {
        Some(saved) => {
            let pairs: Vec<_> = table.series.iter().zip(saved).collect();
            forecasts(&pairs, |(own, saved)| {
                work::forecast_again(own, saved, &forecasting)
            })
        }
        None => {
            let all = forecasts(&table.series, |own| {
                work::forecast_series(own, &forecasting, arguments.origins, &arguments.levels)
            });
            if let Some(line) = lines::of_origins(&all, arguments.origins) {
                warn(line);
            }
            all
        }
    };
    for line in lines::of_scores(&all).into_iter().flatten() {
        inform(&format!("{line}\n"));
    }
    folder.finish(|folder| write(folder, &table, &all, &arguments.levels, &forecasting))?;
    inform(&format!("{}\n", out.display()));
    Ok(())
}

/// The horizon and the seasons, given or from the calendar.
fn forecasting(
    arguments: &ForecastArguments,
    seasons: Option<Vec<Season>>,
    table: &SeriesTable,
) -> Forecasting {
    let seasons = seasons.unwrap_or_else(|| table.calendar.seasons());
    let shortest = seasons.iter().map(|season| season.period).reduce(f64::min);
    let horizon = (arguments.horizon)
        .unwrap_or_else(|| shortest.map_or(HORIZON, |period| (2.0 * period).round() as usize));
    let mut forecasting = Forecasting::new(horizon).with_seasons(seasons);
    forecasting.transform = arguments.transform.given();
    forecasting
}

/// Refuses logarithms of values that are not positive.
fn require_logarithms(table: &SeriesTable, forecasting: &Forecasting) -> Result<(), Failure> {
    if forecasting.transform != Some(Transform::Log) {
        return Ok(());
    }
    for own in &table.series {
        let mut rows = own.series.times().iter().zip(own.series.values());
        if let Some((time, value)) = rows.find(|(_, value)| **value <= 0.0) {
            let sentence = format!(
                "--transform log needs positive values, but {} is {value} at {}; use --transform none or auto",
                table.target,
                table.calendar.text(*time)
            );
            return Err(Failure::Arguments(of_series(&own.name, &sentence)));
        }
    }
    Ok(())
}

/// A line for each season that is left out.
fn warn_about_seasons(table: &SeriesTable, forecasting: &Forecasting) {
    let mut left_out = LeftOut::default();
    // A series without a model has no season anyway, and says why.
    let has_model = |count: usize, is_constant: bool| count >= FEWEST_VALUES && !is_constant;
    for own in &table.series {
        if has_model(own.series.len(), own.series.is_constant()) {
            let considered = forecasting.seasons_of(&own.series);
            for season in &forecasting.seasons {
                if !considered.contains(season) {
                    left_out.add(
                        &format!("the {season}"),
                        "the values from which the model is chosen do not contain it twice",
                        &own.name,
                    );
                }
            }
        }
    }
    left_out.lines(table.series.len()).for_each(warn);
}

/// Forecasts all series on all threads, and prints a line for each in their order.
fn forecasts<T: Sync>(
    series: &[T],
    of_one: impl Fn(&T) -> SeriesForecast + Sync,
) -> Vec<SeriesForecast> {
    let mut all = Vec::with_capacity(series.len());
    for some in series.chunks(SERIES_A_TURN * threads::count()) {
        let done: Vec<SeriesForecast> = some.par_iter().map(&of_one).collect();
        for own in &done {
            inform(&format!("{}\n", lines::of_forecast(own)));
        }
        all.extend(done);
    }
    all
}

/// Writes all files. The pictures show the first series.
fn write(
    folder: &Path,
    table: &SeriesTable,
    all: &[SeriesForecast],
    levels: &[f64],
    forecasting: &Forecasting,
) -> Result<(), Failure> {
    for (name, text) in [
        (FORECAST, files::forecast_csv(table, all, levels)),
        (COMPONENTS, files::components_csv(table, all)),
        (BACKTEST, files::backtest_csv(table, all, levels)),
        (
            METRICS,
            files::metrics_json(table, all, forecasting.horizon),
        ),
    ] {
        write_text(&folder.join(name), &text)?;
    }
    continued::save(folder, table, all, forecasting)?;
    if let Some(first) = all.first() {
        let path = folder.join(FORECAST_PLOT);
        warn_undrawn(pictures::draw_forecast(&path, table, first, levels));
        warn_undrawn(pictures::draw_components(
            &folder.join(COMPONENTS_PLOT),
            table,
            first,
        ));
    }
    Ok(())
}
