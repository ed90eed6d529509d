//! Distinct rows of a table.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
};

/// The index of the first occurrence of each distinct row.
///
/// # Shapes
///
/// - `values`: `[N, D]`, row-major, all finite; `dimensions`: D
/// - result: ascending
pub fn distinct_rows(values: &[f64], dimensions: usize) -> Vec<usize> {
    let first = first_equal_rows(values, dimensions);
    (first.into_iter().enumerate())
        .filter(|(row, first)| row == first)
        .map(|(row, _)| row)
        .collect()
}

/// The index of the first row that is equal, for each row.
///
/// # Shapes
///
/// - `values`: `[N, D]`, row-major, all finite; `dimensions`: D
/// - result: N
pub(crate) fn first_equal_rows(values: &[f64], dimensions: usize) -> Vec<usize> {
    let mut seen = HashMap::with_capacity(values.len() / dimensions);
    (values.chunks_exact(dimensions).enumerate())
        .map(|(row, own)| *seen.entry(Row(own)).or_insert(row))
        .collect()
}

/// A hashable row of finite numbers. Equal numbers have equal keys.
#[derive(PartialEq)]
struct Row<'a>(&'a [f64]);

impl Eq for Row<'_> {}

impl Hash for Row<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for value in self.0 {
            // Adding zero turns −0 into +0.
            state.write_u64((value + 0.0).to_bits());
        }
    }
}
