//! Held-out rows from a file of their own.

use std::sync::Arc;

use burn_gp_datasets::{
    ColumnError, DataError, DataSource, KeptColumns, NewRows, Schema, Standardizer,
};

use super::{
    part::{Part, RowSource},
    rows::Rows,
};
use crate::arguments::RunOptions;

/// The rows of the file `path`, with the columns of the training rows. Rows without a target are left
/// out; levels that training has not seen are unknown ones, as in predictions.
///
/// # Errors
///
/// If the file cannot be read, or a row lacks an input or all rows their target.
pub fn read(
    path: &str,
    schema: &Schema,
    standardizer: &Standardizer,
    options: &RunOptions,
) -> Result<Part, DataError> {
    let source = DataSource::resolve(path, options.data_dir.as_deref())?;
    let wanted = NewRows {
        header: options.no_header.map(|none| !none),
        lenient: false,
        keep: KeptColumns::None,
    };
    let features = source.load_new_rows(schema, &wanted)?;
    let targets = features.targets.clone().unwrap_or_default();
    let known: Vec<usize> = (0..targets.len())
        .filter(|&row| !targets[row].is_nan())
        .collect();
    if known.is_empty() {
        return Err(DataError::Column(ColumnError::NoTargets {
            source_name: path.to_owned(),
            target: schema.target_name.clone(),
        }));
    }
    let ids = features
        .texts_of(schema.id.as_deref())
        .map(<[String]>::to_vec);
    let rows = Rows {
        source: Arc::new(RowSource {
            origin: features.origin,
            kept: None,
            ids,
        }),
        inputs: &features.inputs,
        targets: &targets,
        noise: features.noise.as_deref(),
        weights: None,
    };
    Ok(rows.part(&known, standardizer))
}
