//! Helpers shared by likelihoods with mean `exp(f)`.

use core::f64::consts::PI;

use burn::tensor::Tensor;

use crate::{
    ops::{exp_minus_one, stirling_remainder},
    process::Marginals,
};

/// Mean and variance of `y`, given its conditional mean `exp f` and its conditional variance
/// `linear·exp f + square·exp 2f`.
pub(super) fn predict(marginals: Marginals, linear: f64, square: Option<Tensor<2>>) -> Marginals {
    let Marginals { mean, variance } = marginals;
    // E[exp 2f]/E[exp f]² − 1
    let growth = exp_minus_one(variance.clone());
    let growth = match square {
        Some(square) => (growth.clone() + 1.0) * square + growth,
        None => growth,
    };
    let mean = (variance * 0.5 + mean).exp();
    // Multiply in this order: the square of the mean alone may overflow.
    let spread = growth * mean.clone() * mean.clone();
    let variance = if linear == 0.0 {
        spread
    } else {
        spread + mean.clone() * linear
    };
    Marginals { mean, variance }
}

/// `e^{d + a} − 1 − d`. For a = 0 it vanishes to second order in d. `log p(y | f)` of counts and
/// positive numbers is a multiple of it plus a constant, with `d` the difference between `f` and
/// `log y`.
pub(super) fn excess<const D: usize>(
    difference: Tensor<D>,
    addend: Option<Tensor<D>>,
) -> Tensor<D> {
    let exponent = match addend {
        Some(addend) => difference.clone() + addend,
        None => difference.clone(),
    };
    exp_minus_one(exponent) - difference
}

/// `log Γ(x) − x·log x + x = ½·log(2π/x) + R(x)` for positive x, with R the remainder of Stirling's
/// formula.
pub(super) fn log_gamma_beyond_powers<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    (x.clone().log().neg() + (2.0 * PI).ln()) * 0.5 + stirling_remainder(x)
}
