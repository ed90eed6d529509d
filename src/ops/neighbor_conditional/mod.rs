//! Conditional distributions of rows given their neighbors, the building block of Vecchia approximations.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod tile;

use burn::{
    backend::{AutodiffBackend, Dispatch, tensor::FloatTensor},
    tensor::{DType, Tensor},
};

use super::{
    backward::{record, split},
    cholesky::{Jitter, NotPositiveDefinite, check, cholesky, may_wait},
    cpu::is_on_cpu,
    declaration::operations,
};
pub(super) use tile::{Attempts, factor, failed_pivot, solve, solve_transposed, triangle};

operations! {
    /// Backend implementation of the conditional distributions.
    trait NeighborConditionalOps on devices {
        /// `(b, d)`, [B, q], for `b = A⁻¹k` and `d = κ − kᵀb`, from `[A, k; kᵀ, κ]`, [B, q, q]; and the status
        /// of the factorizations of A, [B, 4].
        fn neighbor_conditional(matrix; jitter: Jitter) -> (FloatTensor<Self>, FloatTensor<Self>)
            = (shaped(matrix, [outer(matrix), columns(matrix)]), status(matrix)),
            {
                let ([matrix], nodes) = split::<B, C, _>([matrix]);
                let (conditional, status) = B::neighbor_conditional(matrix.clone(), jitter);
                let saved = [matrix, conditional.clone(), status.clone()];
                let conditional = record::<B, C, _, _>(
                    nodes,
                    saved,
                    conditional,
                    |saved: [FloatTensor<B>; 3], gradient, _| {
                        [Some(B::neighbor_conditional_backward(saved, gradient))]
                    },
                );
                (conditional, Self::from_inner(status))
            };
    } backward {
        /// The gradient of the matrix, from those of `(b, d)`.
        fn neighbor_conditional_backward([matrix, conditional, status], gradient) -> FloatTensor<Self>
            = like(matrix);
    }
}

/// The conditional distributions of rows given their neighbors: with the covariance `A` of the neighbors, their
/// covariances `k` with the row and the variance `κ` of the row, `f | f_c ~ N(bᵀf_c, d)` where `b = A⁻¹k` and
/// `d = κ − kᵀb`.
///
/// Every Vecchia approximation consists of these (A. Vecchia, *Estimation and model identification for
/// continuous spatial processes*, 1988; M. Katzfuss and J. Guinness, *A General Framework for Vecchia
/// Approximations of Gaussian Processes*, arXiv:1708.06302, eq. 6). For `v = (−b; 1)` and `γ = (A⁻¹b̄; 0)` the
/// gradient is a matrix of rank two, `K̄ = d̄·vvᵀ + ½(γvᵀ + vγᵀ)`, without the backward pass of a factorization.
/// On the CPU, one matrix is in each lane of the vector registers. On GPUs, one launch handles all matrices, each in
/// the shared memory of one cube; matrices with more than 88 rows (61 in double precision) do not fit, and are left
/// to a batched factorization and solves.
///
/// A row with fewer neighbors than others is padded: a neighbor with variance one and without covariances has
/// the weight zero.
///
/// # Shapes
///
/// - `matrix`: `[B, q, q]`, with the row itself last, of which the lower triangles are read; `q ≥ 1`
/// - result: the weights b, `[B, q − 1]`, and the variances d, `[B]`. Rounding can make a variance negative.
///
/// # Errors
///
/// [`NotPositiveDefinite`] when the covariance of some row's neighbors has no factor even with the largest
/// jitter; its batch member is the row. As for [`cholesky`](super::cholesky()), a GPU with autodiff reports no
/// error: weights and variance of a failed row are NaN.
///
/// # Panics
///
/// If the matrices are not square.
#[track_caller]
pub fn neighbor_conditional(
    matrix: Tensor<3>,
    jitter: Jitter,
) -> Result<(Tensor<2>, Tensor<1>), NotPositiveDefinite> {
    let [rows, size, columns] = matrix.dims();
    assert!(
        size == columns && size > 0,
        "neighbor_conditional: expected matrices [B, q, q], got [{rows}, {size}, {columns}]"
    );
    let neighbors = size - 1;
    if rows == 0 || neighbors == 0 {
        let options = (&matrix.device(), matrix.dtype());
        let variance = match rows {
            0 => Tensor::zeros([0], options),
            _ => matrix.reshape([rows]),
        };
        return Ok((Tensor::zeros([rows, neighbors], options), variance));
    }
    let dtype = matrix.dtype();
    if !is_on_cpu(&matrix) && size > largest_on_device(dtype) {
        return composed(matrix, jitter);
    }
    let waits = may_wait(&matrix);
    let (conditional, status) =
        <Dispatch as Dispatched>::neighbor_conditional(matrix.into_dispatch(), jitter);
    if waits {
        check(Tensor::from_dispatch(status), neighbors, dtype)?;
    }
    let conditional = Tensor::<2>::from_dispatch(conditional);
    let weights = conditional.clone().narrow(1, 0, neighbors);
    Ok((weights, conditional.narrow(1, neighbors, 1).squeeze_dim(1)))
}

/// The largest matrices of which 16 KiB, the shared memory of every GPU, hold the triangle and two more rows.
fn largest_on_device(dtype: DType) -> usize {
    match dtype {
        DType::F64 => 61,
        _ => 88,
    }
}

/// The same by other operations: with `A = LLᵀ` and `l = L⁻¹k`, `b = L⁻ᵀl` and `d = κ − lᵀl`.
fn composed(
    matrix: Tensor<3>,
    jitter: Jitter,
) -> Result<(Tensor<2>, Tensor<1>), NotPositiveDefinite> {
    let [rows, size, _] = matrix.dims();
    let last = size - 1;
    let covariance = matrix.clone().narrow(1, 0, last).narrow(2, 0, last);
    let own = matrix.narrow(1, last, 1); // (kᵀ, κ), [B, 1, q]
    let cross = own.clone().narrow(2, 0, last).transpose(); // [B, q − 1, 1]
    let variance = own.narrow(2, last, 1).reshape([rows]);
    let factor = cholesky(covariance, jitter)?;
    let whitened = factor.solve(cross);
    let explained = whitened.clone().square().sum_dim(1).reshape([rows]);
    let weights = factor.solve_transposed(whitened).reshape([rows, last]);
    Ok((weights, variance - explained))
}
