//! Kernels of any type.

use burn::tensor::{Tensor, TensorCreationOptions};
use rand::rngs::ChaCha8Rng;

use super::{
    ExpectedProducts, InputScales, Kernel, NoExpectedProducts, NoFunctionDraws, NoSpectrum,
    NoStateSpace, PriorFeatures, SpectralSample, StateSpace, Structure,
    points::{no_covariances, no_variances},
};
use crate::custom::BoxedModule;

/// A kernel of any type.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{AnyKernel, Kernel, KernelConfig, KernelModule, Linear, LinearConfig};
///
/// let device = Device::default();
/// let kernels: [AnyKernel; 2] = [
///     Linear::new(&[2.0], &device).boxed(),
///     KernelConfig::from(LinearConfig { variance: 2.0, ..Default::default() }).init(1, &device),
/// ];
/// let x = Tensor::<2>::from_data([[3.0]], &device);
/// let [first, second] = kernels.map(|kernel| kernel.diagonal_at(x.clone()).into_data());
/// assert_eq!(first, second);
/// ```
pub type AnyKernel = BoxedModule<dyn Kernel>;

/// Empty sets of points have values here for which burn cannot compute them.
impl Kernel for AnyKernel {
    fn boxed(self) -> AnyKernel {
        self
    }

    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        no_covariances(&x1, &x2).unwrap_or_else(|| self.piece().covariance(x1, x2))
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        no_covariances(&x, &x).unwrap_or_else(|| self.piece().matrix(x))
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        no_variances(&x).unwrap_or_else(|| self.piece().diagonal(x))
    }

    fn structure(&self) -> Structure<'_> {
        self.piece().structure()
    }

    fn input_scales(&self, dimensions: usize) -> Option<InputScales> {
        self.piece().input_scales(dimensions)
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        self.piece().state_space()
    }

    fn expected_products(&self) -> Result<ExpectedProducts, NoExpectedProducts> {
        self.piece().expected_products()
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
