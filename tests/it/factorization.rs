//! The Cholesky factorization: its factor, its jitter and its error.

use crate::support::{Dense, Platform, Random, assert_close, numbers, platforms};
use burn::tensor::Tensor;
use burn_gp_core::ops::{CholeskyFactor, Jitter, NotPositiveDefinite, SingularTriangle, cholesky};

/// One row, less than a block, sizes around one and two blocks, and several blocks with a thread
/// each.
const SIZES: [usize; 8] = [1, 5, 63, 64, 65, 130, 300, 600];

fn factored(platform: &Platform, matrix: &Dense) -> CholeskyFactor<2> {
    match cholesky(platform.matrix(matrix), Jitter::NONE) {
        Ok(factor) => factor,
        Err(error) => panic!("{platform}: {error}"),
    }
}

#[track_caller]
fn failure(platform: &Platform, matrix: &Dense, jitter: Jitter) -> NotPositiveDefinite {
    match cholesky(platform.matrix(matrix), jitter) {
        Ok(_) => panic!("{platform}: a factor of a matrix that has none"),
        Err(error) => error,
    }
}

/// Compares the jitter of an error. On a GPU the number is in single precision, and every tenfold
/// increase is rounded.
#[track_caller]
fn assert_jitter(platform: &Platform, error: &NotPositiveDefinite, expected: f64) {
    let tolerance = if platform.is_host() { 1e-12 } else { 5e-7 };
    assert!(
        (error.jitter / expected - 1.0).abs() < tolerance,
        "{platform}: {}, not {expected}",
        error.jitter
    );
}

fn lower(platform: &Platform, values: Tensor<2>) -> Dense {
    let [rows, columns] = values.dims();
    let values = numbers(values);
    assert!(
        values.iter().all(|value| value.is_finite()),
        "{platform}: the factor is finite"
    );
    Dense::new(rows, columns, values)
}

#[test]
fn factor_times_its_transpose_is_the_matrix() {
    for platform in platforms() {
        for size in SIZES {
            let matrix = Random::new(size as u64).positive_definite(size);
            let factor = lower(&platform, factored(&platform, &matrix).lower());
            assert_eq!(
                factor,
                factor.lower(),
                "{platform}, {size}: zeros above the diagonal"
            );
            assert!(factor.diagonal().iter().all(|&pivot| pivot > 0.0));
            let product = factor.times(&factor.transposed());
            // Rounding errors of sums of `size` products.
            let tolerance = platform.tolerance(1e-14, 5e-6);
            let what = format!("{platform}, size {size}");
            assert_close(&what, &product.values, &matrix.values, tolerance);
        }
    }
}

#[test]
fn only_the_lower_triangle_is_read() {
    for platform in platforms() {
        for size in [5, 65, 130] {
            let matrix = Random::new(7).positive_definite(size);
            let half =
                Dense::from_function(
                    size,
                    size,
                    |i, j| {
                        if j > i { f64::NAN } else { matrix[(i, j)] }
                    },
                );
            let whole = numbers(factored(&platform, &matrix).lower());
            assert_eq!(
                numbers(factored(&platform, &half).lower()),
                whole,
                "{platform}, {size}"
            );
        }
    }
}

#[test]
fn a_matrix_whose_rows_are_not_contiguous() {
    let size = 70;
    let mut random = Random::new(8);
    let (matrix, right) = (random.positive_definite(size), random.matrix(size, 9));
    for platform in platforms() {
        let expected = factored(&platform, &matrix);
        let bordered = Dense::from_function(size + 3, size + 2, |i, j| {
            if i < size && j >= 2 {
                matrix[(i, j - 2)]
            } else {
                -1.0
            }
        });
        let view = platform
            .matrix(&bordered)
            .narrow(0, 0, size)
            .narrow(1, 2, size);
        let factor = cholesky(view, Jitter::NONE).expect("positive definite");
        assert_eq!(
            numbers(factor.lower()),
            numbers(expected.lower()),
            "{platform}: a window"
        );
        let turned = platform.matrix(&right.transposed()).transpose();
        let solved = numbers(factor.solve(turned));
        let plain = numbers(expected.solve(platform.matrix(&right)));
        assert_eq!(solved, plain, "{platform}: a transposed right-hand side");
    }
}

#[test]
fn batches_factor_member_by_member() {
    for platform in platforms() {
        for size in [5, 70] {
            let mut random = Random::new(11);
            let members: Vec<Dense> = (0..4).map(|_| random.positive_definite(size)).collect();
            let alone: Vec<f64> = members
                .iter()
                .flat_map(|member| numbers(factored(&platform, member).lower()))
                .collect();
            let batch = platform.batch(&members);
            let factor = cholesky(batch.clone(), Jitter::NONE).expect("positive definite");
            assert_eq!(
                numbers(factor.lower()),
                alone,
                "{platform}: one batch dimension"
            );
            let deeper: Tensor<4> = batch.reshape([2, 2, size, size]);
            let factor = cholesky(deeper, Jitter::NONE).expect("positive definite");
            assert_eq!(factor.lower().dims(), [2, 2, size, size]);
            assert_eq!(
                numbers(factor.lower()),
                alone,
                "{platform}: two batch dimensions"
            );
            let determinants: Vec<f64> = members.iter().map(Dense::log_determinant).collect();
            let what = format!("{platform}: log-determinants");
            let tolerance = platform.tolerance(1e-13, 1e-5);
            assert_close(
                &what,
                &numbers(factor.log_determinant()),
                &determinants,
                tolerance,
            );
        }
    }
}

#[test]
fn the_log_determinant_is_that_of_the_matrix() {
    for platform in platforms() {
        for size in SIZES {
            let matrix = Random::new(size as u64).positive_definite(size).scaled(3.0);
            let value = numbers(factored(&platform, &matrix).log_determinant());
            let what = format!("{platform}, size {size}");
            let tolerance = platform.tolerance(1e-13, 1e-5);
            assert_close(&what, &value, &[matrix.log_determinant()], tolerance);
        }
    }
}

/// An eigenvalue of −λ needs a jitter above λ. The first sufficient value among 1e-6, 1e-5, … is
/// added, times the mean of the diagonal. Nothing else changes.
#[test]
fn jitter_is_raised_tenfold_until_it_suffices() {
    for platform in platforms() {
        for (lambda, jitter) in [(-3e-4, 1e-3), (-3e-3, 1e-2)] {
            for size in [5, 130] {
                // The mean of the diagonal is not one.
                let matrix = Random::new(3).with_eigenvalue(size, lambda).scaled(5.0);
                let factor = cholesky(platform.matrix(&matrix), Jitter::INDUCING);
                let factor = lower(&platform, factor.expect("jitter suffices").lower());
                let product = factor.times(&factor.transposed());
                let added = jitter * matrix.trace() / size as f64;
                let expected = matrix.plus(&Dense::identity(size).scaled(added));
                let what = format!("{platform}, size {size}, eigenvalue {lambda}");
                let tolerance = platform.tolerance(1e-14, 2e-6);
                assert_close(&what, &product.values, &expected.values, tolerance);
            }
        }
    }
}

/// A singular matrix can be factored with the initial jitter of each precision, which is four or
/// five digits above rounding.
#[test]
fn the_first_jitter_suits_the_precision() {
    for platform in platforms() {
        let size = 6;
        let ones = Dense::from_function(size, size, |_, _| 1.0);
        let jitter = Jitter::for_precision(platform.dtype);
        let factor = cholesky(platform.matrix(&ones), jitter).expect("the first jitter suffices");
        let last = lower(&platform, factor.lower())[(size - 1, size - 1)];
        // The last pivot of 1 + εI is ε·(1 + 1/5) to first order in ε. The entries are one, so
        // their rounding error is the machine epsilon.
        let expected = 1.2 * platform.tolerance(1e-8, 1e-6);
        let error = (last * last - expected).abs();
        assert!(
            error <= 8.0 * platform.epsilon(),
            "{platform}: {}, not {expected}",
            last * last
        );
    }
}

#[test]
fn a_singular_matrix_gets_the_smallest_jitter() {
    for platform in platforms() {
        let ones = Dense::from_function(6, 6, |_, _| 1.0);
        let factor = lower(&platform, factored(&platform, &ones).lower());
        let product = factor.times(&factor.transposed());
        // From 10ε to 10 000ε, the whole range of the escalation.
        let tolerance = 1e4 * platform.epsilon();
        assert_close(
            &format!("{platform}"),
            &product.values,
            &ones.values,
            tolerance,
        );
    }
}

#[test]
fn in_a_batch_only_members_that_fail_get_more_jitter() {
    for platform in platforms() {
        let mut random = Random::new(5);
        let good = random.positive_definite(20);
        let bad = random.with_eigenvalue(20, -3e-4);
        let batch = platform.batch(&[good.clone(), bad, good.clone()]);
        let factor = cholesky(batch, Jitter::INDUCING).expect("jitter suffices");
        let factors = numbers(factor.lower());
        let alone = cholesky(platform.matrix(&good), Jitter::INDUCING).expect("positive definite");
        let alone = numbers(alone.lower());
        assert_eq!(factors[..400], alone, "{platform}: the member before");
        assert_eq!(factors[800..], alone, "{platform}: the member after");
    }
}

/// In a diagonal matrix, the bad pivot is at a known row.
fn diagonal_with(size: usize, row: usize, value: f64) -> Dense {
    let entry = |i: usize| {
        if i == row {
            value
        } else {
            2.0 + (i % 3) as f64
        }
    };
    Dense::from_function(size, size, |i, j| if i == j { entry(i) } else { 0.0 })
}

#[test]
fn the_error_names_everything() {
    for platform in platforms() {
        for (size, pivot) in [(4, 2), (1, 0), (65, 64), (130, 100), (300, 299)] {
            let bad = diagonal_with(size, pivot, -1.0);
            let last = if size == 1 {
                -1.0
            } else {
                4.0f64.min(size as f64)
            };
            let error = failure(&platform, &bad, Jitter::INDUCING);
            let expected = NotPositiveDefinite {
                batch: 0,
                pivot,
                size,
                jitter: error.jitter,
                smallest_diagonal: -1.0,
                largest_diagonal: if size == 4 { 3.0 } else { last },
                dtype: platform.dtype,
            };
            assert_eq!(error, expected, "{platform}");
            // Four escalations from 1e-6.
            assert_jitter(&platform, &error, 1e-2);
        }
    }
}

#[test]
fn the_error_of_a_batch_names_the_first_member_that_failed() {
    for platform in platforms() {
        let good = diagonal_with(5, 0, 1.0);
        let members = [
            good.clone(),
            good,
            diagonal_with(5, 3, -1.0),
            diagonal_with(5, 1, -1.0),
        ];
        let error = cholesky(platform.batch(&members), Jitter::NONE).expect_err("member 2 fails");
        assert_eq!(
            (error.batch, error.pivot, error.size),
            (2, 3, 5),
            "{platform}"
        );
        assert_jitter(&platform, &error, 1e4 * platform.epsilon());
    }
}

#[test]
fn without_escalations_one_attempt_is_made() {
    for platform in platforms() {
        let jitter = Jitter {
            initial: 1e-3,
            escalations: 0,
        };
        let error = failure(&platform, &diagonal_with(5, 3, -1e-2), jitter);
        assert_eq!(error.pivot, 3, "{platform}");
        assert_jitter(&platform, &error, 1e-3);
    }
}

#[test]
fn the_error_reads_as_one_sentence_and_advice() {
    let platform = &platforms()[0];
    let error = failure(platform, &diagonal_with(4, 2, -1.0), Jitter::INDUCING);
    assert_eq!(
        error.to_string(),
        format!(
            "the 4x4 {:?} matrix (batch member 0) is not positive definite: pivot 2 failed with \
             relative jitter up to 1.0e-2; its diagonal lies between -1.000e0 and 3.000e0. Look \
             for duplicate points or lengthscales far larger than the range of the data, raise the \
             jitter, or use f64.",
            platform.dtype
        )
    );
    let error = failure(platform, &diagonal_with(4, 2, f64::NAN), Jitter::INDUCING);
    assert!(error.to_string().contains("NaN or infinite"), "{error}");
}

/// NaN and infinite entries anywhere in the lower triangle give the typed error with their row,
/// never a factor.
#[test]
fn values_that_are_not_finite_give_the_error() {
    for platform in platforms() {
        for size in [1, 5, 65, 130] {
            let matrix = Random::new(9).positive_definite(size);
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                for (row, column) in [
                    (0, 0),
                    (size / 2, size / 2),
                    (size - 1, size - 1),
                    (size - 1, 0),
                    (size - 1, size / 2),
                    (size / 2, size / 4),
                ] {
                    let mut bad = matrix.clone();
                    bad[(row, column)] = value;
                    let error = failure(&platform, &bad, Jitter::INDUCING);
                    let what = format!("{platform}, size {size}, {value} at ({row}, {column})");
                    assert_eq!((error.pivot, error.size), (row, size), "{what}");
                    let range = [error.smallest_diagonal, error.largest_diagonal];
                    let finite = range.iter().all(|bound| bound.is_finite());
                    assert_eq!(finite, row != column, "{what}: diagonal range {range:?}");
                }
            }
        }
        let members = [Dense::identity(3), diagonal_with(3, 1, f64::NAN)];
        let error = cholesky(platform.batch(&members), Jitter::NONE).expect_err("NaN");
        assert_eq!((error.batch, error.pivot), (1, 1), "{platform}");
    }
}

#[test]
fn matrices_of_zeros_or_negative_diagonals_give_the_error() {
    for platform in platforms() {
        let zeros = Dense::identity(5).scaled(0.0);
        assert_eq!(failure(&platform, &zeros, Jitter::INDUCING).pivot, 0);
        let negative = Dense::identity(5).scaled(-1.0);
        assert_eq!(failure(&platform, &negative, Jitter::INDUCING).pivot, 0);
    }
}

#[test]
#[should_panic(expected = "expected square matrices")]
fn a_matrix_that_is_not_square_is_the_callers_error() {
    let platform = &platforms()[0];
    let _ = cholesky(platform.tensor(&[0.0; 6], [2, 3]), Jitter::NONE);
}

#[test]
fn from_lower_takes_the_lower_triangle_as_it_is() {
    for platform in platforms() {
        for size in SIZES {
            let triangle = Random::new(13).lower_triangle(size);
            let filled =
                Dense::from_function(
                    size,
                    size,
                    |i, j| {
                        if j > i { f64::NAN } else { triangle[(i, j)] }
                    },
                );
            let factor = CholeskyFactor::from_lower(platform.matrix(&filled)).expect("regular");
            let expected = platform.rounded(&triangle.values);
            assert_eq!(numbers(factor.lower()), expected, "{platform}, {size}");
        }
    }
}

#[test]
fn a_singular_triangle_gives_the_error() {
    for platform in platforms() {
        for size in [3, 65, 130] {
            for value in [0.0, f64::NAN, f64::INFINITY] {
                let row = size - 2;
                let mut triangle = Random::new(13).lower_triangle(size);
                triangle[(row, row)] = value;
                let batch = platform.batch(&[Dense::identity(size), triangle]);
                let error = CholeskyFactor::from_lower(batch).expect_err("singular");
                assert_eq!(
                    error,
                    SingularTriangle { batch: 1, row },
                    "{platform}, {value}"
                );
            }
        }
    }
}
