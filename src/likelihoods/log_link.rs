//! What likelihoods with the mean `exp(f)` share.

use burn::tensor::Tensor;

use super::Marginals;

/// `E[exp f] = exp(μ + σ²/2)` and `E[exp 2f] = exp(2μ + 2σ²)`, each `[N, P]`.
pub(super) fn moments_of_exponential(marginals: Marginals) -> (Tensor<2>, Tensor<2>) {
    let Marginals { mean, variance } = marginals;
    let first = (variance.clone() * 0.5 + mean.clone()).exp();
    let second = ((variance + mean) * 2.0).exp();
    (first, second)
}

/// Mean and variance of `y` whose mean is `exp f` and whose variance, given `f`, is
/// `linear·exp f + square·exp 2f`.
pub(super) fn predict(marginals: Marginals, linear: f64, square: Tensor<2>) -> Marginals {
    let growth = marginals.variance.clone().exp() - 1.0; // E[exp 2f]/E[exp f]² − 1
    let (mean, second) = moments_of_exponential(marginals);
    let spread = mean.clone().square() * growth;
    Marginals {
        variance: spread + second * square + mean.clone() * linear,
        mean,
    }
}
