//! Solves with triangular matrices.

use crate::support::{
    Dense, Platform, Random, assert_close, check_gradients, dense, numbers, platforms, symmetric,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{CholeskyFactor, Jitter, SingularTriangle, cholesky, solve_triangular};

/// Rows and columns: one of each, sizes around the blocks, and a wide shape that runs on several
/// threads.
const SHAPES: [(usize, usize); 9] = [
    (1, 1),
    (1, 7),
    (5, 1),
    (63, 2),
    (64, 65),
    (65, 3),
    (130, 300),
    (300, 1),
    (300, 1100),
];

#[test]
fn solves_agree_with_substitution() {
    for platform in platforms() {
        for (size, columns) in SHAPES {
            let mut random = Random::new(size as u64);
            let (matrix, right) = (random.positive_definite(size), random.matrix(size, columns));
            let reference = matrix.cholesky();
            let factor = cholesky(platform.matrix(&matrix), Jitter::NONE).expect("factor");
            let what = format!("{platform}, {size} x {columns}");
            let tolerance = platform.tolerance(1e-13, 2e-5);
            let solved = numbers(factor.solve(platform.matrix(&right)));
            assert_close(
                &what,
                &solved,
                &reference.solve_lower(&right).values,
                tolerance,
            );
            let solved = numbers(factor.solve_transposed(platform.matrix(&right)));
            let expected = reference.solve_lower_transposed(&right);
            assert_close(&what, &solved, &expected.values, tolerance);
        }
    }
}

/// Sizes of one block, of several, and one of which parts run on several threads. Entries above the
/// diagonal are ignored, also if they are not numbers.
#[test]
fn solves_for_triangles_agree_with_those_for_matrices() {
    for platform in platforms() {
        for size in [1, 5, 31, 33, 64, 130, 400] {
            let mut random = Random::new(size as u64);
            let matrices: Vec<Dense> = (0..2).map(|_| random.positive_definite(size)).collect();
            let triangles: Vec<Dense> = (0..2).map(|_| random.lower_triangle(size)).collect();
            let given =
                triangles.iter().map(|triangle| {
                    Dense::from_function(size, size, |i, j| {
                        if j > i { f64::NAN } else { triangle[(i, j)] }
                    })
                });
            let given: Vec<Dense> = given.collect();
            let factor = cholesky(platform.batch(&matrices), Jitter::NONE).expect("factor");
            let solved = numbers(factor.solve_lower(platform.batch(&given)));
            let expected = numbers(factor.solve(platform.batch(&triangles)));
            let what = format!("{platform}, {size}");
            assert_close(&what, &solved, &expected, platform.tolerance(1e-13, 2e-5));
        }
    }
}

#[test]
fn solves_for_triangles_have_the_gradients_of_those_for_matrices() {
    let mut random = Random::new(43);
    for size in [5, 70] {
        let covariance = random.positive_definite(size);
        let weights = random.matrix(size, size);
        let triangle = random.lower_triangle(size);
        let inputs = [(&covariance).into(), (&triangle).into()];
        check_gradients("solve_lower", &inputs, 1e-3, &|platform, values| {
            let matrix = symmetric(&values[0], size);
            let lower = values[1].clone().reshape([size, size]).tril(0);
            let factor = cholesky(matrix, Jitter::NONE).expect("factor");
            (factor.solve_lower(lower) * platform.matrix(&weights)).sum()
        });
    }
}

/// GPU tensors are never empty.
#[test]
fn no_right_hand_sides_give_no_solutions() {
    for platform in platforms().into_iter().filter(Platform::is_host) {
        let matrix = Random::new(1).positive_definite(5);
        let factor = cholesky(platform.matrix(&matrix), Jitter::NONE).expect("factor");
        let solution = factor.solve(platform.tensor(&[], [5, 0]));
        assert_eq!(solution.dims(), [5, 0], "{platform}");
    }
}

#[test]
fn batches_solve_member_by_member() {
    for platform in platforms() {
        for (size, columns) in [(4, 1), (66, 5), (130, 257)] {
            let mut random = Random::new(41);
            let matrices: Vec<Dense> = (0..3).map(|_| random.positive_definite(size)).collect();
            let right: Vec<Dense> = (0..3).map(|_| random.matrix(size, columns)).collect();
            let factor = cholesky(platform.batch(&matrices), Jitter::NONE).expect("factor");
            let solved = numbers(factor.solve(platform.batch(&right)));
            let transposed = numbers(factor.solve_transposed(platform.batch(&right)));
            let factors: Vec<Dense> = matrices.iter().map(Dense::cholesky).collect();
            let expect = |solve: fn(&Dense, &Dense) -> Dense| -> Vec<f64> {
                let pairs = factors.iter().zip(&right);
                pairs
                    .flat_map(|(factor, right)| solve(factor, right).values)
                    .collect()
            };
            let tolerance = platform.tolerance(1e-13, 2e-5);
            let what = format!("{platform}, {size} x {columns}");
            assert_close(&what, &solved, &expect(Dense::solve_lower), tolerance);
            let expected = expect(Dense::solve_lower_transposed);
            assert_close(&what, &transposed, &expected, tolerance);
        }
    }
}

#[test]
#[should_panic(expected = "CholeskyFactor::solve")]
fn a_right_hand_side_of_other_height_is_the_callers_error() {
    let platform = &platforms()[0];
    let factor = cholesky(platform.matrix(&Dense::identity(3)), Jitter::NONE).expect("factor");
    let _ = factor.solve(platform.tensor(&[0.0; 4], [4, 1]));
}

/// Whether the triangle is the upper one, and whether the solve uses its transpose.
const COMBINATIONS: [(bool, bool); 4] =
    [(false, false), (false, true), (true, false), (true, true)];

/// The matrix to solve with, and the matrix that it represents in a product.
fn operator(triangle: &Dense, upper: bool, transposed: bool) -> (Dense, Dense) {
    let given = if upper {
        triangle.transposed()
    } else {
        triangle.clone()
    };
    let applied = if transposed {
        given.transposed()
    } else {
        given.clone()
    };
    (given, applied)
}

/// Fills the other triangle with values that must not be read.
fn with_garbage(given: &Dense, upper: bool) -> Dense {
    Dense::from_function(given.rows, given.columns, |i, j| {
        if (upper && j < i) || (!upper && j > i) {
            f64::NAN
        } else {
            given[(i, j)]
        }
    })
}

#[test]
fn four_triangular_systems() {
    for platform in platforms() {
        for (size, columns) in [(1, 1), (5, 3), (65, 1), (130, 70)] {
            let mut random = Random::new(43);
            let (triangle, right) = (random.lower_triangle(size), random.matrix(size, columns));
            for (upper, transposed) in COMBINATIONS {
                let (given, applied) = operator(&triangle, upper, transposed);
                let given = platform.matrix(&with_garbage(&given, upper));
                let solution = solve_triangular(given, platform.matrix(&right), upper, transposed);
                let solution = Dense::new(size, columns, numbers(solution.expect("regular")));
                let product = applied.times(&solution);
                let what = format!("{platform}, upper {upper}, transposed {transposed}, {size}");
                let tolerance = platform.tolerance(1e-12, 1e-4);
                assert_close(&what, &product.values, &right.values, tolerance);
            }
        }
    }
}

#[test]
fn a_singular_system_gives_the_error() {
    for platform in platforms() {
        let mut triangle = Random::new(47).lower_triangle(70);
        triangle[(66, 66)] = 0.0;
        for (upper, transposed) in COMBINATIONS {
            let (given, _) = operator(&triangle, upper, transposed);
            let right = platform.tensor(&[1.0; 70], [70, 1]);
            let error = solve_triangular(platform.matrix(&given), right, upper, transposed);
            let error = error.expect_err("singular");
            assert_eq!(error, SingularTriangle { batch: 0, row: 66 }, "{platform}");
            assert_eq!(
                error.to_string(),
                "the triangular matrix (batch member 0) is singular: diagonal entry 66 is zero or \
                 not finite"
            );
        }
    }
}

#[test]
fn gradients_of_the_four_systems() {
    for (size, columns) in [(5, 3), (65, 2), (70, 90)] {
        let mut random = Random::new(53);
        let (triangle, right) = (random.lower_triangle(size), random.matrix(size, columns));
        let weights = random.matrix(size, columns);
        for (upper, transposed) in COMBINATIONS {
            let (given, _) = operator(&triangle, upper, transposed);
            check_gradients(
                &format!("upper {upper}, transposed {transposed}, {size} x {columns}"),
                &[(&given).into(), (&right).into()],
                1e-3,
                &|platform, inputs| {
                    let matrix: Tensor<2> = inputs[0].clone().reshape([size, size]);
                    let right = inputs[1].clone().reshape([size, columns]);
                    let solution = solve_triangular(matrix, right, upper, transposed);
                    (solution.expect("regular") * platform.matrix(&weights)).sum()
                },
            );
        }
    }
}

#[test]
fn gradients_of_batched_systems() {
    let (size, columns) = (7, 4);
    let mut random = Random::new(59);
    let triangles: Vec<Dense> = (0..3).map(|_| random.lower_triangle(size)).collect();
    let right: Vec<Dense> = (0..3).map(|_| random.matrix(size, columns)).collect();
    for (upper, transposed) in COMBINATIONS {
        let given: Vec<Dense> = triangles
            .iter()
            .map(|triangle| operator(triangle, upper, transposed).0)
            .collect();
        check_gradients(
            &format!("a batch, upper {upper}, transposed {transposed}"),
            &[dense::flatten(&given).into(), dense::flatten(&right).into()],
            1e-3,
            &|_, inputs| {
                let matrix: Tensor<3> = inputs[0].clone().reshape([3, size, size]);
                let right = inputs[1].clone().reshape([3, size, columns]);
                let solution = solve_triangular(matrix, right, upper, transposed);
                solution.expect("regular").square().sum()
            },
        );
    }
}

/// Only one of the two parents needs a gradient.
#[test]
fn gradients_of_one_side_alone() {
    for (size, columns) in [(5, 3), (130, 70)] {
        let mut random = Random::new(61);
        let (matrix, right) = (random.positive_definite(size), random.matrix(size, columns));
        for transposed in [false, true] {
            let solve = move |factor: &CholeskyFactor<2>, right: Tensor<2>| {
                let solution = if transposed {
                    factor.solve_transposed(right)
                } else {
                    factor.solve(right)
                };
                solution.square().sum()
            };
            check_gradients(
                "right-hand side alone",
                &[(&right).into()],
                1e-3,
                &|p, inputs| {
                    let factor = cholesky(p.matrix(&matrix), Jitter::NONE).expect("factor");
                    solve(&factor, inputs[0].clone().reshape([size, columns]))
                },
            );
            check_gradients("matrix alone", &[(&matrix).into()], 1e-3, &|p, inputs| {
                let given = inputs[0].clone().reshape([size, size]);
                let given = (given.clone() + given.transpose()) * 0.5;
                let factor = cholesky(given, Jitter::NONE).expect("factor");
                solve(&factor, p.matrix(&right))
            });
        }
    }
}
