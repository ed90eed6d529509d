//! The columns and events whose future is known.

use std::collections::HashMap;

use burn_gp_datasets::{DataSource, Features, KeptColumns, NewRows, Schema};
use burn_gp_models::forecasting::{Calendar, Covariate, ForecastError, Series};

use super::column_errors::of_rows;
use super::left_out::LeftOut;
use super::sentences::of_error;
use crate::arguments::DataDirectory;
use crate::failure::Failure;

/// The column of event names.
const EVENT: &str = "event";
/// The column with the number of steps that an event lasts after its time.
const WINDOW: &str = "window";

/// Rows of one table with the times and the covariates.
#[derive(Debug)]
pub struct NewTable {
    /// The rows.
    pub rows: Features,
    /// The series of each row; empty for a single one.
    pub names: Vec<String>,
}

/// What the columns of a table mean.
#[derive(Clone, Copy, Debug)]
pub struct TableColumns<'a> {
    /// The encoding of the times and the covariates.
    pub schema: &'a Schema,
    /// The name of the column of times.
    pub time: &'a str,
    /// The column of series, if there are several.
    pub by: Option<&'a str>,
}

impl<'a> TableColumns<'a> {
    /// The names of the columns of times and covariates, each with the number of its inputs.
    fn inputs(&self) -> Vec<(&'a str, usize)> {
        match self.schema.columns.is_empty() {
            true => (self.schema.input_names.iter())
                .map(|name| (name.as_str(), 1))
                .collect(),
            false => (self.schema.columns.iter())
                .map(|column| (column.encoding.name.as_str(), column.encoding.inputs()))
                .collect(),
        }
    }

    /// The names of all columns.
    fn names(&self) -> Vec<&'a str> {
        self.schema
            .source_names()
            .into_iter()
            .chain(self.by)
            .collect()
    }

    /// Whether a row of this series has a name, or needs none.
    pub fn are_named(&self, series: &str) -> bool {
        self.by.is_none() || !series.trim().is_empty()
    }
}

/// The source of a file's name.
pub fn source_of(data: &str) -> Result<DataSource, Failure> {
    let data_dir = DataDirectory::of_environment();
    Ok(DataSource::resolve(data, data_dir.as_deref())?)
}

/// Reads times and covariates. With `lenient`, rows with gaps are marked rather than refused.
pub fn read_rows(
    source: &str,
    columns: TableColumns<'_>,
    lenient: bool,
) -> Result<NewTable, Failure> {
    let keep = columns.by.map_or(KeptColumns::None, |by| {
        KeptColumns::Named(vec![by.to_owned()])
    });
    let options = NewRows {
        lenient,
        keep,
        ..NewRows::default()
    };
    let rows = (source_of(source)?.load_new_rows(columns.schema, &options))
        .map_err(|error| of_rows(error, &columns.names()))?;
    let count = rows.inputs.rows();
    let names = match rows.texts_of(columns.by) {
        Some(texts) => texts.to_vec(),
        None => vec![String::new(); count],
    };
    Ok(NewTable { rows, names })
}

/// The place of the times among the inputs of a schema.
pub fn place_of_time(schema: &Schema, time: &str) -> usize {
    let places = schema.input_names.iter();
    places.clone().position(|name| name == time).unwrap_or(0)
}

/// Known values of a covariate by series: times in steps, and values.
type Known = HashMap<String, (Vec<f64>, Vec<f64>)>;

/// The covariates of the series that these tables know, by the name of the series.
pub fn known_covariates(
    tables: &[NewTable],
    columns: TableColumns<'_>,
    calendar: &Calendar,
) -> Result<HashMap<String, Vec<Covariate>>, Failure> {
    let place = place_of_time(columns.schema, columns.time);
    let names = columns.schema.input_names.iter().enumerate();
    let mut all: HashMap<String, Vec<Covariate>> = HashMap::new();
    for (column, name) in names.filter(|(column, _)| *column != place) {
        let mut known = Known::new();
        for table in tables {
            let unfit: Vec<usize> = table.rows.unfit.iter().map(|unfit| unfit.row).collect();
            for (row, series) in table.names.iter().enumerate() {
                if columns.are_named(series) && unfit.binary_search(&row).is_err() {
                    let inputs = table.rows.inputs.row(row);
                    let (times, values) = known.entry(series.clone()).or_default();
                    times.push(calendar.steps(inputs[place]));
                    values.push(inputs[column]);
                }
            }
        }
        for (series, (times, values)) in known {
            let covariate = Covariate::known(name, &times, &values)
                .map_err(|error| Failure::Arguments(of_error(&series, &error, calendar)))?;
            all.entry(series).or_default().push(covariate);
        }
    }
    Ok(all)
}

/// Covariates that change while the series has values. The effect of others is unknown.
pub fn changing(
    covariates: Vec<Covariate>,
    columns: TableColumns<'_>,
    (name, series): (&str, &Series),
    left_out: &mut LeftOut,
) -> Vec<Covariate> {
    let mut names = columns.schema.input_names.iter();
    let mut constant: Vec<&String> = Vec::new();
    for (column, inputs) in columns.inputs() {
        let own: Vec<&String> = names.by_ref().take(inputs).collect();
        let of_column: Vec<&Covariate> = (covariates.iter())
            .filter(|covariate| own.iter().any(|name| *name == covariate.name()))
            .collect();
        let is_constant = |own: &&Covariate| own.is_constant_at(series.times());
        if column != columns.time && !of_column.is_empty() && of_column.iter().all(is_constant) {
            left_out.add(
                &format!("the covariate {column:?}"),
                "it is constant while there are values, so that its effect is unknown",
                name,
            );
            constant.extend(own);
        }
    }
    let changes = |own: &Covariate| !constant.iter().any(|name| *name == own.name());
    covariates.into_iter().filter(changes).collect()
}

/// The first and the last times of the events of one name.
#[derive(Debug)]
struct Event {
    /// The series; empty for all.
    series: String,
    name: String,
    spans: Vec<[f64; 2]>,
}

/// The events of all series.
#[derive(Debug, Default)]
pub struct Events(Vec<Event>);

/// Reads a table of events: their times, in a column with the name of the column of times, their names in `event`, and
/// perhaps the series in the column of series and the length in `window`.
pub fn read_events(
    source: &str,
    columns: TableColumns<'_>,
    calendar: &Calendar,
) -> Result<Events, Failure> {
    let options = NewRows {
        keep: KeptColumns::All,
        ..NewRows::default()
    };
    let rows = (source_of(source)?.load_new_rows(columns.schema, &options))
        .map_err(|error| of_rows(error, &[columns.time, EVENT]))?;
    let texts = |name: &str| rows.texts_of(Some(name));
    let names = texts(EVENT).ok_or_else(|| {
        Failure::Arguments(format!(
            "{source}: there is no column \"{EVENT}\"; events have the columns \"{}\" and \"{EVENT}\"",
            columns.time
        ))
    })?;
    let (series, windows) = (columns.by.and_then(texts), texts(WINDOW));
    let place = place_of_time(columns.schema, columns.time);
    let mut events = Events::default();
    for (row, name) in names.iter().enumerate() {
        let of_series = series.map_or("", |series| series[row].as_str());
        let window = windows.map_or("", |windows| windows[row].trim());
        let window: usize = match window {
            "" => 0,
            text => text.parse().map_err(|_| {
                Failure::Arguments(format!(
                    "{}: {WINDOW} is {text:?} but must be a number of steps, 0 or more",
                    rows.origin.location(row)
                ))
            })?,
        };
        let first = calendar.steps(rows.inputs.row(row)[place]);
        events.add(of_series, name, [first, first + window as f64]);
    }
    Ok(events)
}

impl Events {
    fn add(&mut self, series: &str, name: &str, span: [f64; 2]) {
        let known = (self.0.iter_mut()).find(|own| own.series == series && own.name == name);
        match known {
            Some(own) => own.spans.push(span),
            None => self.0.push(Event {
                series: series.to_owned(),
                name: name.to_owned(),
                spans: vec![span],
            }),
        }
    }

    /// The events that happened at a time of the series: others have no known effect.
    pub fn of(&self, name: &str, series: &Series, left_out: &mut LeftOut) -> Vec<Covariate> {
        let mut all: Vec<(&str, Vec<[f64; 2]>)> = Vec::new();
        for event in &self.0 {
            if event.series.is_empty() || event.series == name {
                match all.iter_mut().find(|(known, _)| *known == event.name) {
                    Some((_, spans)) => spans.extend(&event.spans),
                    None => all.push((&event.name, event.spans.clone())),
                }
            }
        }
        let mut happened = Vec::new();
        for (event, spans) in all {
            let covariate = Covariate::lasting_event(event, &spans);
            let is_on = |time: &f64| covariate.at(*time) == Some(1.0);
            match series.times().iter().any(is_on) {
                true => happened.push(covariate),
                false => left_out.add(
                    &format!("the event {event:?}"),
                    "it has not happened while there are values, so that its effect is unknown",
                    name,
                ),
            }
        }
        happened
    }
}

/// Checks that the covariates of a series are known at all times of its forecast.
pub fn check_future(
    name: &str,
    series: &Series,
    horizon: usize,
    calendar: &Calendar,
) -> Result<(), Failure> {
    for time in series.next_times(horizon) {
        let unknown = series
            .covariates()
            .iter()
            .find(|own| own.at(time).is_none());
        if let Some(covariate) = unknown {
            let error = ForecastError::Unknown {
                covariate: covariate.name().to_owned(),
                time,
            };
            return Err(Failure::Arguments(of_error(name, &error, calendar)));
        }
    }
    Ok(())
}
