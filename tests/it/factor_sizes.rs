//! Factors, solves and log-determinants of batches at all sizes around a block of 32 rows or
//! columns, compared with plain loops.

use crate::support::{Dense, Platform, Random, assert_close, dense, numbers, platforms};
use burn::tensor::Tensor;
use burn_gp_core::ops::{CholeskyFactor, Jitter, cholesky};

const BATCH: usize = 3;
const SIZES: [usize; 8] = [1, 31, 32, 33, 63, 64, 65, 97];
const COLUMNS: [usize; 5] = [1, 31, 32, 33, 70];

fn members(seed: u64, make: impl Fn(&mut Random) -> Dense) -> Vec<Dense> {
    let mut random = Random::new(seed);
    (0..BATCH).map(|_| make(&mut random)).collect()
}

/// A triangle whose rows sum to at most one beside the diagonal, so that solves of any size are
/// well conditioned.
fn triangle(random: &mut Random, size: usize) -> Dense {
    let values = random.matrix(size, size);
    Dense::from_function(size, size, |i, j| {
        if i == j {
            1.0 + 0.1 * values[(i, j)].abs()
        } else {
            0.1 * values[(i, j)] / (size as f64).sqrt()
        }
    })
}

#[test]
fn factors_and_log_determinants_of_batches() {
    for platform in platforms() {
        for size in SIZES {
            let members = members(size as u64, |random| random.positive_definite(size));
            let factor = cholesky(platform.batch(&members), Jitter::NONE).expect("factors");
            let expected: Vec<Dense> = members.iter().map(Dense::cholesky).collect();
            let what = format!("{platform}, size {size}");
            let tolerance = platform.tolerance(1e-13, 1e-5);
            let ours = numbers(factor.lower());
            assert_close(&what, &ours, &dense::flatten(&expected), tolerance);
            let ours = numbers(factor.log_determinant());
            let expected: Vec<f64> = members.iter().map(Dense::log_determinant).collect();
            assert_close(&what, &ours, &expected, tolerance);
        }
    }
}

/// A size at which GPUs divide a system.
const LARGE: usize = 801;

/// The entries above the diagonal are NaN, and the right-hand sides are contiguous or not.
#[test]
fn solves_of_batches() {
    for platform in platforms() {
        for size in SIZES.into_iter().chain([LARGE]) {
            let members = members(5, |random| triangle(random, size));
            let filled: Vec<Dense> = (members.iter())
                .map(|member| {
                    let entry = |i, j| if j > i { f64::NAN } else { member[(i, j)] };
                    Dense::from_function(size, size, entry)
                })
                .collect();
            let factor = CholeskyFactor::from_lower(platform.batch(&filled)).expect("regular");
            let columns = match size {
                LARGE => &COLUMNS[3..4],
                _ => &COLUMNS[..],
            };
            for &columns in columns {
                check_solves(&platform, &factor, &members, columns);
            }
        }
    }
}

fn check_solves(
    platform: &Platform,
    factor: &CholeskyFactor<3>,
    triangles: &[Dense],
    columns: usize,
) {
    let size = triangles[0].rows;
    let right = members(7, |random| random.matrix(size, columns));
    let turned: Vec<Dense> = right.iter().map(Dense::transposed).collect();
    let solutions = |solve: &dyn Fn(&Dense, &Dense) -> Dense| -> Vec<f64> {
        let pairs = triangles.iter().zip(&right);
        pairs
            .flat_map(|(triangle, right)| solve(triangle, right).values)
            .collect()
    };
    let expected = solutions(&Dense::solve_lower);
    let transposed = solutions(&Dense::solve_lower_transposed);
    let tolerance = platform.tolerance(1e-13, 1e-5);
    let views = [
        platform.batch(&right),
        platform.batch(&turned).swap_dims(1, 2),
    ];
    for (view, right) in ["contiguous", "a transposed view"].iter().zip(views) {
        let what = format!("{platform}, {size} x {columns}, {view}");
        let ours = numbers(factor.solve(right.clone()));
        assert_close(&what, &ours, &expected, tolerance);
        let ours = numbers(factor.solve_transposed(right));
        assert_close(&what, &ours, &transposed, tolerance);
    }
}

#[test]
fn matrices_without_rows_and_right_hand_sides_without_columns() {
    for platform in platforms() {
        let nothing: Tensor<3> = platform.tensor(&[], [BATCH, 0, 0]);
        let factor = cholesky(nothing, Jitter::NONE).expect("nothing can fail");
        assert_eq!(factor.lower().dims(), [BATCH, 0, 0], "{platform}");
        let determinants = numbers(factor.log_determinant());
        assert_eq!(determinants, [0.0; BATCH], "{platform}");

        let members = members(3, |random| random.positive_definite(40));
        let platform = platform.autodiff();
        let given = platform.batch(&members).require_grad();
        let factor = cholesky(given.clone(), Jitter::NONE).expect("factors");
        let empty: Tensor<3> = platform.tensor(&[], [BATCH, 40, 0]);
        let solved = factor.solve(empty.clone()) + factor.solve_transposed(empty);
        assert_eq!(solved.dims(), [BATCH, 40, 0], "{platform}");
        let loss = solved.sum() + factor.log_determinant().sum();
        let gradient = numbers(given.grad(&loss.backward()).expect("gradient"));
        let expected: Vec<Dense> = members.iter().map(Dense::inverse).collect();
        let tolerance = platform.tolerance(1e-12, 1e-4);
        let what = platform.to_string();
        assert_close(&what, &gradient, &dense::flatten(&expected), tolerance);
    }
}

/// So many blocks that a device that limits the rounds of loops, as Mesa's does, reaches its limit
/// if they are not few.
#[test]
fn solves_with_many_blocks() {
    let size = 2100;
    let mut random = Random::new(11);
    let (triangle, right) = (triangle(&mut random, size), random.matrix(size, 2));
    for platform in platforms() {
        let factor = CholeskyFactor::from_lower(platform.matrix(&triangle)).expect("regular");
        let rhs = platform.matrix(&right);
        let what = platform.to_string();
        let tolerance = platform.tolerance(1e-12, 1e-5);
        let ours = numbers(factor.solve(rhs.clone()));
        let expected = triangle.solve_lower(&right);
        assert_close(&what, &ours, &expected.values, tolerance);
        let ours = numbers(factor.solve_transposed(rhs));
        let expected = triangle.solve_lower_transposed(&right);
        assert_close(&what, &ours, &expected.values, tolerance);
    }
}

/// On the CPU, wide right-hand sides make it worth a copy of the triangle in another order. The size is
/// no multiple of its tiles.
#[test]
fn wide_solves_with_the_transpose_of_a_large_triangle() {
    let (size, columns) = (777, 400);
    let mut random = Random::new(17);
    let (triangle, right) = (triangle(&mut random, size), random.matrix(size, columns));
    let expected = triangle.solve_lower_transposed(&right);
    for platform in platforms().into_iter().filter(Platform::is_host) {
        let factor = CholeskyFactor::from_lower(platform.matrix(&triangle)).expect("regular");
        let ours = numbers(factor.solve_transposed(platform.matrix(&right)));
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close(&platform.to_string(), &ours, &expected.values, tolerance);
    }
}

/// Sixteen panels in the first attempt and in those with more jitter.
#[test]
fn jitter_is_raised_for_many_panels() {
    let size = 500;
    let mut random = Random::new(13);
    let values = random.matrix(size, size);
    // Diagonally dominant but for the last row.
    let matrix = Dense::from_function(size, size, |i, j| {
        let entry = 0.1 * values[(i.max(j), i.min(j))] / size as f64;
        match (i == j, i + 1 == size) {
            (true, true) => -0.03,
            (true, false) => 1.0,
            _ => entry,
        }
    });
    let added = 0.1 * matrix.trace() / size as f64;
    let expected = matrix.plus(&Dense::identity(size).scaled(added)).cholesky();
    for platform in platforms() {
        let factor = cholesky(platform.matrix(&matrix), Jitter::relative(0.001)).expect("factor");
        let tolerance = platform.tolerance(1e-12, 1e-5);
        let what = platform.to_string();
        assert_close(&what, &numbers(factor.lower()), &expected.values, tolerance);
    }
}
