//! Sums of a stationary covariance over the patches of images, fused.
//!
//! A function of images `f(x) = Σ_p w_p·g(x^[p])` that sums a Gaussian process g over the patches
//! of an image is a Gaussian process. With the values of g at inducing patches as inducing
//! variables, it needs `Cov[g(z_m), f(x_n)]` and `Var[f(x_n)]` (van der Wilk, Rasmussen and
//! Hensman, *Convolutional Gaussian Processes*, 2017, arXiv:1709.01894, §3). Weights that depend on
//! both locations make it translation-insensitive as well (Dutordoir, van der Wilk, Artemev and
//! Hensman, *Bayesian Image Classification with Deep Convolutional Gaussian Processes*, 2020,
//! arXiv:1902.05888).

mod block;
mod covariance;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod distances;
mod grid;
mod image;
mod lengthscales;
mod scaled;
mod tiles;
mod variance;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::{
    declaration::{dispatch, operations},
    stationary::Stationary,
};
pub use grid::{ImageShape, PatchError, PatchGrid};

operations! {
    /// Backend implementation of the sums. Gradients are in the order of the arguments; that of the images is
    /// computed only if needed.
    trait PatchOps on devices {
        /// `Σ_p A_mp·k(z_m, x_n^[p])` over the patches of images, [M, N].
        fn patch_covariance(
            inducing, images, lengthscales, variance, weights; kind: Stationary, grid: PatchGrid
        ) -> FloatTensor<Self> = matrices(inducing, rows(inducing), rows(images)),
            |gradient, wanted| {
                let arguments = [inducing, images, lengthscales, variance, weights];
                B::patch_covariance_backward(arguments, gradient, kind, grid, wanted[1])
            };

        /// `Σ_pp′ B_pp′·k(x_n^[p], x_n^[p′])` over the patches of images, `[N]`.
        fn patch_variance(
            images, lengthscales, variance, weights; kind: Stationary, grid: PatchGrid
        ) -> FloatTensor<Self> = vector(images, rows(images)),
            |gradient, wanted| {
                let arguments = [images, lengthscales, variance, weights];
                B::patch_variance_backward(arguments, gradient, kind, grid, wanted[0])
            };
    } backward {
        /// The gradients of `patch_covariance`.
        fn patch_covariance_backward(
            [inducing, images, lengthscales, variance, weights], gradient;
            kind: Stationary, grid: PatchGrid, images_wanted: bool
        ) -> [Option<FloatTensor<Self>>; 5] = wanted_of(
            [inducing, images, lengthscales, variance, weights],
            [true, images_wanted, true, true, true],
        );

        /// The gradients of `patch_variance`.
        fn patch_variance_backward(
            [images, lengthscales, variance, weights], gradient;
            kind: Stationary, grid: PatchGrid, images_wanted: bool
        ) -> [Option<FloatTensor<Self>>; 4]
            = wanted_of([images, lengthscales, variance, weights], [images_wanted, true, true, true]);
    }
}

/// The covariances `K_mn = Σ_p A_mp·σ²·φ(r²(z_m, x_n^[p]))` of inducing patches with images, where
/// `x^[p]` is patch p of an image and `r² = Σ_d (z_d − x_d)²/ℓ_d²`.
///
/// The covariances with single patches are computed tile by tile and never stored, not even for the backward
/// pass: memory is that of the arguments plus one tile per thread. Distances are computed by matrix products
/// around the mean inducing patch, so the error of `φ` is the rounding error of the type times the squared
/// distance of the patches from that mean. For Matérn-1/2, that error would become its square root, so its
/// distances are computed from differences. At coincident patches its slope is the mean of the one-sided
/// slopes, zero. The gradient of the images is computed only if they are tracked.
///
/// GPUs compute all distances from differences. Their backward pass keeps the derivatives of a few images at
/// a time: at most sixteen million values, unless a single image needs more.
///
/// # Shapes
///
/// - `inducing`: `[M, D]`, where D is the number of [dimensions](PatchGrid::dimensions) of a patch
/// - `images`: `[N, H·W·C]`
/// - `lengthscales`: `[D]`, or `[1]` if shared by all dimensions
/// - `variance`: `[1]`
/// - `weights`: `[M, P]`, where P is the number of [patches](PatchGrid::count) of an image
/// - result: `[M, N]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn patch_covariance(
    kind: Stationary,
    grid: &PatchGrid,
    inducing: Tensor<2>,
    images: Tensor<2>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
    weights: Tensor<2>,
) -> Tensor<2> {
    let ([rows, dimensions], [weight_rows, columns]) = (inducing.dims(), weights.dims());
    grid.check(&images);
    check_scales("patch_covariance", grid, &lengthscales, &variance);
    let [expected, patches] = [grid.dimensions(), grid.count()];
    assert!(
        dimensions == expected && weight_rows == rows && columns == patches,
        "patch_covariance: inducing patches [{rows}, {dimensions}] with weights [{weight_rows}, \
         {columns}]; expected [M, {expected}] and [M, {patches}]"
    );
    dispatch!(
        patch_covariance(inducing, images, lengthscales, variance, weights; kind, *grid)
    )
}

/// The variances `k_n = Σ_pp′ B_pp′·σ²·φ(r²(x_n^[p], x_n^[p′]))` of images. B need not be
/// symmetric.
///
/// Computed like [`patch_covariance`], with every pair of patches visited once.
///
/// # Shapes
///
/// - `images`: `[N, H·W·C]`
/// - `lengthscales`: `[D]`, or `[1]` if shared by all dimensions, where D is the number of
///   [dimensions](PatchGrid::dimensions) of a patch
/// - `variance`: `[1]`
/// - `weights`: `[P, P]`, where P is the number of [patches](PatchGrid::count) of an image
/// - result: `[N]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn patch_variance(
    kind: Stationary,
    grid: &PatchGrid,
    images: Tensor<2>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
    weights: Tensor<2>,
) -> Tensor<1> {
    let ([rows, columns], patches) = (weights.dims(), grid.count());
    grid.check(&images);
    check_scales("patch_variance", grid, &lengthscales, &variance);
    assert!(
        [rows, columns] == [patches; 2],
        "patch_variance: weights [{rows}, {columns}]; expected [{patches}, {patches}]"
    );
    dispatch!(patch_variance(images, lengthscales, variance, weights; kind, *grid))
}

/// Panics unless there is one lengthscale, or one per dimension, and one variance.
#[track_caller]
fn check_scales(operation: &str, grid: &PatchGrid, lengthscales: &Tensor<1>, variance: &Tensor<1>) {
    let ([scales], [variances], dimensions) =
        (lengthscales.dims(), variance.dims(), grid.dimensions());
    assert!(
        (scales == dimensions || scales == 1) && variances == 1,
        "{operation}: {scales} lengthscales and {variances} variances for patches of {dimensions} \
         dimensions; expected as many lengthscales (or 1) and 1 variance"
    );
}
