//! Gaussians with covariance `ΛᵀΛ + σ²I`, computed from `B = I + σ⁻²ΛΛᵀ`. Its eigenvalues are at
//! least one, so it needs no jitter.

use core::f64::consts::PI;

use burn::tensor::Tensor;

use crate::{
    ops::{
        CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, add_to_diagonal, cholesky, gram,
    },
    process::VariationalGaussian,
};

/// `B = I + σ⁻²ΛΛᵀ`.
pub(in crate::inference) fn precision(squares: Tensor<2>, noise: Tensor<1>) -> Tensor<2> {
    let one = Tensor::ones([1], (&squares.device(), squares.dtype()));
    add_to_diagonal(squares / noise.reshape([1, 1]), one)
}

/// `b = B⁻¹Λy/σ²`, [M, P].
pub(in crate::inference) fn posterior_mean(
    precision_factor: &CholeskyFactor<2>,
    projected: Tensor<2>,
    noise: Tensor<1>,
) -> Tensor<2> {
    let half = precision_factor.solve(projected / noise.reshape([1, 1]));
    precision_factor.solve_transposed(half)
}

/// `Σ_p log N(y_p | 0, ΛᵀΛ + σ²I)`, computed from `B = I + σ⁻²ΛΛᵀ`:
/// `log|ΛᵀΛ + σ²I| = log|B| + N·log σ²`, and `yᵀ(ΛᵀΛ + σ²I)⁻¹y = min_b ‖y − Λᵀb‖²/σ² + ‖b‖²`. This
/// is a sum of squares; Woodbury's identity would subtract two numbers that are almost equal if the
/// fit is good.
///
/// # Shapes
///
/// - `features` (Λ): `[M, N]`, `targets` (y): `[N, P]`, `noise` (σ²): `[1]`
/// - result: `[1]`
pub(in crate::inference) fn low_rank_log_density(
    features: Tensor<2>,
    targets: Tensor<2>,
    noise: Tensor<1>,
) -> Result<Tensor<1>, NotPositiveDefinite> {
    let squares = gram(features.clone()); // [M, M]
    let precision_factor = cholesky(precision(squares, noise.clone()), Jitter::NONE)?;
    // At the minimum, the derivative with respect to b is zero, so no gradient needs to flow
    // through b.
    let projected = features
        .clone()
        .inner()
        .exact_matmul(targets.clone().inner());
    let fitted = posterior_mean(
        &precision_factor.clone().inner(),
        projected,
        noise.clone().inner(),
    ); // b, [M, P]
    let error = targets - features.transpose().exact_matmul(fitted.clone()); // [N, P]
    let penalty = fitted.square().sum();
    let log_determinant = precision_factor.log_determinant();
    Ok(log_density_of_fit(error, penalty, log_determinant, noise))
}

/// `−½·[Σ_p ‖e_p‖²/σ² + ‖b‖² + P·(log|B| + N·log 2πσ²)]`: the log density given a fit b with errors
/// e.
///
/// # Shapes
///
/// - `error` (e): `[N, P]`, `penalty` (‖b‖²), `log_determinant` (log|B|), `noise` (σ²): `[1]`
/// - result: `[1]`
pub(in crate::inference) fn log_density_of_fit(
    error: Tensor<2>,
    penalty: Tensor<1>,
    log_determinant: Tensor<1>,
    noise: Tensor<1>,
) -> Tensor<1> {
    let [rows, outputs] = error.dims();
    let squares = error.square().sum() / noise.clone() + penalty;
    let normalizer = log_determinant + (noise.log() + (2.0 * PI).ln()) * rows as f64;
    (squares + normalizer * outputs as f64) * -0.5
}

/// `N(b_p, B⁻¹)` with the lower-triangular factor of `B⁻¹`. Its parameters are detached, and on an
/// autodiff device if `autodiff` is true.
///
/// # Shapes
///
/// - `mean` (b): `[M, P]`, `precision` (B): `[M, M]`, both on the device without autodiff
pub(in crate::inference) fn optimal_gaussian(
    mean: Tensor<2>,
    precision: Tensor<2>,
    autodiff: bool,
) -> Result<VariationalGaussian, NotPositiveDefinite> {
    let ([size, outputs], options) = (mean.dims(), (&mean.device(), mean.dtype()));
    // Reverse rows and columns with J: JBJ = RRᵀ gives B⁻¹ = (JR⁻ᵀJ)(JR⁻ᵀJ)ᵀ, and JR⁻ᵀJ is lower
    // triangular. The transposed inverse of B's own factor would not be.
    let reversed = cholesky(precision.flip([0, 1]), Jitter::NONE)?;
    let identity = Tensor::<2>::eye(size, options.0).cast(options.1);
    let scale = reversed.solve_transposed(identity).flip([0, 1]); // [M, M]
    let scale = scale.unsqueeze::<3>().repeat_dim(0, outputs);
    let mean = mean.transpose(); // [P, M]
    Ok(if autodiff {
        VariationalGaussian::full(mean.autodiff(), scale.autodiff())
    } else {
        VariationalGaussian::full(mean, scale)
    })
}
