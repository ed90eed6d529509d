//! Kernels of any type.

use burn::tensor::{Int, Tensor, TensorCreationOptions};
use rand::rngs::ChaCha8Rng;

use super::{
    Kernel, NoFunctionDraws, NoSpectrum, PriorFeatures, SpectralSample,
    points::{no_covariances, no_products, no_variances},
};
use crate::{custom::BoxedModule, ops::Blocks, patches::PatchGrid};

/// A kernel of any type.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{AnyKernel, Kernel, KernelConfig, Linear, LinearConfig};
///
/// let device = Device::default();
/// let kernels: [AnyKernel; 2] = [
///     Linear::new(&[2.0], &device).boxed(),
///     KernelConfig::from(LinearConfig { variance: 2.0, ..Default::default() }).init(1, &device),
/// ];
/// let x = Tensor::<2>::from_data([[3.0]], &device);
/// let [first, second] = kernels.map(|kernel| kernel.diagonal(x.clone()).into_data());
/// assert_eq!(first, second);
/// ```
pub type AnyKernel = BoxedModule<dyn Kernel>;

/// Empty sets of points have values here for which burn cannot compute them.
impl Kernel for AnyKernel {
    fn boxed(self) -> AnyKernel {
        self
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        match no_covariances(&x1, &x2) {
            Some(none) => none,
            None => self.piece().covariance(x1, x2),
        }
    }

    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        match no_covariances(&x, &x) {
            Some(none) => none,
            None => self.piece().matrix(x),
        }
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        match no_variances(&x) {
            Some(none) => none,
            None => self.piece().diagonal(x),
        }
    }

    fn matrix_columns(&self, x: Tensor<2>, columns: Tensor<1, Int>) -> Tensor<2> {
        self.piece().matrix_columns(x, columns)
    }

    fn patch_covariance(
        &self,
        grid: &PatchGrid,
        patches: Tensor<2>,
        images: Tensor<2>,
        weights: Tensor<2>,
    ) -> Tensor<2> {
        (self.piece()).patch_covariance(grid, patches, images, weights)
    }

    fn patch_variance(&self, grid: &PatchGrid, images: Tensor<2>, weights: Tensor<2>) -> Tensor<1> {
        self.piece().patch_variance(grid, images, weights)
    }

    fn matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        match no_products(&x, &x, &vectors) {
            Some(none) => none,
            None => self.piece().matrix_product(x, vectors),
        }
    }

    fn rough_matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Option<Tensor<2>> {
        match no_products(&x, &x, &vectors) {
            Some(none) => Some(none),
            None => self.piece().rough_matrix_product(x, vectors),
        }
    }

    fn covariance_product(&self, x1: Tensor<2>, x2: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        match no_products(&x1, &x2, &vectors) {
            Some(none) => none,
            None => self.piece().covariance_product(x1, x2, vectors),
        }
    }

    fn block_matrix(&self, blocks: Blocks, points: Tensor<2>, values: Tensor<1>) -> Tensor<2> {
        self.piece().block_matrix(blocks, points, values)
    }

    fn block_covariance(
        &self,
        blocks: Blocks,
        points: Tensor<2>,
        others: Tensor<2>,
        values: Tensor<1>,
    ) -> Tensor<2> {
        (self.piece()).block_covariance(blocks, points, others, values)
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        self.piece().spectrum(dimensions, count, random)
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        (self.piece()).prior_features(dimensions, count, random, options)
    }
}
