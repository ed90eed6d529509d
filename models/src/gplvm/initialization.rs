//! The first values of latent means and lengthscales.

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::AnyKernel,
    means::{Mean, ProjectionMean},
    ops::numbers,
    parameter::Parameters,
};

use crate::training::matrix;

/// A component whose standard deviation is a smaller share of the largest one is rounding.
const LEAST_SHARE: f64 = 1e-6;

/// The largest factor by which the first lengthscale of a component exceeds that of the first component.
const MOST: f64 = 10.0;

/// The first latent means.
pub(super) struct FirstMeans {
    /// [N, Q], on the device without autodiff
    pub means: Tensor<2>,
    /// The standard deviation of each principal component as a share of the largest, [Q].
    pub shares: Vec<f64>,
}

/// The leading principal components of outputs, [N, P], each with mean zero and variance one. Components that the outputs do
/// not have are zero.
pub(super) fn first_means(outputs: &Tensor<2>, dimensions: usize) -> FirstMeans {
    let outputs = outputs.clone().inner();
    let ([rows, _], device, dtype) = (outputs.dims(), outputs.device(), outputs.dtype());
    let projection = ProjectionMean::principal(outputs.clone(), dimensions);
    let mut values = numbers(projection.forward(outputs));
    let moments = |column: usize, values: &[f64]| {
        let own: Vec<f64> = values
            .iter()
            .skip(column)
            .step_by(dimensions)
            .copied()
            .collect();
        let mean = own.iter().sum::<f64>() / rows as f64;
        let squares = own.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, (squares / rows as f64).sqrt())
    };
    let each: Vec<(f64, f64)> = (0..dimensions)
        .map(|column| moments(column, &values))
        .collect();
    let largest = each.iter().map(|own| own.1).fold(0.0, f64::max);
    for (index, value) in values.iter_mut().enumerate() {
        let (mean, deviation) = each[index % dimensions];
        *value = match deviation > LEAST_SHARE * largest {
            true => (*value - mean) / deviation,
            false => 0.0,
        };
    }
    let share = |deviation: f64| match largest > 0.0 {
        true => deviation / largest,
        false => 1.0,
    };
    FirstMeans {
        means: matrix(&values, dimensions, &device, dtype),
        shares: each.into_iter().map(|own| share(own.1)).collect(),
    }
}

/// The kernel with lengthscales divided by the shares, [Q], if there is one for each dimension: a component of small
/// variance has to explain little.
pub(super) fn with_first_lengthscales(kernel: AnyKernel, shares: &[f64]) -> AnyKernel {
    let paths = kernel.parameter_paths();
    let own = |path: &String| path == "lengthscale" || path.ends_with(".lengthscale");
    paths.into_iter().filter(own).fold(kernel, |kernel, path| {
        let Ok(lengths) = kernel.parameter(&path) else {
            return kernel;
        };
        if lengths.len() != shares.len() {
            return kernel;
        }
        let each = lengths.iter().zip(shares);
        let each: Vec<f64> = each
            .map(|(length, share)| length * share.max(MOST.recip()).recip())
            .collect();
        kernel
            .clone()
            .with_parameter(&path, &each)
            .unwrap_or(kernel)
    })
}
