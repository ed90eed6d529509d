//! The log-density of Gaussian data under a dense covariance matrix.

mod cpu;
#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{AutodiffBackend, Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    backward::{record, split},
    cholesky::{Jitter, NotPositiveDefinite, check, may_wait},
    cpu::is_on_cpu,
    declaration::operations,
};

operations! {
    /// Backend implementation of the log-density.
    trait LogDensityOps on devices {
        /// `Σ_p log N(r_p | 0, K)`, `[1]`, for R, [N, P]; the status of the factorization, [1, 4]; and,
        /// for the backward pass, the factor of K and `α = K⁻¹R`. On the CPU also for a batch, `[B]`.
        fn gaussian_log_density(covariance, residual; jitter: Jitter)
            -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>)
            = (vector(covariance, members(covariance)), status(covariance), like(covariance), like(residual)),
            {
                let ([covariance, residual], nodes) = split::<B, C, _>([covariance, residual]);
                let (density, status, factor, weights) =
                    B::gaussian_log_density(covariance, residual, jitter);
                let saved = [status, factor, weights];
                let density = record::<B, C, _, _>(
                    nodes,
                    saved.clone(),
                    density,
                    |saved, gradient, wanted| {
                        B::gaussian_log_density_backward(saved, gradient, wanted)
                    },
                );
                let [status, factor, weights] = saved.map(Self::from_inner);
                (density, status, factor, weights)
            };
    } backward {
        /// The gradients of the covariance, `½g·(ααᵀ − P·K⁻¹)` plus the contribution of the jitter to
        /// the diagonal, and of the residual, `−g·α`, from the status, the factor and α. Each is
        /// computed only if needed.
        fn gaussian_log_density_backward([status, factor, weights], gradient; wanted: [bool; 2])
            -> [Option<FloatTensor<Self>>; 2] = wanted_of([factor, weights], wanted);
    }
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
    densities(covariance, residual, jitter)
}

/// [`gaussian_log_density`] for each of B covariance matrices with residuals of its own.
///
/// # Shapes
///
/// - `covariances` (K): `[B, N, N]`
/// - `residuals` (R): `[B, N, P]`
/// - result: `[B]`
///
/// # Errors
///
/// [`NotPositiveDefinite`] when one of the matrices has no factor even with the largest jitter, as in
/// [`gaussian_log_density`].
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn gaussian_log_densities(
    covariances: Tensor<3>,
    residuals: Tensor<3>,
    jitter: Jitter,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let ([batch, rows, columns], given) = (covariances.dims(), residuals.dims());
    assert!(
        rows == columns && given[..2] == [batch, rows],
        "gaussian_log_densities: covariances {:?}, residuals {given:?}; expected [B, N, N] and \
         [B, N, P]",
        covariances.dims()
    );
    if is_on_cpu(&covariances) {
        return densities(covariances, residuals, jitter);
    }
    // On GPUs one after the other.
    let each = (0..batch).map(|index| {
        let own = |all: &Tensor<3>| all.clone().narrow(0, index, 1).squeeze_dim::<2>(0);
        gaussian_log_density(own(&covariances), own(&residuals), jitter)
    });
    Ok(Tensor::cat(each.collect::<Result<Vec<_>, _>>()?, 0))
}

/// The log density of every member of a batch, `[B]`, or of a single covariance matrix, `[1]`.
fn densities<const D: usize>(
    covariance: Tensor<D>,
    residual: Tensor<D>,
    jitter: Jitter,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let (rows, dtype) = (covariance.dims()[D - 1], covariance.dtype());
    let waits = may_wait(&covariance);
    let (density, status, ..) = <Dispatch as Dispatched>::gaussian_log_density(
        covariance.into_dispatch(),
        residual.into_dispatch(),
        jitter,
    );
    if waits {
        check(Tensor::from_dispatch(status), rows, dtype)?;
    }
    Ok(Tensor::from_dispatch(density))
}
