//! Codes of levels among the inputs.

use burn_gp_core::kernels::KernelConfig;

/// An input that is none of the codes of levels that the kernel reads there.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "input {value} in row {row}, column {column} is no code of a level: the kernel has {levels} levels there, with \
     the codes 0 to {}",
    levels - 1
)]
pub struct ImpossibleCode {
    /// The zero-based row.
    pub row: usize,
    /// The zero-based column.
    pub column: usize,
    /// The value found.
    pub value: f64,
    /// The number of levels of the kernel.
    pub levels: usize,
}

/// The first input that is no code of a level where the kernel has a number of levels: a whole number from 0 to one
/// less than that. Inputs that are NaN are missing.
///
/// ```
/// use burn_gp_core::kernels::{IndexConfig, KernelConfig};
/// use burn_gp_models::impossible_code;
///
/// let kernel = KernelConfig::from(IndexConfig::new(3).with_dimension(1));
/// assert_eq!(impossible_code(&kernel, &[0.5, 2.0, 0.5, f64::NAN], 2), None);
/// let found = impossible_code(&kernel, &[0.5, 2.0, 0.5, 1.5], 2);
/// assert_eq!(found.map(|found| (found.row, found.column, found.levels)), Some((1, 1, 3)));
/// assert!(impossible_code(&kernel, &[0.5, 3.0], 2).is_some());
/// ```
///
/// # Shapes
///
/// - `inputs`: `[N, D]`, row-major, with D `columns`
pub fn impossible_code(
    kernel: &KernelConfig,
    inputs: &[f64],
    columns: usize,
) -> Option<ImpossibleCode> {
    let all: Vec<usize> = (0..columns).collect();
    let counted = kernel.level_columns(&all).into_iter();
    let counted: Vec<(usize, usize)> = counted
        .filter_map(|(column, levels)| Some((column, levels?)))
        .collect();
    inputs
        .chunks_exact(columns.max(1))
        .enumerate()
        .find_map(|(row, inputs)| {
            let is_code = |value: f64, levels: usize| {
                value.is_nan() || (value.fract() == 0.0 && (0.0..levels as f64).contains(&value))
            };
            let found = counted
                .iter()
                .find(|&&(column, levels)| !is_code(inputs[column], levels))?;
            Some(ImpossibleCode {
                row,
                column: found.0,
                value: inputs[found.0],
                levels: found.1,
            })
        })
}
