//! Example inputs of the layers before training.

use burn::tensor::{Tensor, TensorData};
use burn_gp_core::{ops::ExactMatmul, patches::PatchGrid};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::index};

/// The number of images that provide patches for initialization, enough to represent all.
const IMAGES: usize = 1000;

/// The number of candidate patches for each initial inducing patch.
const PATCHES_PER_CENTER: usize = 100;

/// A random subset of the rows of a matrix. If there are no more rows than `count`, all of them in
/// order.
pub(super) fn some_rows(rows: Tensor<2>, count: usize, seed: u64) -> Tensor<2> {
    let [available, _] = rows.dims();
    if available <= count {
        return rows;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let chosen = index::sample(&mut random, available, count).into_iter();
    let chosen: Vec<i64> = chosen.map(|row| row as i64).collect();
    let device = rows.device();
    rows.select(0, Tensor::from_data(chosen.as_slice(), &device))
}

/// A random subset of the images for the initialization of a patch layer.
pub(super) fn some_images(images: Tensor<2>, seed: u64) -> Tensor<2> {
    some_rows(images, IMAGES, seed)
}

/// A random subset of patches among which `count` initial inducing patches are chosen.
pub(super) fn some_patches(
    grid: &PatchGrid,
    images: Tensor<2>,
    count: usize,
    seed: u64,
) -> Tensor<2> {
    some_rows(grid.extract(images), count * PATCHES_PER_CENTER, seed)
}

/// `XW` with independent weights, uniform between `±√(6/(D + P))` (X. Glorot and Y. Bengio,
/// *Understanding the Difficulty of Training Deep Feedforward Neural Networks*, 2010). It provides
/// example inputs for the layer after one with a zero mean, because draws from an untrained layer
/// would be noise (J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference for
/// Gaussian Processes*, arXiv:1910.10596, appendix G).
///
/// # Shapes
///
/// - `inputs` (X): `[N, D]`
/// - result: `[N, P]`
pub(super) fn random_projection(inputs: Tensor<2>, outputs: usize, seed: u64) -> Tensor<2> {
    let [_, dimensions] = inputs.dims();
    let bound = (6.0 / (dimensions + outputs) as f64).sqrt();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let weights = (0..dimensions * outputs).map(|_| bound * (2.0 * random.random::<f64>() - 1.0));
    let data = TensorData::new(weights.collect::<Vec<f64>>(), [dimensions, outputs]);
    let weights = Tensor::from_data(data, (&inputs.device(), inputs.dtype()));
    inputs.exact_matmul(weights)
}
