//! The signatures of all backend operations that run on devices other than the CPU.
//!
//! Backends that wrap another, or that represent a device of another machine, implement all operations in the
//! same way. They pass a macro to [`signatures`], which calls it with every trait, its operations and the
//! shapes of their results.

/// Calls a macro with the traits of operations. The shapes and types of the results follow after `=>`,
/// computed from references to the arguments.
macro_rules! signatures {
    ($implement:ident) => {
        $implement! {
            AdamOps {
                adam(
                    parameter: Tensor<Self>,
                    gradient: Tensor<Self>,
                    first: Tensor<Self>,
                    second: Tensor<Self>,
                    step: AdamStep,
                ) -> (Tensor<Self>, Tensor<Self>, Tensor<Self>)
                    => (like(parameter), like(first), like(second));
                adam_if(
                    parameter: Tensor<Self>,
                    gradient: Tensor<Self>,
                    first: Tensor<Self>,
                    second: Tensor<Self>,
                    ok: Tensor<Self>,
                    step: AdamStep,
                ) -> (Tensor<Self>, Tensor<Self>, Tensor<Self>)
                    => (like(parameter), like(first), like(second));
            }
            CholeskyOps {
                cholesky(matrix: Tensor<Self>, jitter: Jitter) -> (Tensor<Self>, Tensor<Self>)
                    => (like(matrix), status(matrix));
                cholesky_scaled(
                    matrix: Tensor<Self>,
                    scales: Tensor<Self>,
                    jitter: Jitter,
                ) -> (Tensor<Self>, Tensor<Self>)
                    => (like(matrix), status(matrix));
                factor_from_lower(matrix: Tensor<Self>) -> (Tensor<Self>, Tensor<Self>)
                    => (like(matrix), status(matrix));
                lower_of_factor(factor: Tensor<Self>) -> Tensor<Self>
                    => like(factor);
                factor_log_determinant(factor: Tensor<Self>) -> Tensor<Self>
                    => vector(factor, members(factor));
            }
            CholeskyBackward {
                cholesky_backward(
                    factor: Tensor<Self>,
                    status: Tensor<Self>,
                    cotangent: Tensor<Self>,
                ) -> Tensor<Self>
                    => like(factor);
                cholesky_scaled_backward(
                    factor: Tensor<Self>,
                    status: Tensor<Self>,
                    cotangent: Tensor<Self>,
                ) -> [Tensor<Self>; 2]
                    => [like(factor), vector(factor, members(factor))];
                factor_from_lower_backward(factor: Tensor<Self>, cotangent: Tensor<Self>) -> Tensor<Self>
                    => like(factor);
                lower_of_factor_backward(factor: Tensor<Self>, gradient: Tensor<Self>) -> Tensor<Self>
                    => like(factor);
                factor_log_determinant_backward(
                    factor: Tensor<Self>,
                    gradient: Tensor<Self>,
                ) -> Tensor<Self>
                    => like(factor);
            }
            CovarianceOps {
                covariance(
                    x1: Tensor<Self>,
                    x2: Tensor<Self>,
                    lengthscales: Tensor<Self>,
                    variance: Tensor<Self>,
                    kind: Stationary,
                ) -> Tensor<Self>
                    => matrices(x1, rows(x1), rows(x2));
            }
            CovarianceBackward {
                covariance_backward(
                    arguments: [Tensor<Self>; 4],
                    gradient: Tensor<Self>,
                    kind: Stationary,
                    wanted: [bool; 4],
                ) -> [Option<Tensor<Self>>; 4]
                    => wanted_of(arguments, *wanted);
            }
            CovarianceProductOps {
                covariance_product(
                    x1: Tensor<Self>,
                    x2: Tensor<Self>,
                    lengthscales: Tensor<Self>,
                    variance: Tensor<Self>,
                    vectors: Tensor<Self>,
                    kind: Stationary,
                    same: bool,
                ) -> Tensor<Self>
                    => matrices(vectors, rows(x1), columns(vectors));
                block_covariance(
                    points: Tensor<Self>,
                    others: Tensor<Self>,
                    lengthscales: Tensor<Self>,
                    variance: Tensor<Self>,
                    values: Tensor<Self>,
                    kind: Stationary,
                    pairs: BlockPairs,
                ) -> Tensor<Self>
                    => matrices(points, pairs.blocks.count(), rows(others));
            }
            CovarianceProductBackward {
                covariance_product_backward(
                    arguments: [Tensor<Self>; 5],
                    gradient: Tensor<Self>,
                    kind: Stationary,
                    same: bool,
                    points_wanted: bool,
                ) -> [Option<Tensor<Self>>; 5]
                    => product_gradients(arguments, *points_wanted, *same);
                block_covariance_backward(
                    arguments: [Tensor<Self>; 5],
                    gradient: Tensor<Self>,
                    kind: Stationary,
                    pairs: BlockPairs,
                    points_wanted: bool,
                ) -> [Option<Tensor<Self>>; 5]
                    => product_gradients(arguments, *points_wanted, pairs.same);
            }
            DiagonalOps {
                add_to_diagonal(matrix: Tensor<Self>, value: Tensor<Self>) -> Tensor<Self>
                    => like(matrix);
            }
            DiagonalBackward {
                diagonal(matrix: Tensor<Self>) -> Tensor<Self>
                    => vector(matrix, members(matrix) * rows(matrix));
                trace(matrix: Tensor<Self>) -> Tensor<Self>
                    => vector(matrix, members(matrix));
            }
            ExactMatmulOps {
                exact_matmul(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>
                    => matrices(left, rows(left), columns(right));
            }
            ExpectedLogDensityOps {
                expected_gaussian_log_density(
                    mean: Tensor<Self>,
                    variance: Tensor<Self>,
                    targets: Tensor<Self>,
                    noise: Tensor<Self>,
                ) -> Tensor<Self>
                    => vector(mean, outer(mean));
            }
            ExpectedLogDensityBackward {
                expected_gaussian_log_density_backward(
                    saved: [Tensor<Self>; 4],
                    gradient: Tensor<Self>,
                ) -> [Tensor<Self>; 3]
                    => {
                        let [mean, variance, _, noise] = saved;
                        [like(mean), like(variance), like(noise)]
                    };
            }
            GramOps {
                gram(basis: Tensor<Self>, side: Side) -> Tensor<Self>
                    => gram(basis, *side);
            }
            GramBackward {
                gram_backward(basis: Tensor<Self>, gradient: Tensor<Self>, side: Side) -> Tensor<Self>
                    => like(basis);
            }
            CongruenceOps {
                congruence(matrix: Tensor<Self>, lower: Tensor<Self>) -> Tensor<Self>
                    => like(matrix);
            }
            InversionOps {
                identity_distance(matrix: Tensor<Self>) -> Tensor<Self>
                    => vector(matrix, 2);
                inversion_step(lower: Tensor<Self>, matrix: Tensor<Self>, step_size: f64) -> Tensor<Self>
                    => like(lower);
            }
            LayerNormalizationOps {
                layer_normalization(
                    x: Tensor<Self>,
                    scale: Tensor<Self>,
                    shift: Tensor<Self>,
                    epsilon: f64,
                ) -> Tensor<Self>
                    => like(x);
            }
            LayerNormalizationBackward {
                layer_normalization_backward(
                    x: Tensor<Self>,
                    scale: Tensor<Self>,
                    gradient: Tensor<Self>,
                    epsilon: f64,
                ) -> [Tensor<Self>; 3]
                    => [like(x), like(scale), like(scale)];
            }
            LogDensityOps {
                gaussian_log_density(
                    covariance: Tensor<Self>,
                    residual: Tensor<Self>,
                    jitter: Jitter,
                ) -> (Tensor<Self>, Tensor<Self>, Tensor<Self>, Tensor<Self>)
                    => log_density(covariance, residual);
            }
            LogDensityBackward {
                gaussian_log_density_backward(
                    saved: [Tensor<Self>; 3],
                    gradient: Tensor<Self>,
                    wanted: [bool; 2],
                ) -> [Option<Tensor<Self>>; 2]
                    => {
                        let [_, factor, weights] = saved;
                        wanted_of(&[factor, weights], *wanted)
                    };
            }
            MomentOps {
                projected_moments(
                    basis: Tensor<Self>,
                    mean: Tensor<Self>,
                    scale: Tensor<Self>,
                    baseline: Baseline,
                ) -> (Tensor<Self>, Tensor<Self>)
                    => moments(basis, mean);
                column_squares(basis: Tensor<Self>) -> Tensor<Self>
                    => column_sums(basis);
                column_products(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>
                    => column_sums(left);
                gaussian_kl(mean: Tensor<Self>, scale: Tensor<Self>) -> Tensor<Self>
                    => vector(mean, outer(mean));
            }
            MomentBackward {
                projected_moments_backward(
                    saved: [Tensor<Self>; 4],
                    gradient: Tensor<Self>,
                    baseline: Baseline,
                ) -> [Tensor<Self>; 3]
                    => {
                        let [basis, mean, scale, _] = saved;
                        [like(basis), like(mean), like(scale)]
                    };
                column_squares_backward(basis: Tensor<Self>, gradient: Tensor<Self>) -> Tensor<Self>
                    => like(basis);
                column_products_backward(
                    matrices: [Tensor<Self>; 2],
                    gradient: Tensor<Self>,
                ) -> [Tensor<Self>; 2]
                    => matrices.each_ref().map(like);
                gaussian_kl_backward(
                    arguments: [Tensor<Self>; 2],
                    gradient: Tensor<Self>,
                ) -> [Tensor<Self>; 2]
                    => arguments.each_ref().map(like);
            }
            PatchOps {
                patch_covariance(
                    inducing: Tensor<Self>,
                    images: Tensor<Self>,
                    lengthscales: Tensor<Self>,
                    variance: Tensor<Self>,
                    weights: Tensor<Self>,
                    kind: Stationary,
                    grid: PatchGrid,
                ) -> Tensor<Self>
                    => matrices(inducing, rows(inducing), rows(images));
                patch_variance(
                    images: Tensor<Self>,
                    lengthscales: Tensor<Self>,
                    variance: Tensor<Self>,
                    weights: Tensor<Self>,
                    kind: Stationary,
                    grid: PatchGrid,
                ) -> Tensor<Self>
                    => vector(images, rows(images));
            }
            PatchBackward {
                patch_covariance_backward(
                    arguments: [Tensor<Self>; 5],
                    gradient: Tensor<Self>,
                    kind: Stationary,
                    grid: PatchGrid,
                    images_wanted: bool,
                ) -> [Option<Tensor<Self>>; 5]
                    => wanted_of(arguments, [true, *images_wanted, true, true, true]);
                patch_variance_backward(
                    arguments: [Tensor<Self>; 4],
                    gradient: Tensor<Self>,
                    kind: Stationary,
                    grid: PatchGrid,
                    images_wanted: bool,
                ) -> [Option<Tensor<Self>>; 4]
                    => wanted_of(arguments, [*images_wanted, true, true, true]);
            }
            RemainderOps {
                remainder(matrix: Tensor<Self>, left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>
                    => like(matrix);
            }
            RemainderBackward {
                remainder_backward(
                    factors: [Tensor<Self>; 2],
                    gradient: Tensor<Self>,
                    wanted: [bool; 2],
                ) -> [Option<Tensor<Self>>; 2]
                    => wanted_of(factors, *wanted);
            }
            SpecialOps {
                special(x: Tensor<Self>, function: SpecialFunction) -> Tensor<Self>
                    => like(x);
            }
            SpecialBackward {
                special_backward(
                    x: Tensor<Self>,
                    gradient: Tensor<Self>,
                    function: SpecialFunction,
                ) -> Tensor<Self>
                    => like(x);
            }
            TriangularProductOps {
                triangular_product(lower: Tensor<Self>, rhs: Tensor<Self>, side: Side) -> Tensor<Self>
                    => like(rhs);
            }
            TriangularProductBackward {
                lower_of_product(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>
                    => matrices(left, rows(left), rows(left));
            }
            TriangularSolveOps {
                factor_solve(factor: Tensor<Self>, rhs: Tensor<Self>, side: Side) -> Tensor<Self>
                    => like(rhs);
            }
            TriangularSolveBackward {
                negative_lower_product(left: Tensor<Self>, right: Tensor<Self>) -> Tensor<Self>
                    => matrices(left, rows(left), rows(left));
            }
        }
    };
}
pub(super) use signatures;

/// The names used in the signatures.
pub(super) mod names {
    pub(in crate::ops) use crate::ops::{
        adam::{AdamOps, AdamStep},
        cholesky::{CholeskyBackward, CholeskyOps, Jitter},
        covariance::{CovarianceBackward, CovarianceOps},
        covariance_product::{BlockPairs, CovarianceProductBackward, CovarianceProductOps},
        cpu::Side,
        diagonal::{DiagonalBackward, DiagonalOps},
        exact_matmul::ExactMatmulOps,
        expected_log_density::{ExpectedLogDensityBackward, ExpectedLogDensityOps},
        gram::{GramBackward, GramOps},
        inversion::{CongruenceOps, InversionOps},
        layer_normalization::{LayerNormalizationBackward, LayerNormalizationOps},
        log_density::{LogDensityBackward, LogDensityOps},
        moments::{Baseline, MomentBackward, MomentOps},
        patches::{PatchBackward, PatchGrid, PatchOps},
        remainder::{RemainderBackward, RemainderOps},
        special::{SpecialBackward, SpecialFunction, SpecialOps},
        stationary::Stationary,
        triangular_product::{TriangularProductBackward, TriangularProductOps},
        triangular_solve::{TriangularSolveBackward, TriangularSolveOps},
    };
}
