//! Measures the log density of nearest-neighbor (Vecchia) regression against two references of the same run.
//!
//! `cargo bench --bench vecchia` prints one line of JSON per precision, for Matérn-3/2 with two lengthscales, 100 000
//! random points of the plane and 30 neighbors. It contains the seconds to order the points and to find neighbors,
//! of the log density alone, and of the log density with its gradient. `of_exponentials` is the ratio of the last to
//! the time that all threads need for the exponentials of its covariances. `of_batched` is its ratio to the same
//! log density by batched operations on 2048 rows at a time, with a factorization and solves of each matrix;
//! they are timed on some rows. `-- POINTS NEIGHBORS` runs other sizes.

use std::{error::Error, hint::black_box, time::Instant};

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_gp_core::{
    inference::{Vecchia, VecchiaSettings},
    kernels::{Kernel, StationaryKernel},
    likelihoods::Gaussian,
    means::ZeroMean,
    neighbors::{Coordinates, NeighborSets, NeighborTree, Ordering, Scale},
    ops::{Jitter, Stationary, add_to_diagonal, cholesky, profile_rate},
    rand::{RngExt, SeedableRng, rngs::ChaCha8Rng},
};

#[path = "../cli/src/allocator.rs"]
mod allocator;
mod arguments;

const KIND: Stationary = Stationary::Matern32;
const LENGTHSCALES: [f64; 2] = [0.1, 0.2];
const NOISE: f64 = 0.05;

/// N and m
const POINTS: usize = 100_000;
const NEIGHBORS: usize = 30;

/// Rows of a batch of the reference, and the number of batches that are timed.
const BATCH: usize = 2048;
const BATCHES: usize = 4;

/// Repetitions, of which the fastest counts.
const REPETITIONS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let given = arguments::numbers()?;
    let points = given.first().copied().unwrap_or(POINTS);
    let neighbors = given.get(1).copied().unwrap_or(NEIGHBORS);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let values: Vec<f64> = (0..2 * points).map(|_| random.random()).collect();
    let (coordinates, [ordering, searching], sets) = arranged(values, neighbors)?;
    for dtype in [DType::F64, DType::F32] {
        let device = Device::flex().autodiff();
        let options = (&device, dtype);
        let data = TensorData::new(coordinates.values().to_vec(), [points, 2]);
        let inputs = Tensor::<2>::from_data(data, options);
        let targets = (inputs.clone() * 9.0).sum_dim(1).sin(); // [N, 1]
        let kernel = StationaryKernel::new(KIND, &LENGTHSCALES, 1.0, options);
        let noise = Gaussian::new(NOISE, options);
        let settings = VecchiaSettings::default().with_neighbors(neighbors);
        let model = Vecchia::new(kernel.clone(), ZeroMean::new(1), noise, 2, settings);
        let [plain_inputs, plain_targets] =
            [&inputs, &targets].map(|tensor| tensor.clone().inner());
        let plain = burn::module::Module::valid(&model);
        // The first evaluation finds the neighbors, which stay known.
        plain.full_objective(plain_inputs.clone(), plain_targets.clone())?;
        let density = fastest(|| {
            let value = plain.full_objective(plain_inputs.clone(), plain_targets.clone())?;
            Ok(black_box(value.into_scalar::<f64>()))
        })?;
        let gradient = fastest(|| {
            let value = model.full_objective(inputs.clone(), targets.clone())?;
            black_box(&value.backward());
            Ok(0.0)
        })?;
        let size = neighbors + 1;
        let exponentials = (points * size * (size + 1) / 2) as f64 / profile_rate(KIND, dtype);
        let batched = batched(&kernel, (&plain_inputs, &plain_targets), &sets)?;
        let name = dtype.name();
        println!(
            "{{\"points\": {points}, \"neighbors\": {neighbors}, \"dtype\": \"{name}\", \
             \"order_seconds\": {ordering:.2}, \"neighbor_seconds\": {searching:.2}, \
             \"density_seconds\": {density:.3}, \"gradient_seconds\": {gradient:.3}, \
             \"of_exponentials\": {:.2}, \"of_batched\": {:.4}}}",
            gradient / exponentials,
            gradient / batched,
        );
    }
    Ok(())
}

/// The points in maximin order with their neighbors, and the seconds for both.
fn arranged(
    values: Vec<f64>,
    neighbors: usize,
) -> Result<(Coordinates, [f64; 2], NeighborSets), Box<dyn Error>> {
    let given = Coordinates::new(values, 2)?;
    let begin = Instant::now();
    let coordinates = given.select(&Ordering::Maximin.rows(&given, 0));
    let ordering = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    let scaled = coordinates.values().chunks_exact(2);
    let scaled = scaled.flat_map(|x| [x[0] / LENGTHSCALES[0], x[1] / LENGTHSCALES[1]]);
    let tree = NeighborTree::new(&Coordinates::new(scaled.collect(), 2)?);
    let sets = tree.previous(0..coordinates.rows(), &[Scale::nearest(neighbors)]);
    let searching = begin.elapsed().as_secs_f64();
    Ok((coordinates, [ordering, searching], sets))
}

/// The seconds of the fastest of several repetitions.
fn fastest(run: impl Fn() -> Result<f64, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let begin = Instant::now();
        run()?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// The seconds of the log density and its gradient by batched operations, from those of the last rows.
fn batched(
    kernel: &StationaryKernel,
    (inputs, targets): (&Tensor<2>, &Tensor<2>),
    sets: &NeighborSets,
) -> Result<f64, Box<dyn Error>> {
    let (rows, width) = (sets.rows(), sets.width());
    let batch = BATCH.min(rows / BATCHES).max(1);
    let size = width + 1;
    let begin = Instant::now();
    for part in 0..BATCHES {
        let first = rows - (part + 1) * batch;
        let own = |row: usize| {
            sets.indices()[row * width..][..width]
                .iter()
                .copied()
                .chain([row as u32])
        };
        let index: Vec<i64> = (first..first + batch)
            .flat_map(own)
            .map(i64::from)
            .collect();
        let index = Tensor::<1, Int>::from_data(index.as_slice(), &inputs.device());
        let points = inputs
            .clone()
            .select(0, index.clone())
            .reshape([batch, size, 2])
            .autodiff();
        let targets = targets
            .clone()
            .select(0, index)
            .reshape([batch, size, 1])
            .autodiff();
        let noise = Tensor::<1>::full([batch], NOISE, (&points.device(), points.dtype()));
        let factor = cholesky(add_to_diagonal(kernel.matrix(points), noise), Jitter::NONE)?;
        // The last entry of L⁻¹y is e/√d, and the last pivot √d.
        let whitened = factor.solve(targets).narrow(1, width, 1);
        let lower = factor.lower().narrow(1, width, 1).narrow(2, width, 1);
        let density = (whitened.square() * 0.5 + lower.log()).sum();
        black_box(&density.backward());
    }
    Ok(begin.elapsed().as_secs_f64() * rows as f64 / (BATCHES * batch) as f64)
}
