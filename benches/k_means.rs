//! The time that `k_means` takes to choose inducing points, compared with the same algorithm in plain loops.
//!
//! `cargo bench --bench k_means` prints one line of JSON per row on generated
//! inputs: the seconds of both and their ratio. The loops compute every distance from differences,
//! sixteen centers at once, on the same number of threads. They must find the same centers to the
//! last bit, or the benchmark fails. With a data set and a number of centers as arguments, as in
//! `-- mnist 750`, the inputs are the training rows of the first split of that set, from the folder
//! `BURN_GP_DATA`.

use std::{error::Error, time::Instant};

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::inducing::k_means;
use burn_gp_datasets::DataSource;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
use rayon::prelude::*;

#[path = "../cli/src/allocator.rs"]
mod allocator;

const SEED: u64 = 0;

/// The number of inputs that one thread processes at a time.
const PART: usize = 512;

/// The number of centers compared at once.
const LANES: usize = 16;

/// N, D, M; small enough that the loops do not take minutes.
const ROWS: [(usize, usize, usize); 4] = [
    (50_000, 2, 500),
    (50_000, 8, 500),
    (50_000, 64, 500),
    (10_000, 784, 250),
];

fn main() -> Result<(), Box<dyn Error>> {
    allocator::keep_freed_pages();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [name, centers] => {
            let centers = centers.parse()?;
            let (inputs, dimensions) = training_inputs(name)?;
            report(&inputs, dimensions, centers)?;
        }
        _ => {
            for (count, dimensions, centers) in ROWS {
                report(&generated_inputs(count, dimensions), dimensions, centers)?;
            }
        }
    }
    Ok(())
}

/// The training inputs of the first split of a registered data set, unscaled, [N, D], and D.
fn training_inputs(name: &str) -> Result<(Vec<f32>, usize), Box<dyn Error>> {
    let folder = std::env::var_os("BURN_GP_DATA").map(std::path::PathBuf::from);
    let source = DataSource::resolve(name, folder.as_deref())?;
    let dataset = source.load(None)?;
    let split = source.mask(dataset.rows())?.split(0)?;
    let inputs = dataset.inputs.select(&split.train);
    let values = inputs.values().iter().map(|&value| value as f32).collect();
    Ok((values, inputs.columns()))
}

fn report(inputs: &[f32], dimensions: usize, count: usize) -> Result<(), Box<dyn Error>> {
    let rows = inputs.len() / dimensions;
    let tensor = Tensor::<2>::from_data(
        TensorData::new(inputs.to_vec(), [rows, dimensions]),
        (&Device::flex(), DType::F32),
    );
    let start = Instant::now();
    let ours = k_means(tensor, count, SEED)?;
    let seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let centers = Loops::new(inputs, dimensions).k_means(count);
    let centers = centers.ok_or("the loops have no row to draw, because of rounding")?;
    let loops = start.elapsed().as_secs_f64();
    let centers: Vec<f32> = centers.into_iter().map(|value| value as f32).collect();
    let ours: Vec<f32> = ours.into_data().iter::<f32>().collect();
    assert!(ours == centers, "the loops find different centers");
    println!(
        "{{\"inputs\": {rows}, \"dimensions\": {dimensions}, \"centers\": {count}, \
         \"seconds\": {seconds:.3}, \"loops_seconds\": {loops:.3}, \"ratio\": {:.2}}}",
        loops / seconds
    );
    Ok(())
}

/// Uniform inputs in the unit cube, [N, D].
fn generated_inputs(count: usize, dimensions: usize) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    (0..count * dimensions).map(|_| random.random()).collect()
}

/// The algorithm in plain loops, with every distance from differences.
struct Loops {
    values: Vec<f64>,
    dimensions: usize,
    random: ChaCha8Rng,
}

impl Loops {
    fn new(inputs: &[f32], dimensions: usize) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut order: Vec<usize> = (0..inputs.len() / dimensions).collect();
        order.shuffle(&mut random);
        let values = (order.iter())
            .flat_map(|&row| &inputs[row * dimensions..][..dimensions])
            .map(|&value| f64::from(value))
            .collect();
        Self {
            values,
            dimensions,
            random,
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.dimensions..][..self.dimensions]
    }

    fn k_means(mut self, count: usize) -> Option<Vec<f64>> {
        self.values.truncate(256 * count * self.dimensions);
        let seeds = self.seeds(count)?;
        let mut centers: Vec<f64> = (seeds.iter())
            .flat_map(|&row| self.row(row))
            .copied()
            .collect();
        let mut last = f64::INFINITY;
        for _ in 0..30 {
            let sum_of_squares = self.round(&mut centers);
            if sum_of_squares >= last * (1.0 - 1e-4) {
                break;
            }
            last = sum_of_squares;
        }
        Some(centers)
    }

    fn seeds(&mut self, count: usize) -> Option<Vec<usize>> {
        let rows = self.values.len() / self.dimensions;
        let mut distances = vec![f64::INFINITY; rows];
        let mut seeds = vec![self.random.random_range(0..rows)];
        while seeds.len() < count {
            let center = self.row(seeds[seeds.len() - 1]);
            let sums: Vec<f64> = (distances.par_chunks_mut(PART))
                .zip(self.values.par_chunks(PART * self.dimensions))
                .map(|(distances, values)| {
                    let rows = values.chunks_exact(self.dimensions);
                    for (distance, row) in distances.iter_mut().zip(rows) {
                        *distance = distance.min(squared_distance(row, center));
                    }
                    distances.iter().sum()
                })
                .collect();
            seeds.push(self.draw(&distances, &sums)?);
        }
        Some(seeds)
    }

    /// A random row with probability proportional to its weight, where the weights are summed in
    /// parts. `None` if rounding leaves no weight.
    fn draw(&mut self, weights: &[f64], sums: &[f64]) -> Option<usize> {
        let mut left = self.random.random::<f64>() * sums.iter().sum::<f64>();
        let within = (sums.iter()).position(|&sum| {
            let within = left < sum;
            left -= if within { 0.0 } else { sum };
            within
        })?;
        let part = weights.chunks(PART).nth(within)?;
        let row = part.iter().position(|&weight| {
            left -= weight;
            left < 0.0
        });
        Some(within * PART + row?)
    }

    /// One iteration of Lloyd's algorithm. Returns the sum of squared distances before the
    /// iteration.
    fn round(&self, centers: &mut [f64]) -> f64 {
        let blocks = blocks(centers, self.dimensions);
        let nearest: Vec<Vec<(usize, f64)>> = (self.values.par_chunks(PART * self.dimensions))
            .map(|values| {
                let rows = values.chunks_exact(self.dimensions);
                rows.map(|row| nearest(row, &blocks)).collect()
            })
            .collect();
        let mut sums = vec![0.0; centers.len()];
        let mut sizes = vec![0; centers.len() / self.dimensions];
        let mut sum_of_squares = 0.0;
        let rows = self.values.chunks_exact(self.dimensions);
        for (row, (center, distance)) in rows.zip(nearest.into_iter().flatten()) {
            let sums = &mut sums[center * self.dimensions..][..self.dimensions];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
            sizes[center] += 1;
            sum_of_squares += distance;
        }
        let sums = sums.chunks_exact(self.dimensions);
        let centers = centers.chunks_exact_mut(self.dimensions);
        for ((center, sums), &size) in centers.zip(sums).zip(&sizes) {
            // Only the library handles centers that lose all their inputs.
            assert!(size > 0, "a cluster has lost all its inputs");
            for (value, sum) in center.iter_mut().zip(sums) {
                *value = sum / f64::from(size);
            }
        }
        sum_of_squares
    }
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The centers coordinate by coordinate in blocks of [`LANES`]. The last block is padded with
/// points at infinity: [⌈M/LANES⌉, D].
fn blocks(centers: &[f64], dimensions: usize) -> Vec<Vec<[f64; LANES]>> {
    (centers.chunks(LANES * dimensions))
        .map(|centers| {
            let mut block = vec![[f64::INFINITY; LANES]; dimensions];
            for (lane, center) in centers.chunks_exact(dimensions).enumerate() {
                for (coordinates, &value) in block.iter_mut().zip(center) {
                    coordinates[lane] = value;
                }
            }
            block
        })
        .collect()
}

/// The nearest center and its squared distance. Ties go to the first center.
fn nearest(row: &[f64], blocks: &[Vec<[f64; LANES]>]) -> (usize, f64) {
    let mut best = [f64::INFINITY; LANES];
    let mut best_block = [0usize; LANES];
    for (index, block) in blocks.iter().enumerate() {
        let mut distances = [0.0; LANES];
        for (&value, coordinates) in row.iter().zip(block) {
            for lane in 0..LANES {
                let difference = value - coordinates[lane];
                distances[lane] += difference * difference;
            }
        }
        for lane in 0..LANES {
            let closer = distances[lane] < best[lane];
            best[lane] = if closer { distances[lane] } else { best[lane] };
            best_block[lane] = if closer { index } else { best_block[lane] };
        }
    }
    (0..LANES)
        .map(|lane| (best_block[lane] * LANES + lane, best[lane]))
        .fold((0, f64::INFINITY), |first, second| {
            let closer = second.1 < first.1 || (second.1 == first.1 && second.0 < first.0);
            if closer { second } else { first }
        })
}
