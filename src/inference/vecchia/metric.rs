//! The metric in which neighbors are chosen.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use crate::{
    kernels::{Kernel, Structure},
    neighbors::{CoordinateError, Coordinates},
    ops::{number, numbers},
    parameter::vector,
};

/// Neighbors are chosen again if the ratio of two scales has moved by this factor. They depend on ratios only.
const MOVED: f64 = 1.1;

/// The scales of the inputs, `[D]`. They are in the record, so that a resumed run has the same neighbors, and are
/// not trained.
#[derive(Module, Debug)]
pub struct Metric {
    scales: Param<Tensor<1>>,
}

impl Metric {
    pub fn new(scales: &[f64], options: TensorCreationOptions) -> Self {
        let scales = vector(scales, options);
        Self {
            scales: Param::from_tensor(scales).set_require_grad(false),
        }
    }

    /// The metric with other scales, on the same device.
    pub fn replaced(&self, scales: &[f64]) -> Self {
        let old = self.scales.val();
        let id = self.scales.id;
        let scales = vector(scales, (&old.device(), old.dtype()));
        Self {
            scales: Param::initialized(id, scales.set_require_grad(false)),
        }
    }

    pub fn dimensions(&self) -> usize {
        let [dimensions] = self.scales.val().dims();
        dimensions
    }

    /// Whether the ratio of two scales differs by a tenth or more.
    pub fn has_moved(&self, scales: &[f64]) -> bool {
        let old = numbers(self.scales.val());
        let ratios = scales.iter().zip(old).map(|(new, old)| new / old);
        let [least, most] = ratios.fold([f64::INFINITY, 0.0], |[least, most], ratio| {
            [ratio.min(least), ratio.max(most)]
        });
        most >= MOVED * least
    }

    /// Inputs, `[N, D]`, times the scales.
    ///
    /// # Errors
    ///
    /// When an input is not finite.
    pub fn coordinates(&self, inputs: &Tensor<2>) -> Result<Coordinates, CoordinateError> {
        coordinates(inputs, &numbers(self.scales.val()))
    }
}

/// Inputs, `[N, D]`, times the scales of a metric.
///
/// # Errors
///
/// When an input is not finite.
pub fn coordinates(inputs: &Tensor<2>, scales: &[f64]) -> Result<Coordinates, CoordinateError> {
    let mut values = numbers(inputs.clone().without_autodiff());
    for row in values.chunks_exact_mut(scales.len()) {
        row.iter_mut()
            .zip(scales)
            .for_each(|(x, scale)| *x *= scale);
    }
    Coordinates::new(values, scales.len())
}

/// The scales `1/ℓ` of the inputs in a kernel, `[D]`. In a sum, `1/ℓ²` is averaged with the variances of the
/// stationary parts, as in the second derivatives of a sum of squared-exponential kernels at zero. Without
/// stationary parts, all scales are one.
pub fn metric_of(kernel: &dyn Kernel, dimensions: usize) -> Vec<f64> {
    let Some((weight, squares)) = weighted_squares(kernel, dimensions) else {
        return vec![1.0; dimensions];
    };
    squares
        .iter()
        .map(|square| (square / weight).sqrt())
        .collect()
}

/// The sum of the variances of the stationary parts, and of their variances times `1/ℓ²`, `[D]`.
fn weighted_squares(kernel: &dyn Kernel, dimensions: usize) -> Option<(f64, Vec<f64>)> {
    match kernel.structure() {
        Structure::Stationary(parameters) => {
            let lengthscales = numbers(parameters.lengthscales);
            let variance = number(parameters.variance);
            let squares = lengthscales.iter().cycle().take(dimensions);
            let squares = squares.map(|lengthscale| variance / lengthscale.powi(2));
            Some((variance, squares.collect()))
        }
        Structure::Sum(first, second) => {
            let parts = [first, second].map(|part| weighted_squares(part, dimensions));
            parts
                .into_iter()
                .flatten()
                .reduce(|(weight, squares), (other, others)| {
                    let sums = squares.iter().zip(others).map(|(a, b)| a + b);
                    (weight + other, sums.collect())
                })
        }
        Structure::Scaled(base, scale) => {
            let (weight, squares) = weighted_squares(base, dimensions)?;
            let scale = number(scale);
            let scaled = squares.iter().map(|square| scale * square);
            Some((scale * weight, scaled.collect()))
        }
        Structure::General => None,
    }
}

/// Whether covariances depend on differences of inputs only.
pub fn is_stationary(kernel: &dyn Kernel) -> bool {
    match kernel.structure() {
        Structure::Stationary(_) => true,
        Structure::Sum(first, second) => is_stationary(first) && is_stationary(second),
        Structure::Scaled(base, _) => is_stationary(base),
        Structure::General => false,
    }
}
