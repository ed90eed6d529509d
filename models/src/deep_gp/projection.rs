//! What the inputs of a layer may look like before anything is trained.

use burn::tensor::{Tensor, TensorData};
use burn_gp::patches::PatchGrid;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::index};

/// Images that layers of patches start from: so many show what patches there are.
const IMAGES: usize = 1000;

/// Patches for each inducing patch that its first place is chosen among.
const PATCHES_PER_CENTER: usize = 100;

/// Some rows of a matrix, chosen at random; all of them, in their order, if there are no more.
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

/// Some of the images that a layer of patches starts from.
pub(super) fn some_images(images: Tensor<2>, seed: u64) -> Tensor<2> {
    some_rows(images, IMAGES, seed)
}

/// Some patches of images to choose `count` first inducing patches among.
pub(super) fn some_patches(
    grid: &PatchGrid,
    images: Tensor<2>,
    count: usize,
    seed: u64,
) -> Tensor<2> {
    some_rows(grid.extract(images), count * PATCHES_PER_CENTER, seed)
}

/// `XW` with independent weights, uniform between `±√(6/(D + P))` (X. Glorot and Y. Bengio,
/// *Understanding the Difficulty of Training Deep Feedforward Neural Networks*, 2010): what the
/// inputs of the layer after one without a mean are like, in the place of draws from it, which are
/// noise before training (J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference
/// for Gaussian Processes*, arXiv:1910.10596, appendix G).
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
    inputs.matmul(weights)
}
