//! Labels 0 … C − 1.

use burn::tensor::{Int, Tensor};
use rand::{Rng, RngExt};

use crate::parameter::ParameterError;

/// One-hot encodes the labels: `[N, P]` to `[N, C·P]`, class by class.
pub(super) fn indicators(labels: Tensor<2>, classes: usize) -> Tensor<2> {
    let (device, dtype) = (labels.device(), labels.dtype());
    let [rows, outputs] = labels.dims();
    let numbers = Tensor::<1, Int>::arange(0..classes as i64, &device);
    let own = numbers
        .reshape([1, classes, 1])
        .equal(labels.int().unsqueeze_dim::<3>(1)); // [N, C, P]
    own.float().cast(dtype).reshape([rows, classes * outputs])
}

/// Draws a label with the given probabilities, which must sum to one.
pub(super) fn draw_label(probabilities: &[f64], random: &mut dyn Rng) -> f64 {
    let uniform: f64 = random.random();
    let mut sum = 0.0;
    let passed = probabilities.iter().take_while(|&&probability| {
        sum += probability;
        sum <= uniform
    });
    passed.count().min(probabilities.len() - 1) as f64
}

/// Checks a number of classes.
///
/// # Errors
///
/// If there are fewer than two.
pub(super) fn two_or_more(classes: usize) -> Result<(), ParameterError> {
    let bounds = (1.0, f64::INFINITY);
    ParameterError::check_between("likelihood.classes", classes as f64, bounds)
}
