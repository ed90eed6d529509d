//! An order of rows that does not depend on where they are in their table.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::Coordinates;

/// The rows, sorted by their first coordinate, then by their second, and so on. Equal rows keep their order.
pub fn sorted_rows(coordinates: &Coordinates) -> Vec<usize> {
    // The first coordinate decides most comparisons without an access to the table.
    let mut rows: Vec<(f64, u32)> = (0..coordinates.rows())
        .map(|row| (coordinates.row(row)[0], row as u32))
        .collect();
    rows.par_sort_unstable_by(|(first_a, a), (first_b, b)| {
        first_a
            .total_cmp(first_b)
            .then_with(|| compare(coordinates.row(*a as usize), coordinates.row(*b as usize)))
            .then(a.cmp(b))
    });
    rows.into_iter().map(|(_, row)| row as usize).collect()
}

/// Compares two points by the first coordinate that differs.
fn compare(a: &[f64], b: &[f64]) -> Ordering {
    let differences = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    differences.fold(Ordering::Equal, Ordering::then)
}
