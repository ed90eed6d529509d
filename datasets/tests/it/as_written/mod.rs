//! Tables as people write them: nothing in them is lost silently.

mod dates;
mod decimals;
mod labels;
mod levels;
mod truth_values;
mod whole_numbers;

use std::fs;

use burn_gp_datasets::{
    ColumnRoles, DataError, DataSource, Dataset, Features, InputColumns, Labels, NewRows, Schema,
};
use temp_dir::TempDir;

fn inferred() -> InputColumns {
    InputColumns {
        inferred: true,
        ..InputColumns::default()
    }
}

/// Regression on `y`, unless `inputs.kinds` says otherwise.
fn numbers(inputs: InputColumns) -> ColumnRoles {
    ColumnRoles {
        target: "y".parse().unwrap(),
        inputs,
        ..ColumnRoles::default()
    }
}

/// Classification by the labels in `y`.
fn labels(inputs: InputColumns) -> ColumnRoles {
    ColumnRoles {
        labels: Some(Labels::Unordered),
        ..numbers(inputs)
    }
}

/// Calls `read` with a source that has these contents, and leaves the name of its folder out of the
/// message of an error.
fn with_file<T>(
    name: &str,
    contents: impl AsRef<[u8]>,
    read: impl FnOnce(&DataSource) -> Result<T, DataError>,
) -> Result<T, String> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, contents).unwrap();
    let source = DataSource::resolve(path.to_str().unwrap(), None).unwrap();
    let name = format!("{}/", folder.path().display());
    read(&source).map_err(|error| error.to_string().replace(&name, ""))
}

fn load(name: &str, contents: &str, roles: &ColumnRoles) -> Result<Dataset, String> {
    with_file(name, contents, |source| source.load_columns(roles))
}

fn new_rows(name: &str, contents: &str, schema: &Schema) -> Result<Features, String> {
    let rows = NewRows {
        lenient: true,
        ..NewRows::default()
    };
    with_file(name, contents, |source| source.load_new_rows(schema, &rows))
}

/// A file with a column `x`, a number `z` and the target `y`, which differ in every row.
fn table_of(cells: &[&str]) -> String {
    let rows = cells.iter().enumerate();
    let rows = rows.map(|(row, cell)| format!("{cell};{}.5;{}\n", 3 * row % 7, row * row));
    "x;z;y\n".to_owned() + &rows.collect::<String>()
}

fn names(classes: &Dataset) -> &[String] {
    classes.schema.classes.as_ref().unwrap().names()
}
