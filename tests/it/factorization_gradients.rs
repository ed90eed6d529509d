//! Gradients through the Cholesky factorization and quantities computed from its factor.

use crate::support::{
    Dense, Input, Random, assert_close, check_gradients, dense, largest, numbers, platforms,
    symmetric,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{CholeskyFactor, Jitter, cholesky};

fn weighted<const D: usize>(values: Tensor<D>, weights: Tensor<D>) -> Tensor<1> {
    (values * weights).sum()
}

#[test]
fn gradients_through_the_factor() {
    for size in [1, 5, 65, 300] {
        let mut random = Random::new(17);
        let matrix = random.positive_definite(size);
        let weights = random.matrix(size, size);
        check_gradients(
            &format!("lower(), size {size}"),
            &[Input::from(&matrix)],
            1e-3,
            &|platform, inputs| {
                let factor = cholesky(symmetric(&inputs[0], size), Jitter::NONE).expect("factor");
                weighted(factor.lower(), platform.matrix(&weights))
            },
        );
        check_gradients(
            &format!("log_determinant(), size {size}"),
            &[Input::from(&matrix)],
            1e-4,
            &|_, inputs| {
                let factor = cholesky(symmetric(&inputs[0], size), Jitter::NONE).expect("factor");
                factor.log_determinant()
            },
        );
    }
}

/// One factor is used by several solves, in a log-determinant and as a matrix. All cotangents add
/// up.
#[test]
fn gradients_through_one_factor_used_many_times() {
    for size in [5, 64, 130, 300] {
        let mut random = Random::new(19);
        let matrix = random.positive_definite(size);
        let (first, second) = (random.matrix(size, 3), random.matrix(size, size + 1));
        let weights = [
            random.matrix(size, 3),
            random.matrix(size, size + 1),
            random.matrix(size, 3),
            random.matrix(size, size),
        ];
        check_gradients(
            &format!("factor used five times, size {size}"),
            &[(&matrix).into(), (&first).into(), (&second).into()],
            1e-3,
            &|platform, inputs| {
                let factor = cholesky(symmetric(&inputs[0], size), Jitter::NONE).expect("factor");
                let first = inputs[1].clone().reshape([size, 3]);
                let second = inputs[2].clone().reshape([size, size + 1]);
                let whitened = factor.solve(first.clone());
                let [a, b, c, d] = weights.each_ref().map(|weights| platform.matrix(weights));
                weighted(factor.solve_transposed(whitened.clone()), a)
                    + weighted(factor.solve(second), b)
                    + weighted(whitened.square(), c)
                    + weighted(factor.lower(), d)
                    + factor.log_determinant()
            },
        );
    }
}

/// The relative jitter depends on the mean of the diagonal: `K + ε·mean(diag K)·I`.
#[test]
fn gradients_through_the_jitter() {
    let jitters = [
        (Jitter::relative(0.1), 0.0),
        // The jitter is raised from 0.01 to 0.1.
        (Jitter::relative(0.01), -0.05),
    ];
    for (jitter, lambda) in jitters {
        for size in [5, 70] {
            let mut random = Random::new(23);
            let matrix = if lambda < 0.0 {
                random.with_eigenvalue(size, lambda)
            } else {
                random.positive_definite(size)
            };
            let right = random.matrix(size, 4);
            check_gradients(
                &format!("jitter {jitter:?}, size {size}"),
                &[(&matrix).into(), (&right).into()],
                1e-2,
                &|_, inputs| {
                    let factor = cholesky(symmetric(&inputs[0], size), jitter).expect("factor");
                    let right = inputs[1].clone().reshape([size, 4]);
                    factor.solve(right).square().sum() + factor.log_determinant()
                },
            );
        }
    }
}

#[test]
fn gradients_of_batches_with_jitter_of_their_own() {
    let size = 6;
    let mut random = Random::new(29);
    let members = [
        random.positive_definite(size),
        random.with_eigenvalue(size, -0.05),
        random.positive_definite(size),
    ];
    let right = [
        random.matrix(size, 2),
        random.matrix(size, 2),
        random.matrix(size, 2),
    ];
    let weights = random.matrix(3, size * size);
    check_gradients(
        "a batch",
        &[
            dense::flatten(&members).into(),
            dense::flatten(&right).into(),
        ],
        1e-2,
        &|platform, inputs| {
            let matrix: Tensor<3> = inputs[0].clone().reshape([3, size, size]);
            let matrix = (matrix.clone() + matrix.transpose()) * 0.5;
            let factor = cholesky(matrix, Jitter::relative(0.01)).expect("factor");
            let right = inputs[1].clone().reshape([3, size, 2]);
            let scale = platform.tensor(&[1.0, 2.0, -0.5], [3]);
            weighted(
                factor.lower(),
                platform.tensor(&weights.values, [3, size, size]),
            ) + factor.solve(right.clone()).square().sum()
                + factor.solve_transposed(right).square().sum()
                + weighted(factor.log_determinant(), scale)
        },
    );
}

#[test]
fn gradients_reach_the_matrix_symmetrically() {
    for platform in platforms() {
        let matrix = Random::new(31).positive_definite(70);
        let tensor = platform.autodiff().matrix(&matrix).require_grad();
        let factor = cholesky(tensor.clone(), Jitter::INDUCING).expect("factor");
        let gradients = factor.log_determinant().backward();
        let gradient = Dense::new(70, 70, numbers(tensor.grad(&gradients).expect("gradient")));
        // The triangles agree up to the rounding errors of the last solve.
        let difference = gradient.minus(&gradient.transposed());
        let bound = platform.tolerance(1e-14, 1e-5) * largest(&gradient.values);
        assert!(largest(&difference.values) <= bound, "{platform}");
        let tolerance = platform.tolerance(1e-5, 1e-4);
        // The inverse of K, up to the jitter of 1e-6.
        let inverse = matrix.inverse();
        assert_close(
            &format!("{platform}"),
            &gradient.values,
            &inverse.values,
            tolerance,
        );
    }
}

#[test]
fn gradients_through_from_lower() {
    for size in [1, 5, 65, 130] {
        let mut random = Random::new(37);
        let triangle = random.lower_triangle(size);
        let (right, weights) = (random.matrix(size, 3), random.matrix(size, size));
        check_gradients(
            &format!("from_lower, size {size}"),
            &[(&triangle).into(), (&right).into()],
            1e-3,
            &|platform, inputs| {
                let triangle = inputs[0].clone().reshape([size, size]);
                let factor = CholeskyFactor::from_lower(triangle).expect("regular");
                let right = inputs[1].clone().reshape([size, 3]);
                factor.solve(right.clone()).square().sum()
                    + factor.solve_transposed(right).square().sum()
                    + weighted(factor.lower(), platform.matrix(&weights))
                    + factor.log_determinant()
            },
        );
    }
}

/// `∂ log|K| / ∂K = K⁻¹`, at a size where all products run on several threads.
#[test]
fn the_gradient_of_a_large_log_determinant_is_the_inverse() {
    let size = 600;
    let matrix = Random::new(41).positive_definite(size);
    for platform in platforms() {
        let tensor = platform.autodiff().matrix(&matrix).require_grad();
        let factor = cholesky(tensor.clone(), Jitter::NONE).expect("factor");
        let gradients = factor.log_determinant().backward();
        let gradient = Dense::new(
            size,
            size,
            numbers(tensor.grad(&gradients).expect("gradient")),
        );
        let product = gradient.times(&matrix);
        let tolerance = platform.tolerance(1e-12, 1e-4);
        let identity = Dense::identity(size).values;
        assert_close(
            &format!("{platform}"),
            &product.values,
            &identity,
            tolerance,
        );
    }
}
