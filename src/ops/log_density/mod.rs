//! The log-density of Gaussian data under a dense covariance matrix.

mod backward;
mod cpu;
#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{Backend, Dispatch, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

use super::cholesky::{Jitter, NotPositiveDefinite, check, may_wait};

/// Backend implementation of the log-density.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cube"),
    Remote: cfg(feature = "remote"),
)]
pub trait LogDensityOps: Backend {
    /// `Σ_p log N(r_p | 0, K)`, `[1]`, for R, [N, P]; the status of the factorization, [1, 4]; and,
    /// for the backward pass, the factor of K and `α = K⁻¹R`.
    fn gaussian_log_density(
        covariance: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        jitter: Jitter,
    ) -> (
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
    );
}

/// Gradients of the log-density.
pub trait LogDensityBackward: LogDensityOps {
    /// The gradients of the covariance, `½g·(ααᵀ − P·K⁻¹)` plus the contribution of the jitter to
    /// the diagonal, and of the residual, `−g·α`, from the status, the factor and α. Each is
    /// computed only if needed.
    fn gaussian_log_density_backward(
        saved: [FloatTensor<Self>; 3],
        gradient: FloatTensor<Self>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<Self>>; 2];
}

/// `Σ_p log N(r_p | 0, K) = −½‖L⁻¹R‖² − P·(½log|K| + ½N·log 2π)` with `LLᵀ = K`. Only the lower
/// triangle of K is read.
///
/// Its gradients are `K̄ = ½(ααᵀ − P·K⁻¹)` and `R̄ = −α` with `α = K⁻¹R`: N³/6 multiply-adds
/// forward and N³/3 backward, whereas the gradients of a [`CholeskyFactor`](super::CholeskyFactor)
/// take N³ backward.
///
/// # Shapes
///
/// - `covariance` (K): `[N, N]`
/// - `residual` (R): `[N, P]`
/// - result: `[1]`
///
/// # Errors
///
/// [`NotPositiveDefinite`] when K has no factor even with the largest jitter. NaN always fails. On
/// GPUs with autodiff there is no error and the density is NaN, as in
/// [`cholesky`](super::cholesky()).
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn gaussian_log_density(
    covariance: Tensor<2>,
    residual: Tensor<2>,
    jitter: Jitter,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let ([rows, columns], given) = (covariance.dims(), residual.dims());
    assert!(
        rows == columns && rows == given[0],
        "gaussian_log_density: covariance {:?}, residual {given:?}; expected [N, N] and [N, P]",
        [rows, columns]
    );
    let (dtype, waits) = (covariance.dtype(), may_wait(&covariance));
    let (density, status, ..) = <Dispatch as LogDensityOps>::gaussian_log_density(
        covariance.into_dispatch(),
        residual.into_dispatch(),
        jitter,
    );
    if waits {
        check(Tensor::from_dispatch(status), rows, dtype)?;
    }
    Ok(Tensor::from_dispatch(density))
}
