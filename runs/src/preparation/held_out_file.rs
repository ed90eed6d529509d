//! Held-out rows from a separate file.

use burn_gp_datasets::{
    ColumnError, DataError, DataSource, DataWarning, Features, KeptColumns, NewRows, RowRole,
    Schema, Standardizer, TransformError, warnings_of_new_rows,
};

use super::transforms::{impossible_input, impossible_targets};
use super::{
    levels::level_names,
    part::{Part, RowSource},
    rows::Rows,
};
use crate::arguments::RunOptions;

/// The validation and test rows of the files that the options name, if they name any, read with [`read`]. Their
/// warnings are added to `warnings`.
///
/// # Errors
///
/// Those of [`read`].
pub fn read_all(
    schema: &Schema,
    standardizer: &Standardizer,
    options: &RunOptions,
    warnings: &mut Vec<DataWarning>,
) -> Result<[Option<Part>; 2], DataError> {
    let mut parts = [None, None];
    for (part, path) in parts.iter_mut().zip([&options.validation, &options.test]) {
        if let Some(path) = path {
            let (own, found) = read(path, schema, standardizer, options)?;
            warnings.extend(found);
            *part = Some(own);
        }
    }
    Ok(parts)
}

/// Reads the rows of the file `path` with the columns of the training rows. Rows without a target are left out.
/// As in predictions, missing values are filled in, and levels that are not in the training rows count as
/// unknown. Warnings give the numbers of such rows.
///
/// # Errors
///
/// If the file cannot be read, a row lacks an input, or all rows lack the target.
fn read(
    path: &str,
    schema: &Schema,
    standardizer: &Standardizer,
    options: &RunOptions,
) -> Result<(Part, Vec<DataWarning>), DataError> {
    let source = DataSource::resolve(path, options.data_dir.as_deref())?;
    let source = source.with_rows(options.rows.clone());
    let wanted = NewRows {
        header: options.no_header.map(|none| !none),
        lenient: false,
        fill_gaps: true,
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
    let mut warnings = warnings_of_new_rows(&features, &level_names(options, schema));
    if known.len() < targets.len() {
        warnings.push(DataWarning::RowsWithoutTarget {
            count: targets.len() - known.len(),
            name: schema.target_name.clone(),
            markers: Vec::new(),
        });
    }
    let ids = features
        .texts_of(schema.id.as_deref())
        .map(<[String]>::to_vec);
    require_possible(&features, schema, standardizer)?;
    let mut attributes = features.attributes;
    if let Some(ids) = ids {
        attributes.insert_texts(RowRole::Id, ids);
    }
    let rows = Rows {
        source: RowSource::whole(features.origin),
        inputs: &features.inputs,
        targets: &targets,
        attributes: &attributes,
    };
    Ok((rows.part(&known, standardizer), warnings))
}

/// Fails on the first value that a transformation does not take.
fn require_possible(
    features: &Features,
    schema: &Schema,
    standardizer: &Standardizer,
) -> Result<(), TransformError> {
    let targets = features.targets.as_deref().unwrap_or_default();
    let found = (impossible_input(features, schema, standardizer))
        .or_else(|| impossible_targets(targets, &features.origin, schema, standardizer).next());
    found.map_or(Ok(()), |(_, error)| Err(error))
}
