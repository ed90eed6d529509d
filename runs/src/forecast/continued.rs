//! Forecasts by the models of an earlier forecast, given new rows.

use std::collections::HashMap;
use std::path::Path;

use burn_gp_datasets::{Schema, agreeing, counted};
use burn_gp_models::MODEL_FILE;
use burn_gp_models::forecasting::{
    Calendar, Covariate, FORECASTS_FILE, ForecastError, Forecasting, SavedForecasts, SavedSeries,
    Season, Series,
};
use serde::{Deserialize, Serialize};

use super::arguments::ForecastArguments;
use super::covariates::{NewTable, known_covariates, place_of_time, read_rows};
use super::sentences::of_error;
use super::table::{NamedSeries, SeriesTable};
use super::work::SeriesForecast;
use crate::failure::{Failure, FolderError};
use crate::standard_error::warn;

/// What is saved with the models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastContext {
    data: String,
    target: String,
    time: String,
    by: Option<String>,
    schema: Schema,
    calendar: Calendar,
    horizon: usize,
    seasons: Vec<Season>,
}

impl ForecastContext {
    fn of(table: &SeriesTable, forecasting: &Forecasting) -> Self {
        Self {
            data: table.data.clone(),
            target: table.target.clone(),
            time: table.time.clone(),
            by: table.by.clone(),
            schema: table.schema.clone(),
            calendar: table.calendar.clone(),
            horizon: forecasting.horizon,
            seasons: forecasting.seasons.clone(),
        }
    }
}

/// Writes the models of all series into a folder.
pub fn save(
    folder: &Path,
    table: &SeriesTable,
    all: &[SeriesForecast],
    forecasting: &Forecasting,
) -> Result<(), Failure> {
    let saved = SavedForecasts {
        series: all.iter().map(|own| own.saved.clone()).collect(),
        context: ForecastContext::of(table, forecasting),
    };
    Ok(saved.save(folder)?)
}

/// The series of an earlier forecast with the rows that came since, their saved models, and the settings.
pub struct Continued {
    pub table: SeriesTable,
    pub saved: Vec<SavedSeries>,
    pub forecasting: Forecasting,
}

/// Requires a forecast in a folder.
fn require_forecast(folder: &Path) -> Result<(), FolderError> {
    let has = |name: &str| folder.join(name).exists();
    match (has(FORECASTS_FILE), has(MODEL_FILE)) {
        (true, _) => Ok(()),
        (false, true) => Err(FolderError::OfTrain(folder.to_owned())),
        (false, false) => Err(FolderError::NoForecast(folder.to_owned())),
    }
}

/// Reads the models of a folder and the new rows.
pub fn read(folder: &Path, arguments: &ForecastArguments) -> Result<Continued, Failure> {
    require_forecast(folder)?;
    let SavedForecasts { series, context }: SavedForecasts<ForecastContext> =
        SavedForecasts::load(folder)?;
    let of_saved = |saved: &SavedSeries| -> Result<NamedSeries, Failure> {
        let series = saved.series();
        Ok(NamedSeries {
            name: saved.name().to_owned(),
            series: series
                .map_err(|error| Failure::Arguments(format!("{}: {error}", folder.display())))?,
        })
    };
    let named = series.iter().map(of_saved).collect::<Result<_, _>>()?;
    let horizon = arguments.horizon.unwrap_or(context.horizon);
    let mut continued = Continued {
        table: SeriesTable {
            data: context.data,
            target: context.target,
            time: context.time,
            by: context.by,
            schema: context.schema,
            calendar: context.calendar,
            series: named,
            repeated: 0,
            left_out: 0,
            unnamed: 0,
        },
        saved: series,
        forecasting: Forecasting::new(horizon).with_seasons(context.seasons),
    };
    let table = &continued.table;
    let mut tables = Vec::new();
    if let Some(data) = &arguments.data {
        tables.push(read_rows(data, table.columns(), true)?);
    }
    if let Some(future) = &arguments.future {
        tables.push(read_rows(future, table.columns(), false)?);
    }
    continued.table.add(&tables)?;
    Ok(continued)
}

impl SeriesTable {
    /// Adds the rows after the end of each series. Rows that it has already change nothing.
    fn add(&mut self, tables: &[NewTable]) -> Result<(), Failure> {
        let mut known = known_covariates(tables, self.columns(), &self.calendar)?;
        let mut added = added_rows(tables, &self.schema, (&self.time, &self.calendar));
        if self.by.is_some() {
            added.retain(|name, rows| {
                let is_named = !name.trim().is_empty();
                self.unnamed += if is_named { 0 } else { rows.len() };
                is_named
            });
        }
        let mut count = 0;
        for own in &mut self.series {
            let covariates = extended(&own.series, known.remove(&own.name).unwrap_or_default());
            let end = own.series.last_time();
            let (mut times, mut values) =
                (own.series.times().to_vec(), own.series.values().to_vec());
            for (time, value) in added.remove(&own.name).unwrap_or_default() {
                if time > end {
                    times.push(time);
                    values.push(value);
                }
            }
            count += times.len() - own.series.len();
            let series = Series::new(&times, &values);
            let series = series.and_then(|series| series.with_covariates(covariates?));
            own.series = series
                .map_err(|error| Failure::Arguments(of_error(&own.name, &error, &self.calendar)))?;
        }
        if count == 0 {
            warn("there is no new value: every series ends where it did before");
        }
        let rows: usize = added.values().map(Vec::len).sum();
        if rows > 0 {
            let mut names: Vec<String> = added.into_keys().collect();
            names.sort_unstable();
            let verb = agreeing(rows, ["is", "are"]);
            warn(format!(
                "{} {verb} of series that the models do not know and {verb} left out: {}",
                counted(rows, "row"),
                names.join(", ")
            ));
        }
        Ok(())
    }
}

/// The times and the values of each series in rows that have both.
fn added_rows(
    tables: &[NewTable],
    schema: &Schema,
    (time, calendar): (&str, &Calendar),
) -> HashMap<String, Vec<(f64, f64)>> {
    let place = place_of_time(schema, time);
    let mut added: HashMap<String, Vec<(f64, f64)>> = HashMap::new();
    for table in tables {
        let unfit: Vec<usize> = table.rows.unfit.iter().map(|unfit| unfit.row).collect();
        for (row, value) in table.rows.targets.iter().flatten().enumerate() {
            if !value.is_nan() && unfit.binary_search(&row).is_err() {
                let step = calendar.steps(table.rows.inputs.row(row)[place]);
                let own = added.entry(table.names[row].clone()).or_default();
                own.push((step, *value));
            }
        }
    }
    added
}

/// The covariates of a series, with values that are known now.
fn extended(series: &Series, known: Vec<Covariate>) -> Result<Vec<Covariate>, ForecastError> {
    let with_news = |own: &Covariate| match known.iter().find(|new| new.name() == own.name()) {
        Some(news) if !own.is_event() => own.with(news),
        _ => Ok(own.clone()),
    };
    series.covariates().iter().map(with_news).collect()
}
