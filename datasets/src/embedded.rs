//! Data sets compiled into the program: one from the crate `linfa-datasets`, one from the folder
//! `data` of this crate.

use std::io;

use csv::ReaderBuilder;

use crate::error::{DataError, FileError, SetError};
use crate::raw_table::RawTable;

/// All patients in raw units; see `data/README.md` for the origin and the license. `linfa-datasets`
/// also contains the set, but treats the first patient as a header and keeps only 441.
const DIABETES: &str = include_str!("../data/diabetes.csv");

/// Reads the embedded set `name`, whose last column is the default target.
pub(crate) fn read(name: &str) -> Result<RawTable, DataError> {
    match name {
        "winequality" => {
            let data = linfa_datasets::winequality();
            let mut names = data.feature_names().to_vec();
            names.push("quality".into());
            let rows = data.records().outer_iter().zip(data.targets());
            let rows = rows.map(|(inputs, &quality)| with_target(inputs, quality as f64));
            let rows = rows.map(Vec::into_iter);
            Ok(RawTable::of_numbers(name, names, rows))
        }
        "diabetes" => {
            let (names, rows) = numbers(DIABETES).map_err(|error| {
                DataError::File(FileError::Unreadable {
                    path: name.into(),
                    source: io::Error::other(error),
                })
            })?;
            let rows = rows.into_iter().map(Vec::into_iter);
            Ok(RawTable::of_numbers(name, names, rows))
        }
        _ => Err(DataError::Set(SetError::NotEmbedded(name.into()))),
    }
}

fn with_target<'a>(inputs: impl IntoIterator<Item = &'a f64>, target: f64) -> Vec<f64> {
    inputs.into_iter().copied().chain([target]).collect()
}

/// The names and rows of a table with a header.
fn numbers(text: &str) -> csv::Result<(Vec<String>, Vec<Vec<f64>>)> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let names = reader.headers()?.iter().map(str::to_owned).collect();
    let rows: csv::Result<Vec<Vec<f64>>> = reader.deserialize().collect();
    Ok((names, rows?))
}
