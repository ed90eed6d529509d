//! Initial variances at the scale of the targets.

use burn::tensor::Tensor;

use crate::{kernels::FunctionPrior, ops::number};

/// Model and target variances within this factor of each other count as close.
const FAR: f64 = 1e3;

/// The variance of the functions is averaged over at most this many rows.
const ROWS: usize = 1024;

/// The power of ten by which the standard deviation of the targets exceeds the initial one of a model with this
/// kernel and noise variance, to rescale the model by.
///
/// It is zero if the variance of the model, functions plus noise, is within a factor of a thousand of the
/// variance of the targets, or if the likelihood has no noise variance. Otherwise variances and their lower
/// bounds are multiplied by the power of 100 nearest to the ratio of the two. Training then takes the same steps
/// whatever the unit of the targets.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`, `targets`: `[N, P]`
pub fn decades_to_targets(
    kernel: &impl FunctionPrior,
    noise: Option<f64>,
    (inputs, targets): (&Tensor<2>, &Tensor<2>),
) -> i64 {
    let [rows, _] = inputs.dims();
    let some = inputs.clone().inner().narrow(0, 0, rows.min(ROWS));
    let variance = kernel.valid().mean_variance(some);
    match variance.zip(noise) {
        Some((variance, noise)) => decades(variance + noise, variance_of(targets)),
        None => 0,
    }
}

/// The variance of the targets, averaged over columns.
fn variance_of(targets: &Tensor<2>) -> f64 {
    let targets = targets.clone().inner();
    let centered = targets.clone() - targets.mean_dim(0);
    // Divide by the largest value first, since squares of tiny numbers underflow in single
    // precision.
    let largest = number(centered.clone().abs().max());
    if largest == 0.0 || !largest.is_finite() {
        return 0.0;
    }
    let squares = number((centered * largest.recip()).square().mean());
    squares * largest.powi(2)
}

/// The power of ten by which the standard deviation of the targets exceeds that of the model; zero
/// if they are close.
fn decades(own: f64, targets: f64) -> i64 {
    let ratio = targets / own;
    if !(ratio > 0.0 && ratio.is_finite()) || (FAR.recip()..=FAR).contains(&ratio) {
        return 0;
    }
    (0.5 * ratio.log10()).round() as i64
}

#[cfg(test)]
mod tests {
    use super::decades;

    #[test]
    fn near_scales_have_no_decades_between_them() {
        assert_eq!(decades(1.1, 1.0), 0);
        assert_eq!(decades(1.1, 999.0), 0);
        assert_eq!(decades(1.1, 0.002), 0);
        assert_eq!(decades(1.1, 1e-8), -4);
        assert_eq!(decades(1.1, 1e8), 4);
        assert_eq!(decades(1.1e-8, 1e-8), 0);
        // Constant targets, and no targets.
        assert_eq!(decades(1.1, 0.0), 0);
        assert_eq!(decades(1.1, f64::NAN), 0);
    }
}
