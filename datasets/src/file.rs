//! Loads data files; the name of a file determines its format.

use std::path::Path;

use crate::columns::{ColumnRoles, NewRows, Request, Schema, TargetColumn};
use crate::dataset::{Dataset, Features};
use crate::delimited;
use crate::error::DataError;
use crate::json;
use crate::raw_table::RawTable;
use crate::table::{self, Table};

/// Reads a data set from a file.
///
/// The extension determines the format: Parquet (`.parquet`, `.pq`), Arrow and Feather (`.arrow`,
/// `.feather`, `.ipc`), workbooks (`.xlsx`, `.xls`, `.xlsb`, `.xlsm`, `.ods`), records in JSON
/// (`.json`, `.jsonl`, `.ndjson`). All other files are text separated by commas, semicolons or tabs.
/// Text and JSON may be compressed by gzip, bzip2, xz, zstd, or zip with one file. The first line is a
/// header unless all its fields are numbers. Columns without names are called `x1`, `x2`, … and `y`.
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
    table::training(stem(path), &roles, |request| {
        Table::assemble(read(path, request)?, request)
    })
}

/// Reads rows to predict from a file, with or without the target column.
///
/// If both the model's data and the file have column names, columns are matched by name in any
/// order, and columns with other names are reported as ignored. Otherwise the file must contain the
/// inputs in the order of the model's data, either alone or with the target in its original
/// position.
///
/// # Errors
/// The errors of [`load_file`] except those for a single row and a constant target, and
/// [`ColumnError::InputMissing`](crate::ColumnError::InputMissing) or
/// [`ColumnError::InputCount`](crate::ColumnError::InputCount) when the columns do not fit the model.
pub fn load_features_file(path: &Path, schema: &Schema) -> Result<Features, DataError> {
    let rows = NewRows::default();
    let request = Request::Prediction(schema, &rows);
    Table::assemble(read(path, request)?, request)?.into_features()
}

/// Reads points without targets from a file, with every column as a coordinate.
///
/// # Errors
/// The errors of [`load_file`], except for those about a target.
pub fn load_points_file(path: &Path) -> Result<Features, DataError> {
    Table::assemble(read(path, Request::Points)?, Request::Points)?.into_features()
}

/// A format of files.
struct Format {
    extensions: &'static [&'static str],
    /// Reads all columns; the request determines whether the first line is a header.
    read: fn(&Path, Request<'_>) -> Result<RawTable, DataError>,
}

/// Makes a reader, which returns an error if the program was built without the feature.
macro_rules! reader {
    ($feature:literal, $read:expr) => {{
        #[cfg(feature = $feature)]
        {
            $read
        }
        #[cfg(not(feature = $feature))]
        {
            |path, _| {
                Err(DataError::File(crate::FileError::FormatNotBuilt {
                    path: path.into(),
                    feature: $feature,
                }))
            }
        }
    }};
}

/// The extensions of Parquet files.
const PARQUET: &[&str] = &["parquet", "pq"];

/// All formats but text, which every other file is.
static FORMATS: &[Format] = &[
    Format {
        extensions: &["json", "jsonl", "ndjson"],
        read: |path, _| json::read(path),
    },
    Format {
        extensions: PARQUET,
        read: reader!("parquet", |path, _| crate::parquet::read(path)),
    },
    Format {
        extensions: &["arrow", "feather", "ipc"],
        read: reader!("arrow", |path, _| crate::arrow::read(path)),
    },
    Format {
        extensions: &["xlsx", "xls", "xlsb", "xlsm", "ods"],
        read: reader!("excel", |path, request| crate::workbook::read(
            path,
            request.header()
        )),
    },
];

/// Reads all columns of a file; `request` determines whether its first line is a header.
pub(crate) fn read(path: &Path, request: Request<'_>) -> Result<RawTable, DataError> {
    match format(path) {
        Some(format) => (format.read)(path, request),
        None => delimited::read(path, request),
    }
}

/// The format of a file by its name; `None` for text.
fn format(path: &Path) -> Option<&'static Format> {
    let extension = extension(path);
    let mut formats = FORMATS.iter();
    formats.find(|format| format.extensions.contains(&extension.as_str()))
}

/// Whether the name of a file has an extension of Parquet files.
#[cfg(feature = "parquet")]
pub(crate) fn is_parquet(path: &Path) -> bool {
    PARQUET.contains(&extension(path).as_str())
}

/// The extensions of compressed files.
const COMPRESSED: [&str; 5] = [".gz", ".bz2", ".xz", ".zst", ".zip"];

/// The extension of a file without that of its compression, in lower case.
fn extension(path: &Path) -> String {
    let name = uncompressed(path).to_lowercase();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.unwrap_or_default().to_owned()
}

/// The name of a file without the extension of its compression.
fn uncompressed(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut extensions = COMPRESSED.iter();
    let inner = extensions.find_map(|extension| name.strip_suffix(extension));
    inner.unwrap_or(&name).to_owned()
}

/// The file name without its folder and extensions.
pub(crate) fn stem(path: &Path) -> String {
    let name = uncompressed(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name,
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
            ("a.jsonl.zst", "a"),
        ] {
            assert_eq!(stem(Path::new(path)), name);
        }
    }

    #[test]
    fn the_format_is_told_by_the_name() {
        for (path, first) in [
            ("a.csv.bz2", None),
            ("a.tsv", None),
            ("a", None),
            ("a.PARQUET", Some("parquet")),
            ("a.feather", Some("arrow")),
            ("a.ods", Some("xlsx")),
            ("a.ndjson.gz", Some("json")),
        ] {
            let found = format(Path::new(path)).map(|format| format.extensions[0]);
            assert_eq!(found, first, "{path}");
        }
    }
}
