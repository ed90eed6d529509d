//! Covariances of sums over the patches of images.

use burn::tensor::Tensor;

use super::{Kernel, structure::linear};
use crate::{ops, patches::PatchGrid};

/// Covariances with weighted sums over the patches of images, `Σ_p A_mp·k(z_m, x_n^[p])`. Stationary
/// kernels keep nothing in memory; of others, the covariances with every patch are in memory.
///
/// # Shapes
///
/// - `patches` (z): `[M, d]`, `images` (x): `[N, H·W·C]`, `weights` (A): `[M, P]`
/// - result: `[M, N]`
#[track_caller]
pub fn patch_covariance(
    kernel: &dyn Kernel,
    grid: &PatchGrid,
    patches: Tensor<2>,
    images: Tensor<2>,
    weights: Tensor<2>,
) -> Tensor<2> {
    linear(
        kernel,
        patches.dtype(),
        &|parameters| {
            ops::patch_covariance(
                parameters.profile,
                grid,
                patches.clone(),
                images.clone(),
                parameters.lengthscales,
                parameters.variance,
                weights.clone(),
            )
        },
        &|kernel| {
            let ([count, _], [images_count, _]) = (patches.dims(), images.dims());
            let all = grid.extract(images.clone());
            let each = kernel.covariance(patches.clone().unsqueeze(), all.unsqueeze()); // [1, M, N·P]
            let each = each.reshape([count, images_count, grid.count()]);
            let weights = weights.clone().unsqueeze_dim::<3>(1); // [M, 1, P]
            (each * weights).sum_dim(2).squeeze_dim(2)
        },
    )
}

/// The variances of weighted sums over the patches of images, `Σ_pp′ B_pp′·k(x_n^[p], x_n^[p′])`. Memory
/// use is as for [`patch_covariance`].
///
/// # Shapes
///
/// - `images` (x): `[N, H·W·C]`, `weights` (B): `[P, P]`
/// - result: `[N]`
#[track_caller]
pub fn patch_variance(
    kernel: &dyn Kernel,
    grid: &PatchGrid,
    images: Tensor<2>,
    weights: Tensor<2>,
) -> Tensor<1> {
    linear(
        kernel,
        images.dtype(),
        &|parameters| {
            ops::patch_variance(
                parameters.profile,
                grid,
                images.clone(),
                parameters.lengthscales,
                parameters.variance,
                weights.clone(),
            )
        },
        &|kernel| {
            let [count, _] = images.dims();
            let patches = grid.extract(images.clone()).unsqueeze::<3>();
            let each = (0..count).map(|image| {
                let first = image * grid.count();
                let own = patches.clone().narrow(1, first, grid.count());
                (kernel.matrix(own) * weights.clone().unsqueeze()).sum()
            });
            Tensor::cat(each.collect(), 0)
        },
    )
}
