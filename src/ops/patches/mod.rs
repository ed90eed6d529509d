//! Sums of a stationary covariance over the patches of images, fused.
//!
//! A function of images `f(x) = Σ_p w_p·g(x^[p])` that sums a Gaussian process g over the patches
//! of an image is a Gaussian process. With the values of g at inducing patches as inducing
//! variables, it needs `Cov[g(z_m), f(x_n)]` and `Var[f(x_n)]` (van der Wilk, Rasmussen and
//! Hensman, *Convolutional Gaussian Processes*, 2017, arXiv:1709.01894, §3). Weights that depend on
//! both locations make it translation-insensitive as well (Dutordoir, van der Wilk, Artemev and
//! Hensman, *Bayesian Image Classification with Deep Convolutional Gaussian Processes*, 2020,
//! arXiv:1902.05888).

mod backward;
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

use burn::{
    backend::{Backend, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{dispatch::dispatch, stationary::Stationary};
pub use grid::{ImageShape, PatchError, PatchGrid};

/// Backend implementation of the sums.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(feature = "cube"),
    Remote: cfg(feature = "remote"),
)]
pub trait PatchOps: Backend {
    /// `Σ_p A_mp·k(z_m, x_n^[p])` over the patches of images, [M, N].
    fn patch_covariance(
        inducing: FloatTensor<Self>,
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self>;

    /// `Σ_pp′ B_pp′·k(x_n^[p], x_n^[p′])` over the patches of images, `[N]`.
    fn patch_variance(
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self>;
}

/// Gradients of the sums, in the order of the arguments. The gradient of the images is computed
/// only if needed.
pub trait PatchBackward: PatchOps {
    /// The gradients of [`PatchOps::patch_covariance`].
    fn patch_covariance_backward(
        arguments: [FloatTensor<Self>; 5],
        gradient: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 5];

    /// The gradients of [`PatchOps::patch_variance`].
    fn patch_variance_backward(
        arguments: [FloatTensor<Self>; 4],
        gradient: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 4];
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
        PatchOps::patch_covariance(inducing, images, lengthscales, variance, weights; kind, *grid)
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
    dispatch!(PatchOps::patch_variance(images, lengthscales, variance, weights; kind, *grid))
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
