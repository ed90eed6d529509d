//! Inducing points from the centres of clusters.

use burn::tensor::Tensor;
use rand::{RngExt, rngs::ChaCha8Rng};
use rayon::prelude::*;

use super::initialiser::{Candidates, SelectionError, points};

/// Inputs given to one thread at a time. Sums are added up in the order of these parts, so that
/// the result does not depend on the number of threads.
const PART: usize = 512;

/// Centres compared at once.
const LANES: usize = 16;

/// At most this many inputs for each centre are looked at.
const INPUTS_PER_CENTRE: usize = 256;

/// Rounds of Lloyd's algorithm at most.
const ROUNDS: usize = 30;

/// The relative decrease of the sum of squared distances below which a round is the last.
const TOLERANCE: f64 = 1e-4;

/// `count` cluster centres of `inputs`: seeds as in D. Arthur and S. Vassilvitskii, *k-means++: the
/// advantages of careful seeding* (2007), then Lloyd's algorithm.
///
/// More than 256 inputs a centre are first thinned out at random. A cluster that loses all its
/// inputs moves to the input that is furthest from its centre.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`
/// - result: `[M, D]`
///
/// # Errors
///
/// [`SelectionError`] when there are no `count` distinct inputs.
pub fn k_means(inputs: Tensor<2>, count: usize, seed: u64) -> Result<Tensor<2>, SelectionError> {
    let mut candidates = Candidates::new(&inputs, count, seed)?;
    let dimensions = candidates.dimensions;
    let limit = INPUTS_PER_CENTRE * count;
    // The last distinct row that is needed may lie beyond the limit.
    let needed = candidates.distinct[count - 1] + 1;
    candidates.values.truncate(limit.max(needed) * dimensions);
    let Some(seeds) = distant_rows(
        &candidates.values,
        dimensions,
        count,
        &mut candidates.generator,
    ) else {
        // Inputs so close that their squared distances vanish have no clusters.
        return Ok(candidates.points(&candidates.distinct[..count], &inputs));
    };
    let mut centres: Vec<f64> = (seeds.iter())
        .flat_map(|&row| candidates.row(row))
        .copied()
        .collect();
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS {
        let clusters = Clusters::new(&candidates.values, dimensions, &centres);
        clusters.move_centres(&candidates, &mut centres);
        if clusters.sum_of_squares >= last * (1.0 - TOLERANCE) {
            break;
        }
        last = clusters.sum_of_squares;
    }
    Ok(points(centres, dimensions, &inputs))
}

/// Rows drawn one after the other with probability proportional to the squared distance from the
/// nearest one drawn, or nothing if all distances vanish in rounding.
fn distant_rows(
    values: &[f64],
    dimensions: usize,
    count: usize,
    generator: &mut ChaCha8Rng,
) -> Option<Vec<usize>> {
    let rows = values.len() / dimensions;
    let mut chosen = Vec::with_capacity(count);
    let mut distances = vec![f64::INFINITY; rows];
    let mut next = generator.random_range(0..rows);
    loop {
        chosen.push(next);
        if chosen.len() == count {
            return Some(chosen);
        }
        let centre = &values[next * dimensions..][..dimensions];
        let parts: Vec<f64> = (distances.par_chunks_mut(PART))
            .zip(values.par_chunks(PART * dimensions))
            .map(|(distances, values)| {
                for (distance, row) in distances.iter_mut().zip(values.chunks_exact(dimensions)) {
                    *distance = distance.min(squared_distance(row, centre));
                }
                distances.iter().sum()
            })
            .collect();
        next = draw(&distances, &parts, generator)?;
    }
}

/// A row with probability proportional to its weight; `parts` are the sums over parts of rows.
fn draw(weights: &[f64], parts: &[f64], generator: &mut ChaCha8Rng) -> Option<usize> {
    let total: f64 = parts.iter().sum();
    let mut left = generator.random::<f64>() * total;
    let mut last = None;
    for (part, &sum) in parts.iter().enumerate() {
        if sum <= 0.0 {
            continue;
        }
        let weights = &weights[part * PART..weights.len().min((part + 1) * PART)];
        let inside = left < sum;
        for (i, &weight) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0.0)
        {
            last = Some(part * PART + i);
            if inside {
                left -= weight;
                if left < 0.0 {
                    return last;
                }
            }
        }
        if inside {
            return last;
        }
        left -= sum;
    }
    last
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// The inputs by nearest centre.
struct Clusters {
    /// The sums of each cluster's inputs, [M, D].
    sums: Vec<f64>,
    /// How many inputs each cluster has.
    sizes: Vec<usize>,
    /// The squared distance of every input from its centre.
    distances: Vec<f64>,
    /// Their sum.
    sum_of_squares: f64,
}

impl Clusters {
    fn new(values: &[f64], dimensions: usize, centres: &[f64]) -> Self {
        let blocks = blocks(centres, dimensions);
        let nearest: Vec<Vec<(usize, f64)>> = (values.par_chunks(PART * dimensions))
            .map(|values| {
                (values.chunks_exact(dimensions))
                    .map(|row| nearest(row, &blocks))
                    .collect()
            })
            .collect();
        let mut clusters = Self {
            sums: vec![0.0; centres.len()],
            sizes: vec![0; centres.len() / dimensions],
            distances: Vec::with_capacity(values.len() / dimensions),
            sum_of_squares: 0.0,
        };
        for (row, (centre, distance)) in
            (values.chunks_exact(dimensions)).zip(nearest.into_iter().flatten())
        {
            let sums = &mut clusters.sums[centre * dimensions..][..dimensions];
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value;
            }
            clusters.sizes[centre] += 1;
            clusters.distances.push(distance);
            clusters.sum_of_squares += distance;
        }
        clusters
    }

    /// Moves every centre to the mean of its inputs, those without inputs to the inputs furthest
    /// from their centres.
    fn move_centres(&self, candidates: &Candidates, centres: &mut [f64]) {
        let empty = self.sizes.iter().filter(|&&size| size == 0).count();
        let mut furthest: Vec<usize> = Vec::new();
        if empty > 0 {
            // Equal inputs are all as far away: one of them is enough.
            let rows = self.distances.len();
            furthest = (candidates.distinct.iter().copied())
                .filter(|&row| row < rows)
                .collect();
            furthest.sort_by(|&a, &b| self.distances[b].total_cmp(&self.distances[a]));
        }
        let mut furthest = furthest.into_iter();
        let dimensions = candidates.dimensions;
        for (index, centre) in centres.chunks_exact_mut(dimensions).enumerate() {
            if self.sizes[index] > 0 {
                let sums = &self.sums[index * dimensions..][..dimensions];
                for (value, sum) in centre.iter_mut().zip(sums) {
                    *value = sum / self.sizes[index] as f64;
                }
            } else if let Some(row) = furthest.next() {
                centre.copy_from_slice(candidates.row(row));
            }
        }
    }
}

/// Centres coordinate by coordinate in blocks of [`LANES`], the last block filled up with points
/// at infinity: [⌈M/LANES⌉, D].
fn blocks(centres: &[f64], dimensions: usize) -> Vec<Vec<[f64; LANES]>> {
    (centres.chunks(LANES * dimensions))
        .map(|centres| {
            let mut block = vec![[f64::INFINITY; LANES]; dimensions];
            for (lane, centre) in centres.chunks_exact(dimensions).enumerate() {
                for (coordinates, &value) in block.iter_mut().zip(centre) {
                    coordinates[lane] = value;
                }
            }
            block
        })
        .collect()
}

/// The nearest centre and its squared distance; the first one of equally near ones.
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
