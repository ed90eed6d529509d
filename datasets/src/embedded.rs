//! The sets compiled into the program, from the crate `linfa-datasets`.

use crate::columns::Request;
use crate::error::DataError;
use crate::table::Table;

/// The names of Efron, Hastie, Johnstone and Tibshirani, "Least Angle Regression" (2004);
/// those of the crate call the triglycerides `ltg` a drug and the cholesterol `tc` a cell.
const DIABETES: [&str; 11] = [
    "age",
    "sex",
    "bmi",
    "map",
    "tc",
    "ldl",
    "hdl",
    "tch",
    "ltg",
    "glu",
    "progression",
];

/// Reads the embedded set `name` as `request` wants it; the standard target is the last column.
pub(crate) fn read(name: &str, request: Request<'_>) -> Result<Table, DataError> {
    match name {
        "winequality" => {
            let data = linfa_datasets::winequality();
            let mut names = data.feature_names().to_vec();
            names.push("quality".into());
            let rows = data.records().outer_iter().zip(data.targets());
            let rows = rows.map(|(inputs, &quality)| with_target(inputs, quality as f64));
            Table::from_rows(name, names, rows.map(Vec::into_iter), request)
        }
        "diabetes" => {
            let data = linfa_datasets::diabetes();
            let names = DIABETES.map(String::from).to_vec();
            let rows = data.records().outer_iter().zip(data.targets());
            let rows = rows.map(|(inputs, &progression)| with_target(inputs, progression));
            Table::from_rows(name, names, rows.map(Vec::into_iter), request)
        }
        _ => Err(DataError::NotEmbedded { name: name.into() }),
    }
}

fn with_target<'a>(inputs: impl IntoIterator<Item = &'a f64>, target: f64) -> Vec<f64> {
    inputs.into_iter().copied().chain([target]).collect()
}
