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

/// Reads all columns of a file; `request` determines whether its first line is a header.
pub(crate) fn read(path: &Path, request: Request<'_>) -> Result<RawTable, DataError> {
    match Format::of(path) {
        Format::Text => delimited::read(path, request),
        Format::Json => json::read(path),
        Format::Parquet => read_parquet(path),
        Format::Arrow => read_arrow(path),
        Format::Workbook => read_workbook(path, request.header()),
    }
}

/// Whether the name of a file has an extension of Parquet files.
#[cfg(feature = "parquet")]
pub(crate) fn is_parquet(path: &Path) -> bool {
    Format::of(path) == Format::Parquet
}

/// The format of a file, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Parquet,
    Arrow,
    Workbook,
}

/// The extensions of compressed files.
const COMPRESSED: [&str; 5] = [".gz", ".bz2", ".xz", ".zst", ".zip"];

impl Format {
    fn of(path: &Path) -> Self {
        let name = uncompressed(path).to_lowercase();
        match name.rsplit_once('.').map(|(_, extension)| extension) {
            Some("parquet" | "pq") => Self::Parquet,
            Some("arrow" | "feather" | "ipc") => Self::Arrow,
            Some("xlsx" | "xls" | "xlsb" | "xlsm" | "ods") => Self::Workbook,
            Some("json" | "jsonl" | "ndjson") => Self::Json,
            _ => Self::Text,
        }
    }
}

/// The name of a file without the extension of its compression.
fn uncompressed(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut extensions = COMPRESSED.iter();
    let inner = extensions.find_map(|extension| name.strip_suffix(extension));
    inner.unwrap_or(&name).to_owned()
}

/// Defines a reader that returns an error if the program was built without the feature.
macro_rules! optional_reader {
    ($name:ident, $feature:literal, $module:ident ($($argument:ident: $kind:ty),*)) => {
        #[cfg(feature = $feature)]
        fn $name(path: &Path $(, $argument: $kind)*) -> Result<RawTable, DataError> {
            crate::$module::read(path $(, $argument)*)
        }

        #[cfg(not(feature = $feature))]
        fn $name(path: &Path $(, _: $kind)*) -> Result<RawTable, DataError> {
            Err(DataError::File(crate::FileError::FormatNotBuilt {
                path: path.into(),
                feature: $feature,
            }))
        }
    };
}

optional_reader!(read_parquet, "parquet", parquet());
optional_reader!(read_arrow, "arrow", arrow());
optional_reader!(read_workbook, "excel", workbook(header: Option<bool>));

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
        for (path, format) in [
            ("a.csv.bz2", Format::Text),
            ("a.tsv", Format::Text),
            ("a", Format::Text),
            ("a.PARQUET", Format::Parquet),
            ("a.feather", Format::Arrow),
            ("a.xlsx", Format::Workbook),
            ("a.ndjson.gz", Format::Json),
        ] {
            assert_eq!(Format::of(Path::new(path)), format, "{path}");
        }
    }
}
