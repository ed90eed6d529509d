//! Failures to read columns, in the words of this command.

use burn_gp_datasets::{CellError, ColumnError, DataError, Purpose};

use crate::failure::Failure;

/// The failure to read the data. Without the name of a column of times, dates were sought in all columns.
pub fn of_data(error: DataError, time: Option<&str>) -> Failure {
    match error {
        DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            name,
            columns,
            nearest,
            ..
        }) => DataError::Column(ColumnError::NoSuchColumn {
            source_name,
            option: match time == Some(name.as_str()) {
                true => "--time",
                false => "--covariates",
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
        DataError::Column(ColumnError::NothingLeft {
            source_name,
            left_out,
        }) => without_times(&source_name, &left_out, time),
        DataError::Column(ColumnError::Columns {
            source_name,
            problems,
            options,
        }) => {
            // The other options of `train` do not exist here.
            let order = (options.iter()).find(|option| option.starts_with("--date-order"));
            let advice = match (order, time) {
                (Some(order), _) => format!("use {order}"),
                (None, Some(_)) => "correct the file".to_owned(),
                (None, None) => {
                    "correct the file, or name the column of times with --time".to_owned()
                }
            };
            Failure::Arguments(format!(
                "{source_name}: {}; {advice}",
                problems.join(", and ")
            ))
        }
        error => error.into(),
    }
}

/// The failure of data in which no column can be the times, with the reason for each.
fn without_times(source: &str, left_out: &[String], time: Option<&str>) -> Failure {
    let constant = Purpose::LeftOut("the same in every row".to_owned()).to_string();
    let is_constant = match (time, left_out) {
        (Some(time), _) => left_out.contains(&format!("{time:?} is {constant}")),
        (None, [only]) => only.ends_with(&constant),
        (None, _) => false,
    };
    Failure::Arguments(match (is_constant, time) {
        (true, _) => of_one_time(source),
        (false, Some(time)) => format!(
            "{source}: the column {time:?} holds neither dates nor numbers; name the column of times with --time"
        ),
        (false, None) => without_dates(source),
    })
}

/// The sentence about data without a column of dates.
pub fn without_dates(source: &str) -> String {
    format!("{source} has no column of dates; name the column of times with --time")
}

/// The sentence about data with a single time.
pub fn of_one_time(source: &str) -> String {
    format!("{source}: all rows have the same time")
}

/// The failure to read a table of the future, of events, or of new values, which needs these columns.
pub fn of_rows(error: DataError, needed: &[&str]) -> Failure {
    let listed = |names: &[&str]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        quoted.join(", ")
    };
    let without = |source: &str, names: &[&str]| {
        Failure::Arguments(format!(
            "{source}: there is no column {}; the table needs the columns {}",
            listed(names),
            listed(needed)
        ))
    };
    match error {
        DataError::Column(ColumnError::InputMissing {
            source_name, names, ..
        }) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            without(&source_name, &names)
        }
        DataError::Column(ColumnError::NoSuchColumn {
            source_name, name, ..
        }) => without(&source_name, &[&name]),
        error => error.into(),
    }
}
