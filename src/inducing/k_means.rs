//! Inducing points from k-means cluster centers.

use burn::tensor::Tensor;
use rand::{RngExt, rngs::ChaCha8Rng};

use super::initializer::{Candidates, SelectionError, points};
use crate::ops::{
    cpu::{in_parts, threads},
    nearest::{SUMMED, lower_distances, nearest},
    with_threads_awake,
};

/// The maximum number of inputs used per center.
const INPUTS_PER_CENTER: usize = 256;

/// The number of parts of the centers per thread.
const PARTS_PER_THREAD: usize = 8;

/// The number of inputs that one thread groups by center at a time.
const GROUPED: usize = 1024;

/// Threads stay awake between passes if the number of coordinates times the number of centers is at
/// least this.
const AWAKE_FROM: usize = 1 << 22;

/// The maximum number of iterations of Lloyd's algorithm.
const ROUNDS: usize = 30;

/// The iteration ends when the relative decrease of the sum of squared distances falls below this.
const TOLERANCE: f64 = 1e-4;

/// `count` cluster centers of `inputs`: initial centers from D. Arthur and S. Vassilvitskii,
/// *k-means++: the advantages of careful seeding* (2007), followed by Lloyd's algorithm.
///
/// If there are more than 256 inputs per center, a random subset is used. A cluster that loses all
/// its inputs moves to the input that is farthest from its center.
///
/// # Shapes
///
/// - `inputs`: `[N, D]`
/// - result: `[M, D]`
///
/// # Errors
///
/// [`SelectionError`] when there are fewer than `count` distinct inputs.
pub fn k_means(inputs: Tensor<2>, count: usize, seed: u64) -> Result<Tensor<2>, SelectionError> {
    let mut candidates = Candidates::new(&inputs, count, seed)?;
    let dimensions = candidates.dimensions;
    let limit = INPUTS_PER_CENTER * count;
    // Keep enough rows for `count` distinct ones, even if that exceeds the limit.
    let needed = candidates.distinct[count - 1] + 1;
    candidates.values.truncate(limit.max(needed) * dimensions);
    let work = candidates.values.len() * count;
    let mut cluster = || cluster_centers(&mut candidates, count);
    // There are hundreds of passes over the inputs, and most take no longer than waking a thread.
    let centers = if work < AWAKE_FROM {
        cluster()
    } else {
        with_threads_awake(cluster)
    };
    Ok(match centers {
        Some(centers) => points(centers, dimensions, &inputs),
        // The inputs are so close that their squared distances vanish, so there are no clusters.
        None => candidates.points(&candidates.distinct[..count], &inputs),
    })
}

/// The centers of `count` clusters, or `None` if all distances vanish by rounding.
fn cluster_centers(candidates: &mut Candidates, count: usize) -> Option<Vec<f64>> {
    let dimensions = candidates.dimensions;
    let seeds = distant_rows(
        &candidates.values,
        dimensions,
        count,
        &mut candidates.generator,
    )?;
    let mut centers: Vec<f64> = (seeds.iter())
        .flat_map(|&row| candidates.row(row))
        .copied()
        .collect();
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS {
        let clusters = Clusters::new(&candidates.values, dimensions, &centers);
        clusters.move_centers(candidates, &mut centers);
        if clusters.sum_of_squares >= last * (1.0 - TOLERANCE) {
            break;
        }
        last = clusters.sum_of_squares;
    }
    Some(centers)
}

/// Draws rows one by one, with probability proportional to the squared distance from the nearest
/// row drawn so far. Returns `None` if all distances vanish by rounding.
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
        let seed = &values[next * dimensions..][..dimensions];
        let parts = lower_distances(&mut distances, values, seed);
        next = draw(&distances, &parts, generator)?;
    }
}

/// Draws a row with probability proportional to its weight; `parts` are the sums over parts of the
/// rows.
fn draw(weights: &[f64], parts: &[f64], generator: &mut ChaCha8Rng) -> Option<usize> {
    let total: f64 = parts.iter().sum();
    let mut left = generator.random::<f64>() * total;
    let mut last = None;
    for (part, &sum) in parts.iter().enumerate() {
        if sum <= 0.0 {
            continue;
        }
        let weights = &weights[part * SUMMED..weights.len().min((part + 1) * SUMMED)];
        let inside = left < sum;
        for (i, &weight) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0.0)
        {
            last = Some(part * SUMMED + i);
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

/// The inputs grouped by nearest center.
struct Clusters {
    /// The clusters of every [`GROUPED`] inputs in turn.
    groups: Vec<Group>,
    /// The nearest center of every input, with the squared distance from it.
    nearest: Vec<(usize, f64)>,
    /// The sum of the squared distances.
    sum_of_squares: f64,
}

/// Consecutive inputs, ordered by nearest center.
#[derive(Clone, Default)]
struct Group {
    /// The rows, in ascending order for each center.
    rows: Vec<usize>,
    /// Where the rows of each center end.
    ends: Vec<usize>,
    sum_of_squares: f64,
}

impl Group {
    /// Counts the rows of each of `count` centers, and puts each row in its place.
    fn new(nearest: &[(usize, f64)], first: usize, count: usize) -> Self {
        let mut ends = vec![0; count];
        for &(center, _) in nearest {
            ends[center] += 1;
        }
        let mut place = 0;
        for end in &mut ends {
            (*end, place) = (place, place + *end);
        }
        let mut rows = vec![0; nearest.len()];
        for (row, &(center, _)) in nearest.iter().enumerate() {
            rows[ends[center]] = first + row;
            ends[center] += 1;
        }
        Self {
            rows,
            ends,
            sum_of_squares: nearest.iter().map(|(_, distance)| distance).sum(),
        }
    }

    /// The rows of a center.
    fn members(&self, center: usize) -> &[usize] {
        let start = center.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.rows[start..self.ends[center]]
    }
}

impl Clusters {
    fn new(values: &[f64], dimensions: usize, centers: &[f64]) -> Self {
        let nearest = nearest(values, centers, dimensions);
        let count = centers.len() / dimensions;
        // The number of groups does not depend on the number of threads, so neither do the sums.
        let mut groups = vec![Group::default(); nearest.len().div_ceil(GROUPED)];
        let parts = groups.len();
        in_parts(&mut groups, 1, parts, &|groups, first| {
            for (group, index) in groups.iter_mut().zip(first..) {
                let first = index * GROUPED;
                let end = nearest.len().min(first + GROUPED);
                *group = Group::new(&nearest[first..end], first, count);
            }
        });
        Self {
            sum_of_squares: groups.iter().map(|group| group.sum_of_squares).sum(),
            groups,
            nearest,
        }
    }

    /// The rows of a center, in ascending order.
    fn members(&self, center: usize) -> impl Iterator<Item = usize> {
        (self.groups.iter()).flat_map(move |group| group.members(center).iter().copied())
    }

    fn is_empty(&self, center: usize) -> bool {
        self.members(center).next().is_none()
    }

    /// Moves every center to the mean of its inputs. Centers without inputs move to the inputs
    /// farthest from their centers.
    fn move_centers(&self, candidates: &Candidates, centers: &mut [f64]) {
        let dimensions = candidates.dimensions;
        // Clusters differ in size, so threads take them as they come.
        let parts = PARTS_PER_THREAD * threads::count();
        in_parts(centers, dimensions, parts, &|centers, first| {
            for (center, index) in centers.chunks_exact_mut(dimensions).zip(first..) {
                if self.is_empty(index) {
                    continue;
                }
                center.fill(0.0);
                let mut size = 0.0;
                for row in self.members(index) {
                    size += 1.0;
                    for (sum, value) in center.iter_mut().zip(candidates.row(row)) {
                        *sum += value;
                    }
                }
                center.iter_mut().for_each(|value| *value /= size);
            }
        });
        let count = centers.len() / dimensions;
        let empty: Vec<usize> = (0..count).filter(|&center| self.is_empty(center)).collect();
        if !empty.is_empty() {
            for (center, row) in empty.into_iter().zip(self.furthest(candidates)) {
                centers[center * dimensions..][..dimensions].copy_from_slice(candidates.row(row));
            }
        }
    }

    /// The distinct inputs, in order of decreasing distance from their centers.
    fn furthest(&self, candidates: &Candidates) -> impl Iterator<Item = usize> {
        // Equal inputs have equal distances, so one of them suffices.
        let rows = self.nearest.len();
        let mut furthest: Vec<usize> = (candidates.distinct.iter().copied())
            .filter(|&row| row < rows)
            .collect();
        furthest.sort_by(|&a, &b| self.nearest[b].1.total_cmp(&self.nearest[a].1));
        furthest.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, TensorData};
    use rand::SeedableRng;

    use super::*;
    use crate::{ops::nearest::squared_distance, parameter::numbers};

    /// A reference implementation in plain loops, for inputs that are not subsampled.
    fn in_single_loops(candidates: &mut Candidates, count: usize) -> Vec<f64> {
        let (values, dimensions) = (candidates.values.clone(), candidates.dimensions);
        let rows: Vec<&[f64]> = values.chunks_exact(dimensions).collect();
        let random = &mut candidates.generator;
        let mut chosen = vec![random.random_range(0..rows.len())];
        let to_nearest = |row: &[f64], chosen: &[usize]| {
            let distances = chosen.iter().map(|&seed| squared_distance(row, rows[seed]));
            distances.fold(f64::INFINITY, f64::min)
        };
        while chosen.len() < count {
            let weights: Vec<f64> = rows.iter().map(|row| to_nearest(row, &chosen)).collect();
            let sums: Vec<f64> = weights
                .chunks(SUMMED)
                .map(|part| part.iter().sum())
                .collect();
            chosen.extend(draw(&weights, &sums, random));
        }
        let mut centers: Vec<Vec<f64>> = chosen.iter().map(|&row| rows[row].to_vec()).collect();
        let mut last = f64::INFINITY;
        for _ in 0..ROUNDS {
            let (mut sums, mut sizes) = (vec![vec![0.0; dimensions]; count], vec![0.0; count]);
            let mut total = 0.0;
            for row in &rows {
                let distances = centers.iter().map(|center| squared_distance(row, center));
                let (nearest, distance) = (distances.enumerate())
                    .min_by(|(_, first), (_, second)| first.total_cmp(second))
                    .expect("there are centers");
                sums[nearest]
                    .iter_mut()
                    .zip(*row)
                    .for_each(|(sum, value)| *sum += value);
                sizes[nearest] += 1.0;
                total += distance;
            }
            for ((center, sums), size) in centers.iter_mut().zip(sums).zip(sizes) {
                assert!(size > 0.0, "no cluster of these inputs loses all of them");
                *center = sums.iter().map(|sum| sum / size).collect();
            }
            if total >= last * (1.0 - TOLERANCE) {
                break;
            }
            last = total;
        }
        centers.concat()
    }

    #[test]
    fn centers_are_those_of_single_loops_on_any_number_of_threads() {
        let device = Device::default();
        for (rows, dimensions, count) in [(1500, 1, 30), (1200, 3, 40), (700, 70, 12)] {
            let mut random = ChaCha8Rng::seed_from_u64(5);
            let values = (0..rows * dimensions).map(|_| random.random()).collect();
            let data = TensorData::new::<f64, _>(values, [rows, dimensions]);
            let inputs = Tensor::<2>::from_data(data, (&device, DType::F64));
            let mut candidates = Candidates::new(&inputs, count, 3).expect("distinct inputs");
            let expected = in_single_loops(&mut candidates, count);
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let ours = (pool.expect("a pool")).install(|| k_means(inputs.clone(), count, 3));
                assert_eq!(numbers(ours.expect("distinct inputs")), expected, "{rows}");
            }
        }
    }
}
