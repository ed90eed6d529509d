//! Random numbers as tensors.

use burn::tensor::{Tensor, TensorCreationOptions, TensorData};
use rand::{Rng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

/// Independent standard normals.
pub(crate) fn normals<const D: usize>(
    shape: [usize; D],
    random: &mut ChaCha8Rng,
    options: impl Into<TensorCreationOptions>,
) -> Tensor<D> {
    let values = standard_normals(shape.iter().product(), random);
    Tensor::from_data(TensorData::new(values, shape), options)
}

/// Independent standard normals from any generator.
pub(crate) fn normals_of<const D: usize>(
    shape: [usize; D],
    random: &mut impl Rng,
    options: impl Into<TensorCreationOptions>,
) -> Tensor<D> {
    let count = shape.iter().product();
    let values: Vec<f64> = StandardNormal.sample_iter(random).take(count).collect();
    Tensor::from_data(TensorData::new(values, shape), options)
}

/// Standard normals.
///
/// Compiled once, in this crate. Inlined into generic code, the generator would be compiled with the calling
/// crate, and without optimization it is twenty times slower there.
#[inline(never)]
pub(crate) fn standard_normals(count: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    StandardNormal.sample_iter(random).take(count).collect()
}
