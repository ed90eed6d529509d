//! Points of all kinds.

use burn_gp_core::neighbors::Coordinates;

use crate::support::Random;

/// Kinds of points, [N, D]: uniform; a lattice, where most points are equally near to several others and many are
/// equal; half of them equal; half of them in a tiny cluster; one coordinate shared; on a line; far from the origin;
/// with squares that underflow; as large as allowed; all equal.
pub fn cases(count: usize, dimensions: usize) -> Vec<(&'static str, Coordinates)> {
    let mut random = Random::new(100 * count as u64 + dimensions as u64);
    let mut cases = Vec::new();
    let mut add = |name, value: &dyn Fn(usize, &[f64]) -> Vec<f64>| {
        let rows = (0..count).flat_map(|row| value(row, &random.uniforms(dimensions, 0.0, 1.0)));
        cases.push((name, coordinates(rows.collect(), dimensions)));
    };
    let each = |u: &[f64], value: fn(f64) -> f64| u.iter().map(|&u| value(u)).collect();
    add("uniform", &|_, u| u.to_vec());
    add("lattice", &|_, u| each(u, |u| (6.0 * u).floor()));
    add("half equal", &|row, u| {
        if row % 2 == 0 {
            each(u, |_| 0.5)
        } else {
            u.to_vec()
        }
    });
    add("cluster", &|row, u| {
        if row % 2 == 0 {
            each(u, |u| 0.5 + 1e-9 * u)
        } else {
            u.to_vec()
        }
    });
    add("one shared", &|_, u| [&[0.25], &u[1..]].concat());
    add("line", &|_, u| vec![u[0]; u.len()]);
    add("far", &|_, u| each(u, |u| 1e6 + 1e-3 * u));
    add("tiny", &|_, u| each(u, |u| 1e-160 * (4.0 * u).floor()));
    add("huge", &|_, u| each(u, |u| 1e150 * (2.0 * u - 1.0)));
    add("equal", &|_, u| each(u, |_| 0.3));
    cases
}

/// The numbers of dimensions to test.
pub const DIMENSIONS: [usize; 5] = [1, 2, 3, 8, 20];

pub fn coordinates(values: Vec<f64>, dimensions: usize) -> Coordinates {
    Coordinates::new(values, dimensions).expect("finite coordinates")
}

/// Row 5i + j is (i, j).
pub fn lattice() -> Coordinates {
    let rows = (0..25).flat_map(|row| [f64::from(row / 5), f64::from(row % 5)]);
    coordinates(rows.collect(), 2)
}

/// Twelve points in the unit square, divided by lengthscales.
pub fn twelve(lengthscales: [f64; 2]) -> Coordinates {
    const POINTS: [[f64; 2]; 12] = [
        [0.103, 0.217],
        [0.911, 0.793],
        [0.154, 0.958],
        [0.862, 0.109],
        [0.497, 0.542],
        [0.289, 0.613],
        [0.718, 0.346],
        [0.052, 0.571],
        [0.947, 0.438],
        [0.405, 0.063],
        [0.623, 0.887],
        [0.337, 0.324],
    ];
    scaled(&POINTS, lengthscales)
}

/// Four targets among and beside the twelve points.
pub fn four_targets(lengthscales: [f64; 2]) -> Coordinates {
    scaled(
        &[[0.45, 0.42], [0.48, 0.47], [1.60, 1.40], [1.50, 1.55]],
        lengthscales,
    )
}

fn scaled(points: &[[f64; 2]], lengthscales: [f64; 2]) -> Coordinates {
    let rows =
        (points.iter()).flat_map(|point| [point[0] / lengthscales[0], point[1] / lengthscales[1]]);
    coordinates(rows.collect(), 2)
}

/// Runs work on this many threads.
pub fn on_threads<R: Send>(count: usize, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    pool.expect("a pool").install(work)
}
