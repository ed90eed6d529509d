//! The series of a table.

use std::collections::HashMap;
use std::path::PathBuf;

use burn_gp_datasets::{
    CellError, ColumnError, ColumnKind, ColumnRoles, DataError, DataSource, Dataset, InputColumns,
    MissingValues, TargetColumn,
};
use burn_gp_models::forecasting::{Calendar, Series, TimeUnit};

use super::arguments::ForecastArguments;
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
    let data_dir = std::env::var_os("BURN_GP_DATA").map(PathBuf::from);
    let source = DataSource::resolve(&arguments.data, data_dir.as_deref())?;
    let time = match &arguments.time {
        Some(time) => time.clone(),
        None => column_of_dates(&source, arguments)?,
    };
    let data = (source.load_columns(&roles(arguments, Some(&time)))).map_err(of_time)?;
    let report = data.columns.iter().find(|column| column.name == time);
    let is_date = report.is_some_and(|column| column.kind == ColumnKind::Date);
    let (unit, times) = match (is_date, &data.times) {
        (true, _) => (TimeUnit::Days, first_inputs(&data)),
        (false, Some(times)) => (TimeUnit::Number, times.clone()),
        (false, None) => (TimeUnit::Number, first_inputs(&data)),
    };
    let calendar = Calendar::new(&times, unit);
    let steps: Vec<f64> = times.iter().map(|time| calendar.steps(*time)).collect();
    let (series, repeated) = divided(&data, &steps)?;
    Ok(SeriesTable {
        data: data.name.clone(),
        target: data.target_name().to_owned(),
        time,
        calendar,
        series,
        repeated,
        left_out: data.left_out,
    })
}

/// The roles of the columns; without a column of times, all columns are read.
fn roles(arguments: &ForecastArguments, time: Option<&String>) -> ColumnRoles {
    ColumnRoles {
        target: arguments.target.clone().unwrap_or_default(),
        group: arguments.by.clone(),
        time: time.map(|time| TargetColumn::Name(time.clone())),
        inputs: InputColumns {
            inferred: true,
            only: time.map(|time| vec![time.clone()]),
            missing: MissingValues::Drop,
            date_order: arguments.date_order.map(Into::into),
            ..InputColumns::default()
        },
        ..ColumnRoles::default()
    }
}

/// The failure to read the column of times, in the words of this command.
fn of_time(error: DataError) -> Failure {
    match error {
        // The only columns that are named besides roles are those of times.
        DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            name,
            columns,
            nearest,
            ..
        }) => DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            option: "--time",
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
    let mut roles = roles(arguments, None);
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
            arguments.data
        ))
    })
}

fn first_inputs(data: &Dataset) -> Vec<f64> {
    let columns = data.inputs.columns();
    data.inputs
        .values()
        .iter()
        .copied()
        .step_by(columns)
        .collect()
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

/// A sentence about a series.
pub fn of_series(name: &str, sentence: &str) -> String {
    match name {
        "" => sentence.to_owned(),
        _ => format!("{name}: {sentence}"),
    }
}
