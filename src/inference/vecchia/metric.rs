//! The metric in which neighbors are chosen.

use std::sync::Arc;

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};

use super::cache::NeighborCache;
use crate::{
    kernels::{Kernel, Structure},
    neighbors::{CoordinateError, Coordinates, NeighborSets},
    ops::{NotPositiveDefinite, number, numbers},
    parameter::vector,
};

/// Neighbors are chosen again if the ratio of two scales has moved by this factor. They depend on ratios only.
const MOVED: f64 = 1.1;

/// The scales of the inputs, `[D]`. They are in the record, so that a resumed run has the same neighbors, and are
/// not trained.
#[derive(Module, Debug)]
pub struct Metric {
    scales: Param<Tensor<1>>,
    #[module(skip)]
    known: NeighborCache,
}

impl Metric {
    /// The metric of a kernel.
    pub fn new(kernel: &dyn Kernel, dimensions: usize, options: TensorCreationOptions) -> Self {
        let scales = vector(&metric_of(kernel, dimensions), options);
        Self {
            scales: Param::from_tensor(scales).set_require_grad(false),
            known: NeighborCache::default(),
        }
    }

    /// Takes the metric of a kernel if the ratio of two scales differs by a tenth or more, and returns whether it
    /// does.
    pub fn update(&mut self, kernel: &dyn Kernel) -> bool {
        let old = self.scales.val();
        let [dimensions] = old.dims();
        let scales = metric_of(kernel, dimensions);
        let has_moved = self.has_moved(&scales);
        if has_moved {
            let scales = vector(&scales, (&old.device(), old.dtype()));
            self.scales = Param::initialized(self.scales.id, scales.set_require_grad(false));
        }
        has_moved
    }

    /// The nearest `count` rows before each row of inputs, `[N, D]`.
    ///
    /// # Errors
    ///
    /// When an input is not finite: the variance of its row is NaN.
    pub fn neighbors(
        &self,
        inputs: &Tensor<2>,
        count: usize,
    ) -> Result<Arc<NeighborSets>, NotPositiveDefinite> {
        let coordinates = coordinates(inputs, &numbers(self.scales.val()));
        let coordinates = coordinates.map_err(|error| NotPositiveDefinite {
            batch: error.row,
            pivot: 0,
            size: 1,
            jitter: 0.0,
            smallest_diagonal: f64::NAN,
            largest_diagonal: f64::NAN,
            dtype: inputs.dtype(),
        })?;
        Ok(self.known.neighbors(coordinates, count))
    }

    fn has_moved(&self, scales: &[f64]) -> bool {
        let old = numbers(self.scales.val());
        // Inputs without influence have scales of zero, whose ratio is no number.
        let ratios = scales.iter().zip(old).map(|(new, old)| new / old);
        let [least, most] = ratios.fold([f64::INFINITY, 0.0], |[least, most], ratio| {
            [ratio.min(least), ratio.max(most)]
        });
        most >= MOVED * least
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
/// parts that have lengthscales, all scales are one. Inputs on which a kernel does not act have the scale zero.
pub fn metric_of(kernel: &dyn Kernel, dimensions: usize) -> Vec<f64> {
    if let Structure::ActiveDimensions(base, active) = kernel.structure() {
        return spread(&metric_of(base, active.len()), active, dimensions);
    }
    let Some((weight, squares)) = weighted_squares(kernel, dimensions) else {
        return vec![1.0; dimensions];
    };
    squares
        .iter()
        .map(|square| (square / weight).sqrt())
        .collect()
}

/// The values of the `active` ones of `dimensions` dimensions, and zero for the others.
fn spread(values: &[f64], active: &[usize], dimensions: usize) -> Vec<f64> {
    let mut all = vec![0.0; dimensions];
    for (value, &dimension) in values.iter().zip(active) {
        all[dimension] = *value;
    }
    all
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
        Structure::ActiveDimensions(base, active) => {
            let (weight, squares) = weighted_squares(base, active.len())?;
            Some((weight, spread(&squares, active, dimensions)))
        }
        Structure::General => {
            let scales = kernel.input_scales(dimensions)?;
            let variance = scales.variance;
            let squares = scales.lengthscales.iter();
            let squares = squares.map(|lengthscale| variance / lengthscale.powi(2));
            Some((variance, squares.collect()))
        }
    }
}

/// Whether covariances depend on differences of the `dimensions` inputs only.
pub fn is_stationary(kernel: &dyn Kernel, dimensions: usize) -> bool {
    match kernel.structure() {
        Structure::Stationary(_) => true,
        Structure::Sum(first, second) => {
            is_stationary(first, dimensions) && is_stationary(second, dimensions)
        }
        Structure::Scaled(base, _) => is_stationary(base, dimensions),
        Structure::ActiveDimensions(base, active) => is_stationary(base, active.len()),
        Structure::General => kernel.input_scales(dimensions).is_some(),
    }
}
