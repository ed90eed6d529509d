//! The operations of [`burn_gp_core::ops`]. A test fails if one is not called here.

mod covariances;
mod factors;
mod kronecker;
mod moments;
mod products;
mod special;

use super::{Case, Group, Harness, Reason};

/// The number of matrices in a batch.
const BATCH: usize = 3;

/// Sizes that are not multiples of a tile: rows, columns, right-hand sides.
const SIZES: [usize; 3] = [37, 53, 21];

pub(super) fn cases() -> Vec<Case> {
    let groups = [
        products::cases(),
        factors::cases(),
        kronecker::cases(),
        covariances::cases(),
        moments::cases(),
        special::cases(),
    ];
    groups.into_iter().flatten().collect()
}

fn case(
    name: &str,
    compute: impl Fn(&mut Harness) -> Result<(), Reason> + Send + Sync + 'static,
) -> Case {
    Case::compare(Group::Operation, name, compute)
}

/// A case that cannot fail on flex.
fn exact(name: &str, compute: impl Fn(&mut Harness) + Send + Sync + 'static) -> Case {
    case(name, move |harness| {
        compute(harness);
        Ok(())
    })
}

/// Lower triangles with a positive diagonal and zeros above it, row-major.
fn triangles(harness: &mut Harness, batch: usize, size: usize) -> Vec<f64> {
    let mut values = harness.normals(batch * size * size);
    let shrink = (size as f64).sqrt().recip();
    for (index, value) in values.iter_mut().enumerate() {
        let (row, column) = (index / size % size, index % size);
        *value = match column {
            column if column < row => *value * shrink,
            column if column == row => 1.0 + 0.3 * value.abs(),
            _ => 0.0,
        };
    }
    values
}

/// Symmetric positive-definite matrices `GGᵀ/M + I/10`, row-major.
fn definite(harness: &mut Harness, batch: usize, size: usize) -> Vec<f64> {
    let roots = harness.normals(batch * size * size);
    let matrix = |root: &[f64]| -> Vec<f64> {
        let rows: Vec<&[f64]> = root.chunks(size).collect();
        let entry = |(i, j): (usize, usize)| {
            let product: f64 = rows[i].iter().zip(rows[j]).map(|(a, b)| a * b).sum();
            product / size as f64 + if i == j { 0.1 } else { 0.0 }
        };
        let places = (0..size).flat_map(|i| (0..size).map(move |j| (i, j)));
        places.map(entry).collect()
    };
    roots.chunks(size * size).flat_map(matrix).collect()
}
