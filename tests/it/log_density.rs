//! The log-density of Gaussian data under a dense covariance matrix, and its gradients.

use crate::support::{
    Dense, Input, Random, assert_close, check_gradients, numbers, platforms,
    platforms_of_operations, symmetric,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{
    Jitter, NotPositiveDefinite, cholesky, gaussian_log_densities, gaussian_log_density,
};

/// One row, less than a block, sizes around one block, several blocks, and several blocks with a
/// thread each.
const SIZES: [usize; 7] = [1, 5, 31, 33, 65, 130, 300];

/// `Σ_p log N(r_p | 0, K)` by dense algebra.
fn reference(covariance: &Dense, residual: &Dense) -> f64 {
    let weights = covariance.solve(residual);
    let fit: f64 = (weights.values.iter().zip(&residual.values))
        .map(|(weight, residual)| weight * residual)
        .sum();
    let rows = residual.rows as f64 * (2.0 * std::f64::consts::PI).ln();
    -0.5 * (fit + residual.columns as f64 * (covariance.log_determinant() + rows))
}

#[test]
fn log_density_is_that_of_dense_algebra() {
    for size in SIZES {
        let mut random = Random::new(size as u64);
        let (covariance, residual) = (random.positive_definite(size), random.matrix(size, 3));
        let expected = reference(&covariance, &residual);
        for platform in platforms_of_operations() {
            let matrix = platform.matrix(&covariance);
            let ours = gaussian_log_density(matrix, platform.matrix(&residual), Jitter::NONE);
            // Rounding errors of the pivots and of sums of `size` products.
            let tolerance = platform.tolerance(1e-12, 1e-4);
            let what = format!("{platform}, size {size}");
            assert_close(&what, &numbers(ours.unwrap()), &[expected], tolerance);
        }
    }
}

/// The covariance enters the loss like any tensor, and the residual is used a second time.
#[test]
fn gradients_are_those_of_central_differences() {
    for size in SIZES {
        let mut random = Random::new(31);
        let covariance = random.positive_definite(size);
        let residual = random.matrix(size, 2);
        check_gradients(
            &format!("size {size}"),
            &[Input::from(&covariance), Input::from(&residual)],
            1e-3,
            &|_, inputs| {
                let residual = inputs[1].clone().reshape([size, 2]);
                let matrix = symmetric(&inputs[0], size);
                let density = gaussian_log_density(matrix, residual.clone(), Jitter::NONE);
                density.unwrap() * 0.3 + residual.square().sum()
            },
        );
    }
}

/// The same gradient through the factor, whose backward pass is another algorithm:
/// `K̄ = ½·L⁻ᵀ(Φ + Φᵀ)L⁻¹`.
#[test]
fn gradients_are_those_of_the_factor_and_its_solves() {
    let size = 400;
    let mut random = Random::new(37);
    let (covariance, residual) = (random.positive_definite(size), random.matrix(size, 1));
    for platform in platforms() {
        let platform = platform.autodiff();
        let gradients = |loss: &dyn Fn(Tensor<2>, Tensor<2>) -> Tensor<1>| {
            let matrix = platform.matrix(&covariance).require_grad();
            let residual = platform.matrix(&residual).require_grad();
            let all = loss(matrix.clone(), residual.clone()).backward();
            [matrix, residual].map(|tensor| numbers(tensor.grad(&all).unwrap()))
        };
        let ours = gradients(&|matrix, residual| {
            gaussian_log_density(matrix, residual, Jitter::NONE).unwrap()
        });
        let by_factor = gradients(&|matrix, residual| {
            let factor = cholesky(matrix, Jitter::NONE).unwrap();
            (factor.solve(residual).square().sum() + factor.log_determinant()) * -0.5
        });
        let tolerance = platform.tolerance(1e-12, 1e-4);
        for (ours, expected) in ours.iter().zip(&by_factor) {
            assert_close(&platform.to_string(), ours, expected, tolerance);
        }
    }
}

/// The relative jitter depends on the mean of the diagonal: `K + ε·mean(diag K)·I`.
#[test]
fn jitter_is_in_the_density_and_in_its_gradient() {
    for size in [5, 70] {
        let mut random = Random::new(23);
        // There is no factor without jitter or with the first jitter.
        let covariance = random.with_eigenvalue(size, -0.05);
        let residual = random.matrix(size, 1);
        let mean = covariance.trace() / size as f64;
        let expected = reference(
            &covariance.plus(&Dense::identity(size).scaled(0.1 * mean)),
            &residual,
        );
        let density = |matrix, residual| {
            gaussian_log_density(matrix, residual, Jitter::relative(0.01)).unwrap()
        };
        for platform in platforms() {
            let ours = density(platform.matrix(&covariance), platform.matrix(&residual));
            // The smallest pivots are about a tenth of the scale of the eigenvalues.
            let tolerance = platform.tolerance(1e-12, 1e-4);
            let what = format!("{platform}, size {size}");
            assert_close(&what, &numbers(ours), &[expected], tolerance);
        }
        check_gradients(
            &format!("size {size}"),
            &[Input::from(&covariance), Input::from(&residual)],
            1e-2,
            &|_, inputs| {
                let residual = inputs[1].clone().reshape([size, 1]);
                density(symmetric(&inputs[0], size), residual)
            },
        );
    }
}

#[test]
fn a_matrix_without_a_factor_is_an_error() {
    for platform in platforms() {
        let matrix = Dense::identity(3).scaled(-1.0);
        let residual = platform.matrix(&Random::new(1).matrix(3, 1));
        let outcome = gaussian_log_density(platform.matrix(&matrix), residual, Jitter::NONE);
        let NotPositiveDefinite { pivot, size, .. } = outcome.unwrap_err();
        assert_eq!((pivot, size), (0, 3), "{platform}");
    }
}

#[test]
#[should_panic(expected = "expected [N, N] and [N, P]")]
fn shapes_must_fit() {
    let platform = &platforms()[0];
    let mut random = Random::new(1);
    let (matrix, residual) = (random.positive_definite(3), random.matrix(4, 1));
    let _ = gaussian_log_density(
        platform.matrix(&matrix),
        platform.matrix(&residual),
        Jitter::NONE,
    );
}

/// A batch equals its members, in values and gradients, and fails if one of them does.
#[test]
fn a_batch_of_log_densities_is_its_members() {
    let members = 3;
    for size in [1, 5, 65, 200] {
        let mut random = Random::new(41);
        let matrices: Vec<Dense> = (0..members)
            .map(|_| random.positive_definite(size))
            .collect();
        let residuals: Vec<Dense> = (0..members).map(|_| random.matrix(size, 2)).collect();
        for platform in platforms_of_operations() {
            let platform = platform.autodiff();
            let what = format!("{platform}, size {size}");
            let weights = platform.tensor(&random.normals(members), [members]);
            let gradients = |densities: &dyn Fn(Tensor<3>, Tensor<3>) -> Tensor<1>| {
                let covariances = platform.batch(&matrices).require_grad();
                let residuals = platform.batch(&residuals).require_grad();
                let values = densities(covariances.clone(), residuals.clone());
                let all = (values.clone() * weights.clone()).sum().backward();
                let gradients = [covariances, residuals].map(|tensor| tensor.grad(&all).unwrap());
                (numbers(values), gradients.map(numbers))
            };
            let ours = gradients(&|covariances, residuals| {
                gaussian_log_densities(covariances, residuals, Jitter::NONE).unwrap()
            });
            let expected = gradients(&|covariances, residuals| {
                let each = (0..members).map(|index| {
                    let own = |all: &Tensor<3>| all.clone().narrow(0, index, 1).squeeze_dim(0);
                    let (covariance, residual) = (own(&covariances), own(&residuals));
                    gaussian_log_density(covariance, residual, Jitter::NONE).unwrap()
                });
                Tensor::cat(each.collect(), 0)
            });
            // Threads may divide a batch and a single matrix differently.
            let tolerance = platform.tolerance(1e-13, 1e-5);
            assert_close(&what, &ours.0, &expected.0, tolerance);
            for (ours, expected) in ours.1.iter().zip(&expected.1) {
                assert_close(&what, ours, expected, tolerance);
            }
        }
    }
    for platform in platforms() {
        let mut random = Random::new(43);
        let matrices = [
            random.positive_definite(5),
            random.with_eigenvalue(5, -0.05),
        ];
        let residuals = [(); 2].map(|()| random.matrix(5, 1));
        let (matrices, residuals) = (platform.batch(&matrices), platform.batch(&residuals));
        assert!(gaussian_log_densities(matrices, residuals, Jitter::NONE).is_err());
    }
}
