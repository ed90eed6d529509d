//! The operations of a step that no algorithm avoids.

use super::rows::{Row, Variant};

/// Twice the number of multiply-adds that no algorithm avoids.
///
/// - Whitened: a Cholesky factorization, a triangular solve and a triangular product, and about
///   twice that in the backward pass.
/// - Unwhitened: also `L⁻¹W` for the factor W of the covariance, and twice that in the backward pass.
/// - Natural gradients: also `Wᵀ·∂ℓ/∂W`, a factorization and a solve, all of triangles.
/// - Orthogonal: the same for both sets; also a solve for the covariances between the sets, half a
///   product for the remainder of the second set's own covariances, and a whole one for those with
///   the data.
pub fn operations(row: &Row) -> f64 {
    let (b, m) = (row.batch as f64, row.inducing as f64);
    let cube = m * m * m;
    let whitened = cube / 3.0 + 2.0 * m * m * b + (cube + 4.0 * m * m * b);
    match row.variant {
        Variant::Whitened => whitened,
        Variant::Unwhitened | Variant::Natural => whitened + cube,
        Variant::Orthogonal => {
            let between = 2.0 * cube + 2.0 * m * m * b;
            2.0 * whitened + 3.0 * between
        }
    }
}
