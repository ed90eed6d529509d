//! The distance between the spans of two sets of actions.

use burn::tensor::Tensor;
use faer::{Mat, MatRef};

use crate::ops::numbers;

/// The distance between two spans on the Grassmann manifold: `‖θ‖₂` of the principal angles
/// `θ_i = arccos σ_i(Q₁ᵀQ₂)`, with orthonormal bases Q of the columns (J. Wenger et al.,
/// *Computation-Aware Gaussian Processes: Model Selection And Linear-Time Inference*,
/// arXiv:2411.01036, Section 4). It is zero for equal spans and `√I·π/2` for orthogonal ones. In
/// double precision it is accurate to about 1e-7, the accuracy of the arccosine near one.
///
/// # Shapes
///
/// - `first`: `[N, I]`, `second`: `[N, J]`, with independent columns; there are `min(I, J)` angles
///
/// The result is NaN if an entry is NaN.
///
/// # Panics
///
/// If the columns differ in length, or if there are more columns than rows.
#[track_caller]
pub fn grassmann_distance(first: Tensor<2>, second: Tensor<2>) -> f64 {
    let (shape, other) = (first.dims(), second.dims());
    assert!(
        shape[0] == other[0] && shape[0] >= shape[1].max(other[1]),
        "columns {shape:?} and {other:?}; expected equally many rows and no more columns than rows"
    );
    let cosines = orthonormal(first).transpose() * orthonormal(second);
    let angles = |cosines: Vec<f64>| {
        let squares = cosines.iter().map(|cosine| cosine.min(1.0).acos().powi(2));
        squares.sum::<f64>().sqrt()
    };
    cosines.singular_values().map_or(f64::NAN, angles)
}

/// An orthonormal basis of the span of the columns.
fn orthonormal(columns: Tensor<2>) -> Mat<f64> {
    let [rows, count] = columns.dims();
    let values = numbers(columns);
    let matrix = MatRef::from_row_major_slice(&values, rows, count);
    matrix.qr().compute_thin_Q()
}
