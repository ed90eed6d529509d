//! The Cholesky factorization and quantities computed from the factor; the solves are in
//! [`triangular_solve`](super::triangular_solve).

mod block_factor;
mod blocks;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod diagonal_block;
mod jitter;
mod status;

use burn::{
    backend::{AutodiffBackend, Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    backward::{record, split},
    cpu::is_on_cpu,
    declaration::{dispatch, operations},
};
pub use block_factor::BlockFactor;
pub(crate) use block_factor::factor_rest;
pub(super) use blocks::inverse_from_factor;
pub(super) use cpu::{add_share_of_jitter, jitters, range, write_status};
#[cfg(feature = "cube")]
pub(super) use cube::{
    add_share_of_jitter as add_share_on_device, log_of_diagonal, multiple_of_identity,
};
pub use jitter::Jitter;
pub use status::{NotPositiveDefinite, SingularTriangle};
pub(super) use status::{Status, check};

operations! {
    /// Backend implementation of the factorization. A *factor* is a matrix with L in its lower
    /// triangle; the entries above the diagonal are never read. A *status*, [batch, 4], has a row with
    /// the [`Status`](status::Status) of every matrix.
    trait CholeskyOps on devices {
        /// The factor of `K + jitter·mean(diag K)·I` and its status.
        fn cholesky(matrix; jitter: Jitter) -> (FloatTensor<Self>, FloatTensor<Self>)
            = (like(matrix), status(matrix)),
            {
                let ([matrix], nodes) = split::<B, C, _>([matrix]);
                let (factor, status) = B::cholesky(matrix, jitter);
                let state = [factor.clone(), status.clone()];
                let gradients = |[factor, status]: [FloatTensor<B>; 2], gradient, _| {
                    [Some(B::cholesky_backward(factor, status, gradient))]
                };
                let factor = record::<B, C, _, _>(nodes, state, factor, gradients);
                (factor, Self::from_inner(status))
            };

        /// The factor of `K + jitter·v·I` and its status, with one value v per batch member.
        fn cholesky_scaled(matrix, scales; jitter: Jitter) -> (FloatTensor<Self>, FloatTensor<Self>)
            = (like(matrix), status(matrix)),
            {
                let ([matrix, scales], nodes) = split::<B, C, _>([matrix, scales]);
                let (factor, status) = B::cholesky_scaled(matrix, scales, jitter);
                let state = [factor.clone(), status.clone()];
                let gradients = |[factor, status]: [FloatTensor<B>; 2], gradient, _| {
                    B::cholesky_scaled_backward(factor, status, gradient).map(Some)
                };
                let factor = record::<B, C, _, _>(nodes, state, factor, gradients);
                (factor, Self::from_inner(status))
            };

        /// A factor with the lower triangle of `matrix`, and its status.
        fn factor_from_lower(matrix) -> (FloatTensor<Self>, FloatTensor<Self>)
            = (like(matrix), status(matrix)),
            {
                let ([matrix], nodes) = split::<B, C, _>([matrix]);
                let (factor, status) = B::factor_from_lower(matrix);
                let gradients = |factor, cotangent, _| {
                    [Some(B::factor_from_lower_backward(factor, cotangent))]
                };
                let factor = record::<B, C, _, _>(nodes, factor.clone(), factor, gradients);
                (factor, Self::from_inner(status))
            };

        /// The lower triangle of a factor, with zeros above it.
        fn lower_of_factor(factor) -> FloatTensor<Self> = like(factor),
            |gradient, _| [Some(B::lower_of_factor_backward(factor, gradient))];

        /// `2·Σ log L_ii`, one per batch member.
        fn factor_log_determinant(factor) -> FloatTensor<Self> = vector(factor, members(factor)),
            |gradient, _| [Some(B::factor_log_determinant_backward(factor, gradient))];
    } backward {
        /// `½·L⁻ᵀ(Φ + Φᵀ)L⁻¹`, where `Φ` is the lower triangle of `cotangent` with its diagonal halved,
        /// plus the contribution of the jitter to the diagonal.
        fn cholesky_backward(factor, status, cotangent) -> FloatTensor<Self> = like(factor);

        /// The gradients of K, as above but without the jitter's contribution, and of the scale of the
        /// jitter, `jitter·tr K̄`.
        fn cholesky_scaled_backward(factor, status, cotangent) -> [FloatTensor<Self>; 2]
            = [like(factor), vector(factor, members(factor))];

        /// The lower triangle of `L⁻ᵀΦ`: turns a factor's cotangent back into an ordinary gradient.
        fn factor_from_lower_backward(factor, cotangent) -> FloatTensor<Self> = like(factor);

        /// The lower triangle of `LᵀX`: turns an ordinary gradient into a factor's cotangent.
        fn lower_of_factor_backward(factor, gradient) -> FloatTensor<Self> = like(factor);

        /// The factor's cotangent of the log-determinant: `2g` on the diagonal.
        fn factor_log_determinant_backward(factor, gradient) -> FloatTensor<Self> = like(factor);
    }
}

/// The lower Cholesky factor `L` of `K = L·Lᵀ`, ready for many solves.
///
/// It is not a tensor. In the backward pass its cotangent is kept as the lower triangle of `LᵀL̄`:
/// every use of the factor then costs one triangular product, and all uses together one two-sided
/// solve `K̄ = ½·L⁻ᵀ(Φ + Φᵀ)L⁻¹` (I. Murray, *Differentiation of the Cholesky decomposition*,
/// arXiv:1602.07527, eq. 10). Use [`lower`](Self::lower) to get an ordinary tensor.
#[derive(Clone, Debug)]
pub struct CholeskyFactor<const D: usize> {
    pub(super) triangle: Tensor<D>,
}

/// The Cholesky factor of a symmetric positive-definite matrix with the given jitter. Only the
/// lower triangle is read.
///
/// The gradient of `matrix` through the factor is a symmetric matrix.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`
///
/// # Errors
///
/// [`NotPositiveDefinite`] when a batch member has no factor even with the largest jitter. NaN
/// always fails.
///
/// On a GPU, the error would make the CPU wait for the device. With autodiff, as in a training step, there is
/// no error: the factor of a failed member is all NaN, so the loss and all gradients are NaN. Without
/// autodiff, as in predictions, the error is the same as on the CPU.
///
/// # Panics
///
/// If the matrix is not square.
#[track_caller]
pub fn cholesky<const D: usize>(
    matrix: Tensor<D>,
    jitter: Jitter,
) -> Result<CholeskyFactor<D>, NotPositiveDefinite> {
    let (size, dtype) = (square_size(&matrix, "cholesky"), matrix.dtype());
    let waits = may_wait(&matrix);
    let (factor, status) = cholesky_unchecked(matrix, jitter);
    if waits {
        check(status, size, dtype)?;
    }
    Ok(factor)
}

/// [`cholesky`] without waiting for the device, for training steps on devices without autodiff.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`
/// - second result: the status, one row per batch member, `[batch, 4]`. Its first value is zero if the member
///   has a factor and positive otherwise; the factor is then NaN. Its precision may differ from that of the
///   matrix.
#[track_caller]
pub(crate) fn cholesky_unchecked<const D: usize>(
    matrix: Tensor<D>,
    jitter: Jitter,
) -> (CholeskyFactor<D>, Tensor<2>) {
    square_size(&matrix, "cholesky");
    let (triangle, status) = <Dispatch as Dispatched>::cholesky(matrix.into_dispatch(), jitter);
    let triangle = Tensor::from_dispatch(triangle);
    (CholeskyFactor { triangle }, Tensor::from_dispatch(status))
}

/// Whether an operation on this tensor may wait for its result: always true in CPU memory, and on a GPU only
/// outside training.
pub(crate) fn may_wait<const D: usize>(tensor: &Tensor<D>) -> bool {
    is_on_cpu(tensor) || !tensor.device().is_autodiff()
}

#[track_caller]
fn square_size<const D: usize>(matrix: &Tensor<D>, operation: &str) -> usize {
    let dims = matrix.dims();
    assert!(
        D >= 2 && dims[D - 2] == dims[D - 1],
        "{operation}: expected square matrices [..., M, M], got {dims:?}"
    );
    dims[D - 1]
}

impl<const D: usize> CholeskyFactor<D> {
    /// Uses the lower triangle of `matrix` as the factor.
    ///
    /// # Shapes
    ///
    /// - `matrix`: `[…, M, M]`
    ///
    /// # Errors
    ///
    /// [`SingularTriangle`] when a diagonal entry is zero or not finite. On GPUs with autodiff there
    /// is no error and the factor is NaN, as in [`cholesky`].
    #[track_caller]
    pub fn from_lower(matrix: Tensor<D>) -> Result<Self, SingularTriangle> {
        square_size(&matrix, "CholeskyFactor::from_lower");
        let waits = may_wait(&matrix);
        let (triangle, status) =
            <Dispatch as Dispatched>::factor_from_lower(matrix.into_dispatch());
        let failure = if waits {
            status::first_failure(Tensor::from_dispatch(status))
        } else {
            None
        };
        match failure {
            Some((batch, row, _)) => Err(SingularTriangle { batch, row }),
            None => Ok(Self {
                triangle: Tensor::from_dispatch(triangle),
            }),
        }
    }

    /// The factor as a tensor, for [`from_triangle`](Self::from_triangle).
    pub(crate) fn triangle(&self) -> Tensor<D> {
        self.triangle.clone()
    }

    /// The factor with this [triangle](Self::triangle).
    pub(crate) fn from_triangle(triangle: Tensor<D>) -> Self {
        Self { triangle }
    }

    /// Like [`from_lower`](Self::from_lower), for a triangle assembled from factors, whose
    /// diagonals have no zeros.
    pub(crate) fn from_nonsingular(matrix: Tensor<D>) -> Self {
        let matrix = matrix.into_dispatch();
        let (triangle, _) = <Dispatch as Dispatched>::factor_from_lower(matrix);
        Self {
            triangle: Tensor::from_dispatch(triangle),
        }
    }

    /// The lower-triangular `L`, with zeros above the diagonal, `[…, M, M]`.
    pub fn lower(&self) -> Tensor<D> {
        dispatch!(lower_of_factor(self.triangle.clone()))
    }

    /// `log|K| = 2·Σ_i log|L_ii|`, one per batch member (`[1]` without batch dimensions).
    pub fn log_determinant(&self) -> Tensor<1> {
        dispatch!(factor_log_determinant(self.triangle.clone()))
    }

    /// The same factor detached from the autodiff graph, on the device without autodiff.
    pub fn inner(self) -> Self {
        Self {
            triangle: self.triangle.inner(),
        }
    }
}

impl CholeskyFactor<3> {
    /// The factor of one batch member.
    pub fn member(&self, index: usize) -> CholeskyFactor<2> {
        CholeskyFactor {
            triangle: self.triangle.clone().narrow(0, index, 1).squeeze_dim(0),
        }
    }
}
