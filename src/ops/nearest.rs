//! Finds the nearest of several points.
//!
//! A fast method with known rounding errors first bounds the distances. Those that may be the smallest are
//! then computed as `Σ_d (a_d − b_d)²`, term by term. The result equals that of such sums for all pairs, to
//! the last bit, whatever the fast method and the number of threads.

use faer::{Accum, MatMut, MatRef};

use super::cpu::{Kernel, Lanes, WIDTH, in_parts, product_on, threads, vectorized};

/// The largest number of points whose distances from all targets are bounded at once.
const PART: usize = 512;

/// The number of pairs of points and targets that are bounded at once. With many targets, this means fewer
/// points.
const VALUES: usize = 1 << 17;

/// Parts per thread; a thread takes the next part when it has finished one. Some points have more targets at
/// almost the same distance than others.
const PARTS_PER_THREAD: usize = 4;

/// Minimum number of points in a part.
const LEAST: usize = 64;

/// The number of distances in one sum. Such sums do not depend on the number of threads.
pub const SUMMED: usize = 128;

/// Dimensions between checks of a partial sum of squares. With fewer dimensions, the sum is
/// computed at once.
const SPAN: usize = 4 * WIDTH;

/// `Σ_d (a_d − b_d)²`, term by term.
#[inline(always)]
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// A bound on the rounding errors of `‖a − b‖²` relative to `‖a‖² + ‖b‖²`. It holds for any
/// summation order, and for the difference between a value computed as `‖a‖² − 2aᵀb + ‖b‖²` and one
/// computed from coordinate differences. The error is below `(4D + 6)·u` with the unit roundoff
/// `u = ε/2`, so the bound has a safety factor of at least two.
fn rounding(dimensions: usize) -> f64 {
    4.0 * (dimensions + 8) as f64 * f64::EPSILON
}

/// Lowers each point's squared distance to its distance from `target`, if that is smaller. Returns the sum of
/// the distances for every [`SUMMED`] points.
///
/// # Shapes
///
/// - `distances`: `[N]`, `points`: `[N, D]`, `target`: `[D]`
pub fn lower_distances(distances: &mut [f64], points: &[f64], target: &[f64]) -> Vec<f64> {
    let parts = threads::count().min(distances.len().div_ceil(PART));
    let mut groups: Vec<_> = (distances.chunks_mut(SUMMED))
        .zip(points.chunks(SUMMED * target.len()))
        .map(|(distances, points)| (distances, points, 0.0))
        .collect();
    in_parts(&mut groups, 1, parts, &|groups, _| {
        for (distances, points, sum) in groups {
            vectorized::run(LowerDistances {
                distances,
                points,
                target,
            });
            *sum = distances.iter().sum();
        }
    });
    groups.into_iter().map(|(.., sum)| sum).collect()
}

struct LowerDistances<'a> {
    distances: &'a mut [f64],
    points: &'a [f64],
    target: &'a [f64],
}

impl Kernel for LowerDistances<'_> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let dimensions = self.target.len();
        let room = 1.0 + rounding(dimensions);
        let points = self.points.chunks_exact(dimensions);
        for (distance, point) in self.distances.iter_mut().zip(points) {
            // The smallest normal number covers what products lose to underflow.
            let limit = *distance * room + f64::MIN_POSITIVE;
            if dimensions > SPAN && is_beyond::<FUSED>(point, self.target, limit) {
                continue;
            }
            *distance = distance.min(squared_distance(point, self.target));
        }
    }
}

/// Whether the squared distance reaches a limit; stops as soon as a partial sum does.
#[inline(always)]
fn is_beyond<const FUSED: bool>(a: &[f64], b: &[f64], limit: f64) -> bool {
    let mut sums = Lanes::splat(0.0);
    for (a, b) in a.chunks(SPAN).zip(b.chunks(SPAN)) {
        for (a, b) in a.chunks(WIDTH).zip(b.chunks(WIDTH)) {
            let difference = Lanes::load_partial(a).minus(Lanes::load_partial(b));
            sums = difference.multiply_add::<FUSED>(difference, sums);
        }
        if sums.sum() >= limit {
            return true;
        }
    }
    false
}

/// The nearest of `targets` to each point, with its squared distance. Ties go to the first target.
///
/// A matrix product computes `‖b‖² − 2aᵀb` for all targets; exact distances are then computed for
/// the targets whose value is the smallest up to rounding. For points that are close together and
/// far from the origin, that can be all of them.
///
/// # Shapes
///
/// - `points`: `[N, D]`, `targets`: `[M, D]`
/// - result: `[N]`
pub fn nearest(points: &[f64], targets: &[f64], dimensions: usize) -> Vec<(usize, f64)> {
    let norms: Vec<f64> = targets.chunks_exact(dimensions).map(squared_norm).collect();
    let largest_norm = norms.iter().copied().fold(0.0, f64::max);
    let part = (VALUES / norms.len()).clamp(1, PART);
    let mut nearest = vec![(0, f64::INFINITY); points.len() / dimensions];
    let count = nearest.len();
    let parts = (PARTS_PER_THREAD * threads::count()).min(count.div_ceil(LEAST));
    in_parts(&mut nearest, 1, parts, &|nearest, first| {
        let mut values = Vec::new();
        let points = &points[first * dimensions..];
        for (nearest, points) in (nearest.chunks_mut(part)).zip(points.chunks(part * dimensions)) {
            values.clear();
            nearest
                .iter()
                .for_each(|_| values.extend_from_slice(&norms));
            let points = &points[..nearest.len() * dimensions];
            let (rows, columns) = (nearest.len(), norms.len());
            product_on(
                1,
                MatMut::from_row_major_slice_mut(&mut values, rows, columns),
                Accum::Add,
                MatRef::from_row_major_slice(points, rows, dimensions),
                MatRef::from_row_major_slice(targets, columns, dimensions).transpose(),
                -2.0,
            );
            vectorized::run(Nearest {
                nearest,
                values: &values,
                points,
                targets,
                dimensions,
                largest_norm,
            });
        }
    });
    nearest
}

fn squared_norm(point: &[f64]) -> f64 {
    point.iter().map(|value| value * value).sum()
}

/// Searches for the nearest targets, given `‖b‖² − 2aᵀb` for all of them.
struct Nearest<'a> {
    nearest: &'a mut [(usize, f64)],
    /// For each point and target, [N, M].
    values: &'a [f64],
    points: &'a [f64],
    targets: &'a [f64],
    dimensions: usize,
    /// The largest `‖b‖²`.
    largest_norm: f64,
}

impl Kernel for Nearest<'_> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let columns = self.targets.len() / self.dimensions;
        let rounding = rounding(self.dimensions);
        let points = self.points.chunks_exact(self.dimensions);
        let rows = self.values.chunks_exact(columns).zip(points);
        for (nearest, (values, point)) in self.nearest.iter_mut().zip(rows) {
            let norms = squared_norm(point) + self.largest_norm;
            let limit = least(values) + (rounding * norms + f64::MIN_POSITIVE);
            for (chunk, values) in values.chunks(SPAN).enumerate() {
                // Checks whether any target qualifies, in a loop without branches.
                let mut out = true;
                for &value in values {
                    out &= value > limit;
                }
                if out {
                    continue;
                }
                for (index, &value) in values.iter().enumerate() {
                    // Written so that NaN qualifies.
                    let is_out = value > limit;
                    if !is_out {
                        let index = chunk * SPAN + index;
                        let target = &self.targets[index * self.dimensions..][..self.dimensions];
                        let distance = squared_distance(point, target);
                        if distance < nearest.1 {
                            *nearest = (index, distance);
                        }
                    }
                }
            }
        }
    }
}

/// The smallest value.
#[inline(always)]
fn least(values: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; WIDTH];
    let mut chunks = values.chunks_exact(WIDTH);
    for chunk in chunks.by_ref() {
        for (least, &value) in lanes.iter_mut().zip(chunk) {
            *least = if value < *least { value } else { *least };
        }
    }
    let rest = chunks.remainder().iter();
    lanes
        .iter()
        .chain(rest)
        .copied()
        .fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    use super::{lower_distances, nearest, squared_distance};

    /// Different kinds of points: uniform; a grid, where most points are equally near to several others; a
    /// cluster whose norms dwarf its distances; values whose squares underflow or overflow; equal points.
    fn cases(count: usize, dimensions: usize) -> Vec<(&'static str, Vec<f64>)> {
        let mut random = ChaCha8Rng::seed_from_u64(dimensions as u64);
        let mut draw = |value: fn(f64) -> f64| -> Vec<f64> {
            let numbers = (0..count * dimensions).map(|_| value(random.random()));
            numbers.collect()
        };
        vec![
            ("uniform", draw(|u| 2.0 * u - 1.0)),
            ("grid", draw(|u| (3.0 * u).floor())),
            ("far", draw(|u| 1e6 + 1e-3 * u)),
            ("mixed", draw(|u| (100.0 * (u - 0.7)).exp())),
            ("tiny", draw(|u| 1e-160 * (4.0 * u).floor())),
            ("huge", draw(|u| 1e154 * (4.0 * u - 2.0))),
            ("equal", vec![0.3; count * dimensions]),
        ]
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// Runs a test on points, [600, D], with targets, [M, D], made of the first points and some means. The
    /// points fill more than one part, and the numbers of targets lie on both sides of multiples of a
    /// register.
    fn for_each_case(test: impl Fn(&str, &[f64], &[f64], usize)) {
        for (dimensions, count) in [(1, 40), (2, 17), (8, 1), (65, 33), (130, 70)] {
            for (name, points) in cases(600, dimensions) {
                let mut targets = points[..count * dimensions].to_vec();
                for (mean, value) in targets.iter_mut().step_by(3).zip(&points[dimensions..]) {
                    *mean = 0.5 * *mean + 0.5 * value;
                }
                let what = format!("{name}, {dimensions} dimensions, {count} targets");
                test(&what, &points, &targets, dimensions);
            }
        }
    }

    #[test]
    fn nearest_are_those_of_single_loops() {
        for_each_case(|what, points, targets, dimensions| {
            let ours = nearest(points, targets, dimensions);
            for (point, (target, distance)) in points.chunks_exact(dimensions).zip(ours) {
                let mut expected = (0, f64::INFINITY);
                for (index, target) in targets.chunks_exact(dimensions).enumerate() {
                    let distance = squared_distance(point, target);
                    if distance < expected.1 {
                        expected = (index, distance);
                    }
                }
                let expected = (expected.0, expected.1.to_bits());
                assert_eq!((target, distance.to_bits()), expected, "{what}");
            }
        });
    }

    #[test]
    fn lowered_distances_are_those_of_single_loops() {
        for_each_case(|what, points, targets, dimensions| {
            let mut ours = vec![f64::INFINITY; points.len() / dimensions];
            let mut expected = ours.clone();
            for target in targets.chunks_exact(dimensions) {
                lower_distances(&mut ours, points, target);
                for (point, distance) in points.chunks_exact(dimensions).zip(&mut expected) {
                    *distance = distance.min(squared_distance(point, target));
                }
                assert_eq!(bits(&ours), bits(&expected), "{what}");
            }
        });
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        for_each_case(|what, points, targets, dimensions| {
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("a pool").install(|| {
                    let mut distances = vec![f64::INFINITY; points.len() / dimensions];
                    lower_distances(&mut distances, points, &targets[..dimensions]);
                    (bits(&distances), nearest(points, targets, dimensions))
                })
            };
            assert_eq!(on(1), on(3), "{what}");
        });
    }
}
