//! The series of a table.

use std::collections::HashMap;

use burn_gp_datasets::{
    CellError, ColumnError, ColumnKind, ColumnRoles, DataError, DataSource, Dataset, InputColumns,
    MissingValues, Schema, TargetColumn,
};
use burn_gp_models::forecasting::{Calendar, Series, TimeUnit};

use super::arguments::ForecastArguments;
use super::covariates::{
    Events, NewTable, TableColumns, known_covariates, place_of_time, read_events, read_rows,
    source_of,
};
use super::sentences::{of_error, of_series};
use crate::failure::Failure;

/// A series with its name.
#[derive(Clone, Debug)]
pub struct NamedSeries {
    /// The text in the column of series; empty for a single series.
    pub name: String,
    /// The values, with times in steps of the calendar.
    pub series: Series,
}

/// All series of a table, with one calendar.
#[derive(Debug)]
pub struct SeriesTable {
    /// The name of the data.
    pub data: String,
    /// The name of the column of values.
    pub target: String,
    /// The name of the column of times.
    pub time: String,
    /// The name of the column of series, if there is one.
    pub by: Option<String>,
    /// The encoding of the times and the covariates.
    pub schema: Schema,
    /// The steps of the times.
    pub calendar: Calendar,
    /// The series, in the order of their first rows.
    pub series: Vec<NamedSeries>,
    /// The number of rows at a time for which the series has another row.
    pub repeated: usize,
    /// The number of rows that were left out because they lack the time or the value.
    pub left_out: usize,
}

/// Reads the series of a table.
pub fn read(arguments: &ForecastArguments) -> Result<SeriesTable, Failure> {
    let data = arguments.data.as_deref().unwrap_or_default();
    let source = source_of(data)?;
    let time = match &arguments.time {
        Some(time) => time.clone(),
        None => column_of_dates(&source, arguments)?,
    };
    let roles = roles(arguments, Some(&time), &arguments.covariates);
    let data = source
        .load_columns(&roles)
        .map_err(|error| of_time(error, &time))?;
    let report = data.columns.iter().find(|column| column.name == time);
    let is_date = report.is_some_and(|column| column.kind == ColumnKind::Date);
    let place = place_of_time(&data.schema, &time);
    let inputs = || -> Vec<f64> { data.inputs.column(place).collect() };
    let (unit, times) = match (is_date, &data.times) {
        (true, _) => (TimeUnit::Days, inputs()),
        (false, Some(times)) => (TimeUnit::Number, times.clone()),
        (false, None) => (TimeUnit::Number, inputs()),
    };
    let calendar = Calendar::new(&times, unit);
    let steps: Vec<f64> = times.iter().map(|time| calendar.steps(*time)).collect();
    let (series, repeated) = divided(&data, &steps)?;
    let mut table = SeriesTable {
        data: data.name.clone(),
        target: data.target_name().to_owned(),
        time,
        by: arguments.by.as_ref().map(ToString::to_string),
        schema: data.schema,
        calendar,
        series,
        repeated,
        left_out: data.left_out,
    };
    if !arguments.covariates.is_empty() || arguments.events.is_some() {
        table.add_covariates(arguments, &source)?;
    }
    Ok(table)
}

impl SeriesTable {
    /// What its columns mean.
    pub fn columns(&self) -> TableColumns<'_> {
        TableColumns {
            schema: &self.schema,
            time: &self.time,
            by: self.by.as_deref(),
        }
    }

    /// Adds the covariates in the columns of the data and of the future, and the events.
    fn add_covariates(
        &mut self,
        arguments: &ForecastArguments,
        source: &DataSource,
    ) -> Result<(), Failure> {
        let mut tables: Vec<NewTable> = Vec::new();
        if !arguments.covariates.is_empty() {
            // Rows of the past with gaps are left out of the series, too.
            let data = arguments.data.as_deref().unwrap_or_default();
            tables.push(read_rows(data, self.columns(), true)?);
            if let Some(future) = &arguments.future {
                tables.push(read_rows(future, self.columns(), false)?);
            }
        }
        let mut known = known_covariates(&tables, self.columns(), &self.calendar)?;
        let events = match &arguments.events {
            Some(events) => {
                // Events have no other columns of the data than those of times and series.
                let roles = roles(arguments, Some(&self.time), &[]);
                let schema = source.load_columns(&roles)?.schema;
                let columns = TableColumns {
                    schema: &schema,
                    ..self.columns()
                };
                read_events(events, columns, &self.calendar)?
            }
            None => Events::default(),
        };
        for own in &mut self.series {
            let mut covariates = known.remove(&own.name).unwrap_or_default();
            covariates.extend(events.of(&own.name, &own.series));
            let series = own.series.clone().with_covariates(covariates);
            own.series = series
                .map_err(|error| Failure::Arguments(of_error(&own.name, &error, &self.calendar)))?;
        }
        Ok(())
    }
}

/// The roles of the columns; without a column of times, all columns are read.
fn roles(
    arguments: &ForecastArguments,
    time: Option<&String>,
    covariates: &[String],
) -> ColumnRoles {
    ColumnRoles {
        target: arguments.target.clone().unwrap_or_default(),
        group: arguments.by.clone(),
        time: time.map(|time| TargetColumn::Name(time.clone())),
        inputs: InputColumns {
            inferred: true,
            only: time.map(|time| [std::slice::from_ref(time), covariates].concat()),
            missing: MissingValues::Drop,
            date_order: arguments.date_order.map(Into::into),
            ..InputColumns::default()
        },
        // The forecast of a constant series is a baseline.
        allows_constant_target: true,
        ..ColumnRoles::default()
    }
}

/// The failure to read the column of times, in the words of this command.
fn of_time(error: DataError, time: &str) -> Failure {
    match error {
        DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            name,
            columns,
            nearest,
            ..
        }) => DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            option: if name == time {
                "--time"
            } else {
                "--covariates"
            },
            name,
            columns,
            nearest,
        })
        .into(),
        DataError::Cell(CellError::NotATime {
            source_name,
            column,
            text,
        }) => Failure::Arguments(format!(
            "{source_name}: {column} holds {text:?}, which is neither a date nor a number; name the column of times with --time"
        )),
        error => error.into(),
    }
}

/// The first column of dates.
fn column_of_dates(source: &DataSource, arguments: &ForecastArguments) -> Result<String, Failure> {
    let mut roles = roles(arguments, None, &[]);
    // Gaps in columns that are not used must not leave out rows.
    roles.inputs.missing = MissingValues::Indicator;
    let data = source.load_columns(&roles)?;
    let dates = data
        .columns
        .iter()
        .find(|column| column.kind == ColumnKind::Date);
    dates.map(|column| column.name.clone()).ok_or_else(|| {
        Failure::Arguments(format!(
            "{} has no column of dates; name the column of times with --time",
            arguments.data.as_deref().unwrap_or_default()
        ))
    })
}

/// The series of the rows, and the number of rows at the time of another row.
fn divided(data: &Dataset, steps: &[f64]) -> Result<(Vec<NamedSeries>, usize), Failure> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut rows: Vec<(&str, Vec<f64>, Vec<f64>)> = Vec::new();
    for (row, (step, value)) in steps.iter().zip(&data.targets).enumerate() {
        let name = data
            .groups
            .as_ref()
            .map_or("", |groups| groups[row].as_str());
        let place = *places.entry(name).or_insert_with(|| {
            rows.push((name, Vec::new(), Vec::new()));
            rows.len() - 1
        });
        rows[place].1.push(*step);
        rows[place].2.push(*value);
    }
    let mut all = Vec::with_capacity(rows.len());
    let mut repeated = 0;
    for (name, times, values) in rows {
        let series = Series::new(&times, &values)
            .map_err(|error| Failure::Arguments(of_series(name, &error.to_string())))?;
        repeated += series
            .times()
            .windows(2)
            .filter(|pair| pair[0] == pair[1])
            .count();
        all.push(NamedSeries {
            name: name.to_owned(),
            series,
        });
    }
    Ok((all, repeated))
}
