//! Which rows are different.

use std::{
    collections::HashSet,
    hash::{Hash, Hasher},
};

/// The first row of each different one.
///
/// # Shapes
///
/// - `values`: `[N, D]`, row-major, all finite; `dimensions`: D
/// - result: ascending
pub fn distinct_rows(values: &[f64], dimensions: usize) -> Vec<usize> {
    let mut seen = HashSet::with_capacity(values.len() / dimensions);
    (values.chunks_exact(dimensions).enumerate())
        .filter(|(_, row)| seen.insert(Row(row)))
        .map(|(row, _)| row)
        .collect()
}

/// A row as a key: finite numbers, of which equal ones are the same.
#[derive(PartialEq)]
struct Row<'a>(&'a [f64]);

impl Eq for Row<'_> {}

impl Hash for Row<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for value in self.0 {
            // Adding zero makes the two zeros one.
            state.write_u64((value + 0.0).to_bits());
        }
    }
}
