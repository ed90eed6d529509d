//! The series of a table.

use std::collections::HashMap;

use burn_gp_datasets::{
    ColumnKind, ColumnReport, ColumnRoles, DataSource, Dataset, Encoding, InputColumns,
    MissingValues, Purpose, RowRole, Schema, TargetColumn,
};
use burn_gp_models::forecasting::{Calendar, Series, TimeUnit};

use super::arguments::ForecastArguments;
use super::column_errors::{of_data, of_one_time, without_dates};
use super::covariates::{
    Events, NewTable, TableColumns, changing, known_covariates, place_of_time, read_events,
    read_rows, source_of,
};
use super::left_out::LeftOut;
use super::sentences::{of_error, of_series};
use crate::failure::Failure;
use crate::standard_error::{tell, warn};

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
    /// The number of rows that were left out because they do not name their series.
    pub unnamed: usize,
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
        .and_then(Dataset::checked_magnitudes)
        .map_err(|error| of_data(error, Some(&time)))?;
    refuse_covariates(
        arguments,
        &[
            ("of values", data.target_name()),
            ("of times", time.as_str()),
        ],
    )?;
    let (unit, times) = times_of(&data, &time)?;
    warn_about_unused(&data.columns, &arguments.covariates);
    if has_changed_clock(&source, &roles, &data)? {
        tell("times are local: their offsets from UTC are left out");
    }
    let rows = named_rows(&data)?;
    let of_named: Vec<f64> = rows.iter().map(|row| times[*row]).collect();
    let calendar = Calendar::new(&of_named, unit);
    let steps: Vec<f64> = times.iter().map(|time| calendar.steps(*time)).collect();
    let (series, repeated) = divided(&data, &rows, &steps)?;
    let mut table = SeriesTable {
        data: data.name.clone(),
        target: data.target_name().to_owned(),
        time,
        by: arguments.by.as_ref().map(ToString::to_string),
        unnamed: data.targets.len() - rows.len(),
        schema: data.schema,
        calendar,
        series,
        repeated,
        left_out: data.left_out,
    };
    if arguments.future.is_some() && arguments.covariates.is_empty() {
        warn("--future is left out: no --covariates are named");
    }
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
        let mut left_out = LeftOut::default();
        let columns = TableColumns {
            schema: &self.schema,
            time: &self.time,
            by: self.by.as_deref(),
        };
        for own in &mut self.series {
            let covariates = known.remove(&own.name).unwrap_or_default();
            let place = (own.name.as_str(), &own.series);
            let mut covariates = changing(covariates, columns, place, &mut left_out);
            covariates.extend(events.of(&own.name, &own.series, &mut left_out));
            let series = own.series.clone().with_covariates(covariates);
            own.series = series
                .map_err(|error| Failure::Arguments(of_error(&own.name, &error, &self.calendar)))?;
        }
        left_out.lines(self.series.len()).for_each(warn);
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
        inputs: InputColumns {
            inferred: true,
            only: time.map(|time| [std::slice::from_ref(time), covariates].concat()),
            missing: MissingValues::Drop,
            date_order: arguments.date_order.map(Into::into),
            // Days and weeks are those of the clock on the wall.
            local_times: true,
            ..InputColumns::default()
        },
        // The forecast of a constant series is a baseline.
        allows_constant_target: true,
        ..ColumnRoles::default()
    }
    .with(RowRole::Group, arguments.by.clone())
    .with(
        RowRole::Time,
        time.map(|time| TargetColumn::Name(time.clone())),
    )
}

/// The first column of dates.
fn column_of_dates(source: &DataSource, arguments: &ForecastArguments) -> Result<String, Failure> {
    let mut roles = roles(arguments, None, &[]);
    // Gaps in columns that are not used must not leave out rows.
    roles.inputs.missing = MissingValues::Indicator;
    let data = (source.load_columns(&roles)).map_err(|error| of_data(error, None))?;
    let dates = data
        .columns
        .iter()
        .find(|column| column.kind == ColumnKind::Date);
    dates.map(|column| column.name.clone()).ok_or_else(|| {
        Failure::Arguments(without_dates(arguments.data.as_deref().unwrap_or_default()))
    })
}

/// The times of all rows, and what they mean.
fn times_of(data: &Dataset, time: &str) -> Result<(TimeUnit, Vec<f64>), Failure> {
    let kind = (data.columns.iter().find(|column| column.name == time)).map(|column| column.kind);
    let place = place_of_time(&data.schema, time);
    let inputs = || -> Vec<f64> { data.inputs.column(place).collect() };
    match (kind, data.attributes.numbers(RowRole::Time)) {
        (Some(ColumnKind::Constant), _) => Err(Failure::Arguments(of_one_time(&data.name))),
        (Some(ColumnKind::Date), _) => Ok((TimeUnit::Days, inputs())),
        (_, Some(times)) => Ok((TimeUnit::Number, times.to_vec())),
        (_, None) => Ok((TimeUnit::Number, inputs())),
    }
}

/// Refuses covariates that have another meaning already.
fn refuse_covariates(arguments: &ForecastArguments, taken: &[(&str, &str)]) -> Result<(), Failure> {
    let by = arguments.by.as_ref().map(ToString::to_string);
    let series = by.as_deref().map(|by| ("of series", by));
    for (meaning, name) in taken.iter().copied().chain(series) {
        if arguments.covariates.iter().any(|own| own == name) {
            return Err(Failure::Arguments(format!(
                "--covariates names {name:?}, which is the column {meaning}; leave it out"
            )));
        }
    }
    Ok(())
}

/// A line for each covariate that is no input of any series.
fn warn_about_unused(columns: &[ColumnReport], covariates: &[String]) {
    for column in columns.iter().filter(|own| covariates.contains(&own.name)) {
        if let Purpose::LeftOut(reason) = &column.purpose {
            let reason = match column.kind {
                ColumnKind::Text => "too many different texts",
                _ => reason,
            };
            warn(format!(
                "the covariate {:?} is left out: {reason}",
                column.name
            ));
        }
    }
}

/// Whether local times differ from universal times.
fn has_changed_clock(
    source: &DataSource,
    roles: &ColumnRoles,
    local: &Dataset,
) -> Result<bool, Failure> {
    let has_offset = |encoding: &Encoding| matches!(encoding, Encoding::Date { format, .. } if format.has_offset());
    let mut columns = local.schema.columns.iter();
    if !columns.any(|column| has_offset(&column.encoding.encoding)) {
        return Ok(false);
    }
    let mut roles = roles.clone();
    roles.inputs.local_times = false;
    Ok(source.load_columns(&roles)?.inputs != local.inputs)
}

/// The rows that name their series, or all rows of a single series.
fn named_rows(data: &Dataset) -> Result<Vec<usize>, Failure> {
    let all = 0..data.targets.len();
    let Some(groups) = data.attributes.texts(RowRole::Group) else {
        return Ok(all.collect());
    };
    let rows: Vec<usize> = all.filter(|row| !groups[*row].trim().is_empty()).collect();
    match rows.is_empty() {
        true => Err(Failure::Arguments(format!(
            "{}: no row has a name in the column of --by",
            data.name
        ))),
        false => Ok(rows),
    }
}

/// The series of some rows, and the number of rows at the time of another row.
fn divided(
    data: &Dataset,
    named: &[usize],
    steps: &[f64],
) -> Result<(Vec<NamedSeries>, usize), Failure> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut rows: Vec<(&str, Vec<f64>, Vec<f64>)> = Vec::new();
    for &row in named {
        let groups = data.attributes.texts(RowRole::Group);
        let name = groups.map_or("", |groups| groups[row].as_str());
        let place = *places.entry(name).or_insert_with(|| {
            rows.push((name, Vec::new(), Vec::new()));
            rows.len() - 1
        });
        rows[place].1.push(steps[row]);
        rows[place].2.push(data.targets[row]);
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
