//! Columns that the kernel reads as levels of categories.

use burn_gp_core::kernels::KernelConfig;
use burn_gp_datasets::{CellError, DataError, Dataset, Schema, Standardizer};
use burn_gp_models::impossible_code;

use super::offsets::on_kernel_inputs;
use crate::arguments::RunOptions;

/// The names of the columns in which a missing value is an unknown level.
pub fn level_names(options: &RunOptions, schema: &Schema) -> Vec<String> {
    let columns: Vec<usize> = (0..schema.input_names.len()).collect();
    let levels = kernel(options, schema).level_columns(&columns).into_iter();
    levels
        .map(|(column, _)| schema.input_names[column].clone())
        .collect()
}

/// Fails on the first number that is no code of a level of the kernel.
pub fn check_codes(options: &RunOptions, dataset: &Dataset) -> Result<(), DataError> {
    let inputs = &dataset.inputs;
    match impossible_code(
        &kernel(options, &dataset.schema),
        inputs.values(),
        inputs.columns(),
    ) {
        None => Ok(()),
        Some(found) => Err(DataError::Cell(CellError::NotALevel {
            location: dataset.origin.location(found.row),
            name: dataset.input_names()[found.column].clone(),
            value: found.value,
            levels: found.levels,
        })),
    }
}

/// The standardizer that leaves codes and known terms unchanged, makes an unknown level of missing codes, and
/// standardizes columns alike that the kernel compares.
pub fn keeping_levels(
    mut standardizer: Standardizer,
    dataset: &Dataset,
    options: &RunOptions,
) -> Standardizer {
    let columns: Vec<usize> = (0..standardizer.input_scale.len()).collect();
    let kernel = kernel(options, &dataset.schema);
    for group in kernel.equal_columns(&columns) {
        standardizer.share_units(dataset, &group);
    }
    for code in kernel.code_columns(&columns) {
        standardizer.keep_codes(code);
    }
    for (level, _) in kernel.level_columns(&columns) {
        standardizer.fill_with_unknown_level(dataset, level);
    }
    for offset in dataset.schema.offset_inputs() {
        standardizer.keep_offset(offset);
    }
    standardizer
}

fn kernel(options: &RunOptions, schema: &Schema) -> KernelConfig {
    let kernel = options.kernel.clone().unwrap_or_default().config(false);
    on_kernel_inputs(kernel, schema)
}
