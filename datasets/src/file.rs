//! Loads data files: CSV, gzipped CSV or Parquet.

use std::path::Path;

use crate::columns::{ColumnRoles, Request, Schema, TargetColumn};
use crate::dataset::{Dataset, Features};
use crate::delimited;
use crate::error::DataError;
use crate::table::{self, Table};

/// Reads a data set from a file.
///
/// Files whose name ends in `.parquet` or `.pq` are Parquet. All others are text separated by
/// commas, semicolons or tabs, optionally gzipped. A first line that is not all numbers is a
/// header. Columns without names are called `x1`, `x2`, … and `y`. The file is read as a stream.
///
/// # Errors
/// A [`DataError`] that names the line and the column, for a missing, unreadable, empty or damaged
/// file, a row with a different number of fields, a field that is not a finite number, a missing or
/// constant target, or a file with a single row.
pub fn load_file(path: &Path, target: &TargetColumn) -> Result<Dataset, DataError> {
    let roles = ColumnRoles {
        target: target.clone(),
        ..ColumnRoles::default()
    };
    table::training(stem(path), &roles, |request| read(path, request))
}

/// Reads rows to predict from a file, with or without the target column.
///
/// If both the model's data and the file have column names, columns are matched by name in any
/// order, and columns with other names are reported as ignored. Otherwise the file must contain the
/// inputs in the order of the model's data, either alone or with the target in its original
/// position.
///
/// # Errors
/// The errors of [`load_file`] except for a single row and a constant target, and
/// [`DataError::InputMissing`] or [`DataError::InputCount`] when the columns do not fit the model.
pub fn load_features_file(path: &Path, schema: &Schema) -> Result<Features, DataError> {
    read(path, Request::Prediction(schema))?.into_features()
}

/// Reads points without targets from a file, with every column as a coordinate.
///
/// # Errors
/// The errors of [`load_file`], except for those about a target.
pub fn load_points_file(path: &Path) -> Result<Features, DataError> {
    read(path, Request::Points)?.into_features()
}

/// Reads the columns of a file selected by `request`.
pub(crate) fn read(path: &Path, request: Request<'_>) -> Result<Table, DataError> {
    if is_parquet(path) {
        return read_parquet(path, request);
    }
    delimited::read(path, request)
}

fn is_parquet(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "parquet" || extension == "pq")
}

#[cfg(feature = "parquet")]
fn read_parquet(path: &Path, request: Request<'_>) -> Result<Table, DataError> {
    crate::parquet::read(path, request)
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(path: &Path, _request: Request<'_>) -> Result<Table, DataError> {
    Err(DataError::ParquetNotBuilt { path: path.into() })
}

/// The file name without its folder and extensions.
pub(crate) fn stem(path: &Path) -> String {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_set_is_the_stem_of_its_file() {
        for (path, name) in [
            ("a/b.csv", "b"),
            ("b.csv.gz", "b"),
            ("b.v2.parquet", "b.v2"),
            ("b", "b"),
            (".hidden", ".hidden"),
        ] {
            assert_eq!(stem(Path::new(path)), name);
        }
    }
}
