//! Some columns of a covariance matrix.

use burn::tensor::{IndexingUpdateOp, Int, Tensor};

use super::{Kernel, Structure};

/// Selected columns of [`Kernel::matrix`], without computing the others.
///
/// # Shapes
///
/// - `x`: `[B, N, D]`, `columns`: `[C]`
/// - result: `[B, N, C]`
pub fn matrix_columns(kernel: &dyn Kernel, x: Tensor<3>, columns: Tensor<1, Int>) -> Tensor<3> {
    let chosen = x.clone().select(1, columns.clone()); // [B, C, D]
    let covariance = kernel.covariance(x, chosen.clone()); // [B, N, C]
    if let Structure::Stationary(_) = kernel.structure() {
        return covariance;
    }
    // Other kernels may have an extra diagonal term.
    let [batch, _, count] = covariance.dims();
    let diagonal = columns.unsqueeze::<3>().expand([batch, 1, count]);
    let variances = kernel.diagonal(chosen).unsqueeze_dim::<3>(1); // [B, 1, C]
    let missing = variances - covariance.clone().gather(1, diagonal.clone());
    covariance.scatter(1, diagonal, missing, IndexingUpdateOp::Add)
}
