//! The log-density of Gaussian data under a dense covariance matrix.

use burn::{backend::Dispatch, tensor::Tensor};

use super::{
    Jitter, NotPositiveDefinite,
    extension::{FactorizationOutcome, LinearAlgebra},
};

/// `Σ_p log N(r_p | 0, K) = −½‖L⁻¹R‖² − P·(½log|K| + ½N·log 2π)` with `LLᵀ = K`, of which the lower
/// triangle is read.
///
/// Its reverse is `K̄ = ½(ααᵀ − P·K⁻¹)` and `R̄ = −α` with `α = K⁻¹R`: N³/6 multiply-adds forward and
/// N³/3 backward, where those of [`CholeskyFactor`](super::CholeskyFactor) take N³ backward.
///
/// # Shapes
///
/// - `covariance` (K): `[N, N]`
/// - `residual` (R): `[N, P]`
/// - result: `[1]`
///
/// # Errors
///
/// [`NotPositiveDefinite`] when K has no factor with the largest jitter; NaN never passes.
///
/// # Panics
///
/// If the shapes are others.
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
    let (dtype, outcome) = (covariance.dtype(), FactorizationOutcome::default());
    let density = <Dispatch as LinearAlgebra>::gaussian_log_density(
        covariance.into_dispatch(),
        residual.into_dispatch(),
        jitter,
        outcome.clone(),
    );
    outcome.check(rows, dtype)?;
    Ok(Tensor::from_dispatch(density))
}
