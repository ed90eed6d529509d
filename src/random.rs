//! Random numbers as tensors.

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

/// Independent standard normals.
pub(crate) fn normals<const D: usize>(
    shape: [usize; D],
    random: &mut impl Rng,
    options: impl Into<TensorCreationOptions>,
) -> Tensor<D> {
    let count = shape.iter().product();
    let values: Vec<f64> = StandardNormal.sample_iter(random).take(count).collect();
    Tensor::from_data(TensorData::new(values, shape), options)
}
