//! Evenly distributed points of a multivariate standard normal.

use crate::ops::special::functions::normal_quantile;

/// The number of dimensions of one Sobol sequence in the crate; further dimensions use another
/// scrambling.
const DIMENSIONS: usize = 256;

/// Half the spacing of the values of the sequence. It shifts zero, which would map to minus
/// infinity.
const HALF_STEP: f64 = 1.0 / 33_554_432.0;

/// `count` points in `dimensions` dimensions, row-major: an Owen-scrambled Sobol sequence mapped to
/// normals (A. B. Owen, *Scrambled Net Variance for Integrals of Smooth Functions*, 1997;
/// scrambling by B. Burley, *Practical Hash-based Owen Scrambling*, 2020). Each point is followed
/// by its mirror image. If there are enough points, their covariance is made exactly the identity;
/// polynomials up to degree three and all odd ones are then integrated exactly. The points are
/// always the same.
pub(super) fn normal_points(count: usize, dimensions: usize) -> Vec<f64> {
    scrambled_normal_points(count, dimensions, 0)
}

/// Like [`normal_points`], with a scrambling that depends on `seed`; the points of two seeds are
/// independent. If `count` is odd, the last point has no mirror image.
pub(crate) fn scrambled_normal_points(count: usize, dimensions: usize, seed: u32) -> Vec<f64> {
    let half = count.div_ceil(2);
    let mut columns: Vec<Vec<f64>> = (0..dimensions)
        .map(|dimension| {
            let (set, within) = (dimension / DIMENSIONS, dimension % DIMENSIONS);
            let seed = seed.wrapping_add(set as u32);
            let point = |index| sobol_burley::sample(index, within as u32, seed);
            let uniform = |index| f64::from(point(index as u32)) + HALF_STEP;
            (0..half)
                .map(|index| normal_quantile(uniform(index)))
                .collect()
        })
        .collect();
    if half >= 2 * dimensions {
        make_orthonormal(&mut columns);
    }
    let mut points = Vec::with_capacity(2 * half * dimensions);
    for index in 0..half {
        points.extend(columns.iter().map(|column| column[index]));
        points.extend(columns.iter().map(|column| -column[index]));
    }
    points.truncate(count * dimensions);
    points
}

/// Gram–Schmidt orthogonalization, with columns scaled to mean square one.
fn make_orthonormal(columns: &mut [Vec<f64>]) {
    let count = columns.first().map_or(0, Vec::len) as f64;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / count;
    for index in 0..columns.len() {
        let (earlier, rest) = columns.split_at_mut(index);
        let own = &mut rest[0];
        for other in earlier {
            let overlap = product(own, other);
            own.iter_mut()
                .zip(other)
                .for_each(|(own, other)| *own -= overlap * *other);
        }
        let deviation = product(own, own).sqrt();
        own.iter_mut().for_each(|own| *own /= deviation);
    }
}

#[cfg(test)]
mod tests {
    use super::{normal_points, scrambled_normal_points};

    /// Means vanish by symmetry; covariances match the standard normal.
    #[test]
    fn moments_of_the_points() {
        let (count, dimensions) = (256, 10);
        let points = normal_points(count, dimensions);
        let moment = |a: usize, b: usize| {
            let rows = points.chunks_exact(dimensions);
            rows.map(|row| row[a] * row[b]).sum::<f64>() / count as f64
        };
        for a in 0..dimensions {
            let mean: f64 = points.iter().skip(a).step_by(dimensions).sum();
            assert!(mean.abs() < 1e-12, "mean of dimension {a}: {mean}");
            for b in 0..=a {
                let expected = if a == b { 1.0 } else { 0.0 };
                let error = (moment(a, b) - expected).abs();
                assert!(
                    error < 0.06,
                    "moment of dimensions {a} and {b}: off by {error}"
                );
            }
        }
    }

    /// With too few points to make the covariance exact, it is still approximately right.
    #[test]
    fn few_points() {
        let points = normal_points(20, 10);
        assert_eq!(points.len(), 200);
        let square: f64 = points.iter().map(|value| value * value).sum();
        assert!((square / 200.0 - 1.0).abs() < 0.2, "{square}");
    }

    /// Any number of points is possible, and two seeds are unrelated.
    #[test]
    fn odd_numbers_and_seeds() {
        let points = |count, seed| scrambled_normal_points(count, 3, seed);
        assert_eq!(points(1, 5).len(), 3);
        assert_eq!(points(7, 5).len(), 21);
        assert_eq!(points(8, 0), normal_points(8, 3));
        let pairs = points(512, 1).into_iter().zip(points(512, 2));
        let moment = pairs.map(|(a, b)| a * b).sum::<f64>() / (512.0 * 3.0);
        // The standard error is 1/√(512·3) = 0.026, or √2 times that with mirror images.
        assert!(moment.abs() < 0.11, "{moment}");
    }

    /// Dimensions beyond the crate's sequence get new points.
    #[test]
    fn dimensions_beyond_one_sequence() {
        let points = normal_points(4, 258);
        assert!((points[0] - points[256]).abs() > 1e-6);
        assert!(points.iter().all(|value| value.is_finite()));
    }
}
