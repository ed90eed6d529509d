//! Column sums of squares, projected moments, KL divergences and scalar functions.

use crate::support::{
    Dense, Random, assert_close, assert_finite, check_gradients, dense, numbers, platforms,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{
    column_squares, gaussian_kl, log_normal_cdf, marginals_minus_prior, projected_moments, softplus,
};

#[test]
fn column_squares_are_the_diagonal_of_the_gram_matrix() {
    for platform in platforms() {
        for (rows, columns) in [(1, 1), (5, 3), (7, 1300), (300, 513), (2, 512)] {
            let matrix = Random::new(103).matrix(rows, columns);
            let expected: Vec<f64> = (0..columns)
                .map(|j| (0..rows).map(|i| matrix[(i, j)].powi(2)).sum())
                .collect();
            let what = format!("{platform}, {rows} x {columns}");
            let tolerance = platform.tolerance(1e-14, 2e-6);
            let sums = numbers(column_squares(platform.matrix(&matrix)));
            assert_close(&what, &sums, &expected, tolerance);
            let turned = platform.matrix(&matrix.transposed()).transpose();
            assert_eq!(
                numbers(column_squares(turned)),
                sums,
                "{what}: transposed memory"
            );
        }
    }
}

#[test]
fn gradients_of_column_squares() {
    for (rows, columns) in [(4, 3), (7, 1300), (300, 513)] {
        let mut random = Random::new(107);
        let (matrix, weights) = (random.matrix(rows, columns), random.normals(columns));
        check_gradients(
            &format!("column_squares, {rows} x {columns}"),
            &[(&matrix).into()],
            1e-5,
            &|platform, inputs| {
                let sums = column_squares(inputs[0].clone().reshape([rows, columns]));
                (sums * platform.tensor(&weights, [columns])).sum()
            },
        );
    }
}

/// M, N, P: one variable, sizes around the panels of a triangular product, several threads.
const SHAPES: [(usize, usize, usize); 6] = [
    (1, 1, 1),
    (5, 7, 1),
    (5, 1, 3),
    (65, 130, 3),
    (130, 300, 1),
    (300, 600, 3),
];

/// Lower triangles, and copies with NaN above the diagonal, which prove that nothing reads it.
fn triangles(random: &mut Random, size: usize, outputs: usize) -> (Vec<Dense>, Vec<Dense>) {
    let clean: Vec<Dense> = (0..outputs).map(|_| random.lower_triangle(size)).collect();
    let garbage = clean
        .iter()
        .map(|triangle| {
            Dense::from_function(
                size,
                size,
                |i, j| {
                    if j > i { f64::NAN } else { triangle[(i, j)] }
                },
            )
        })
        .collect();
    (clean, garbage)
}

#[test]
fn projected_moments_are_those_of_the_dense_formula() {
    for platform in platforms() {
        for (size, columns, outputs) in SHAPES {
            let mut random = Random::new(109);
            let (basis, mean) = (random.matrix(size, columns), random.matrix(outputs, size));
            let (clean, garbage) = triangles(&mut random, size, outputs);
            let (means, variances) = projected_moments(
                platform.matrix(&basis),
                platform.matrix(&mean),
                platform.batch(&garbage),
            );
            assert_eq!(
                (means.dims(), variances.dims()),
                ([columns, outputs], [columns, outputs])
            );
            let what = format!("{platform}, M {size}, N {columns}, P {outputs}");
            let expected = basis.transposed().times(&mean.transposed());
            let tolerance = platform.tolerance(1e-13, 1e-5);
            assert_close(&what, &numbers(means), &expected.values, tolerance);
            let projected: Vec<Dense> = clean
                .iter()
                .map(|scale| scale.transposed().times(&basis))
                .collect();
            let expected = Dense::from_function(columns, outputs, |n, p| {
                (0..size).map(|m| projected[p][(m, n)].powi(2)).sum()
            });
            assert_close(&what, &numbers(variances), &expected.values, tolerance);
            let (means, changes) = marginals_minus_prior(
                platform.matrix(&basis),
                platform.matrix(&mean),
                platform.batch(&garbage),
            );
            let of_prior = |n| (0..size).map(|m| basis[(m, n)].powi(2)).sum::<f64>();
            let expected =
                Dense::from_function(columns, outputs, |n, p| expected[(n, p)] - of_prior(n));
            assert_close(&what, &numbers(changes), &expected.values, tolerance);
            let expected = basis.transposed().times(&mean.transposed());
            assert_close(&what, &numbers(means), &expected.values, tolerance);
        }
    }
}

#[test]
fn without_columns_there_are_no_moments() {
    for platform in platforms() {
        for outputs in [1, 3] {
            let size = 4;
            let mut random = Random::new(111);
            let mean = random.matrix(outputs, size);
            let (clean, _) = triangles(&mut random, size, outputs);
            for operation in [projected_moments, marginals_minus_prior] {
                let (means, variances) = operation(
                    platform.tensor(&[], [size, 0]),
                    platform.matrix(&mean),
                    platform.batch(&clean),
                );
                let dims = (means.dims(), variances.dims());
                assert_eq!(dims, ([0, outputs], [0, outputs]), "{platform}");
            }
        }
    }
}

type Operation = fn(Tensor<2>, Tensor<2>, Tensor<3>) -> (Tensor<2>, Tensor<2>);

#[test]
fn gradients_of_projected_moments() {
    for (size, columns, outputs) in SHAPES {
        let mut random = Random::new(113);
        let (basis, mean) = (random.matrix(size, columns), random.matrix(outputs, size));
        let (clean, _) = triangles(&mut random, size, outputs);
        let weights = [
            random.matrix(columns, outputs),
            random.matrix(columns, outputs),
        ];
        for (name, operation) in [
            ("projected_moments", projected_moments as Operation),
            ("marginals_minus_prior", marginals_minus_prior),
        ] {
            check_gradients(
                &format!("{name}, M {size}, N {columns}, P {outputs}"),
                &[
                    (&basis).into(),
                    (&mean).into(),
                    dense::flatten(&clean).into(),
                ],
                1e-4,
                &|platform, inputs| {
                    let (means, variances) = operation(
                        inputs[0].clone().reshape([size, columns]),
                        inputs[1].clone().reshape([outputs, size]),
                        inputs[2].clone().reshape([outputs, size, size]),
                    );
                    let [first, second] =
                        weights.each_ref().map(|weights| platform.matrix(weights));
                    (means * first).sum() + (variances * second).sum()
                },
            );
        }
    }
}

#[test]
fn no_gradient_reaches_the_upper_triangle() {
    for platform in platforms() {
        for size in [5, 130] {
            let mut random = Random::new(127);
            let tracked = platform.autodiff();
            let scale = tracked.batch(&[random.matrix(size, size)]).require_grad();
            let mean = tracked.matrix(&random.matrix(1, size));
            let basis = tracked.matrix(&random.matrix(size, 7));
            let (_, variances) = projected_moments(basis, mean.clone(), scale.clone());
            let kl = gaussian_kl(mean, scale.clone());
            let gradients = (variances.sum() + kl.sum()).backward();
            let gradient = numbers(scale.grad(&gradients).expect("gradient"));
            let gradient = Dense::new(size, size, gradient);
            assert_eq!(gradient, gradient.lower(), "{platform}, size {size}");
        }
    }
}

#[test]
#[should_panic(expected = "projected_moments")]
fn moments_of_shapes_that_do_not_fit_are_the_callers_error() {
    let platform = &platforms()[0];
    projected_moments(
        platform.tensor(&[0.0; 6], [3, 2]),
        platform.tensor(&[0.0; 2], [1, 2]),
        platform.tensor(&[0.0; 4], [1, 2, 2]),
    );
}

/// `½(tr S + mᵀm − M − log|S|)` for `S = WWᵀ`, which does not depend on the signs of W's diagonal.
#[test]
fn the_divergence_is_that_of_the_dense_formula() {
    for platform in platforms() {
        for (size, outputs) in [(1, 1), (5, 3), (65, 1), (130, 2)] {
            let mut random = Random::new(131);
            let mean = random.matrix(outputs, size);
            let (clean, garbage) = triangles(&mut random, size, outputs);
            let values = numbers(gaussian_kl(
                platform.matrix(&mean),
                platform.batch(&garbage),
            ));
            let expected: Vec<f64> = (0..outputs)
                .map(|p| {
                    let covariance = clean[p].times(&clean[p].transposed());
                    let squares: f64 = mean.row(p).iter().map(|m| m * m).sum();
                    0.5 * (covariance.trace() + squares
                        - size as f64
                        - covariance.log_determinant())
                })
                .collect();
            let what = format!("{platform}, M {size}, P {outputs}");
            assert_close(&what, &values, &expected, platform.tolerance(1e-12, 2e-6));
        }
    }
}

#[test]
fn gradients_of_the_divergence() {
    for (size, outputs) in [(1, 1), (5, 3), (130, 2)] {
        let mut random = Random::new(137);
        let mean = random.matrix(outputs, size);
        let (clean, _) = triangles(&mut random, size, outputs);
        let weights = random.normals(outputs);
        check_gradients(
            &format!("gaussian_kl, M {size}, P {outputs}"),
            &[(&mean).into(), dense::flatten(&clean).into()],
            1e-5,
            &|platform, inputs| {
                let kl = gaussian_kl(
                    inputs[0].clone().reshape([outputs, size]),
                    inputs[1].clone().reshape([outputs, size, size]),
                );
                (kl * platform.tensor(&weights, [outputs])).sum()
            },
        );
    }
}

/// Arguments from very small to very large, where naive formulas overflow in one branch or the
/// other.
const ARGUMENTS: [f64; 12] = [
    -80.0, -30.0, -12.0, -10.001, -9.999, -3.0, -0.5, 0.0, 0.25, 2.0, 6.0, 60.0,
];

#[test]
fn softplus_is_the_logarithm_of_one_plus_the_exponential() {
    for platform in platforms() {
        let values = numbers(softplus(platform.tensor(&ARGUMENTS, [12])));
        for (x, value) in platform.rounded(&ARGUMENTS).into_iter().zip(values) {
            let expected = if x > 0.0 {
                x + (-x).exp().ln_1p()
            } else {
                x.exp().ln_1p()
            };
            let tolerance = platform.tolerance(1e-15, 2e-7);
            assert_close(
                &format!("{platform}, softplus({x})"),
                &[value],
                &[expected],
                tolerance,
            );
        }
    }
}

/// `log Φ` by the complementary error function, or by the Mills ratio as a continued fraction where
/// the former underflows.
fn reference_log_cdf(x: f64) -> f64 {
    if x > -8.0 {
        return (0.5 * libm::erfc(-x / 2f64.sqrt())).ln();
    }
    let fraction = (1..200).rev().fold(-x, |tail, k| -x + f64::from(k) / tail);
    -0.5 * x * x - 0.5 * (2.0 * std::f64::consts::PI).ln() - fraction.ln()
}

#[test]
fn log_normal_cdf_is_accurate_in_both_tails() {
    for platform in platforms() {
        let values = numbers(log_normal_cdf(platform.tensor(&ARGUMENTS, [12])));
        for (x, value) in platform.rounded(&ARGUMENTS).into_iter().zip(values) {
            let expected = reference_log_cdf(x);
            // Where Φ rounds to one, its logarithm has only absolute accuracy, below ε.
            let tolerance = platform.tolerance(1e-13, 2e-7);
            let error = (value - expected).abs();
            let bound = tolerance * expected.abs() + platform.epsilon();
            assert!(
                error <= bound,
                "{platform}, log Φ({x}) = {value}, expected {expected}"
            );
        }
    }
}

type ScalarFunction = fn(Tensor<1>) -> Tensor<1>;

#[test]
fn gradients_of_the_scalar_functions() {
    let arguments: Vec<f64> = ARGUMENTS.to_vec();
    let functions: [(&str, ScalarFunction); 2] =
        [("softplus", softplus), ("log_normal_cdf", log_normal_cdf)];
    for (name, function) in functions {
        for argument in &arguments {
            // Each argument has its own check, because a gradient of 1e-26 would be negligible next
            // to one of 80.
            check_gradients(
                &format!("{name} at {argument}"),
                &[vec![*argument].into()],
                1e-4,
                &|_, inputs| function(inputs[0].clone()).sum(),
            );
        }
    }
    for platform in platforms() {
        let x = platform.autodiff().tensor(&[-1e4, 1e4], [2]).require_grad();
        for (name, function) in functions {
            let gradients = function(x.clone()).sum().backward();
            let gradient = numbers(x.grad(&gradients).expect("gradient"));
            assert_finite(&format!("{platform}, slope of {name} far out"), &gradient);
        }
    }
}
