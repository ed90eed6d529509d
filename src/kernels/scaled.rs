//! A kernel times a trained output scale.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use derive_setters::Setters;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelParameter, KernelPart,
    KernelUnits, NoFunctionDraws, NoSpectrum, PriorFeatures, SpectralSample, definition::positive,
};
use crate::{ops::Blocks, parameter::Positive, patches::PatchGrid, register};

/// `s·k(x, x′)` with a trained output scale `s`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{Kernel, KernelConfig, Linear, LinearConfig, Scaled, ScaledConfig};
///
/// let device = Device::default();
/// let kernel = Scaled::new(Linear::new(&[1.0], &device), 5.0, &device);
/// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
/// let values: Vec<f64> = kernel.matrix(x.clone()).into_data().iter().collect();
/// assert!((values[1] - 10.0).abs() < 1e-5);
///
/// let base = LinearConfig::default().into();
/// let same = KernelConfig::from(ScaledConfig { base, outputscale: 5.0 }).init(1, &device);
/// assert_eq!(same.matrix(x.clone()).into_data(), kernel.matrix(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct Scaled {
    base: AnyKernel,
    outputscale: Positive,
}

/// Configuration of a [`Scaled`] kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct ScaledConfig {
    /// The kernel to scale.
    #[setters(into)]
    pub base: KernelConfig,
    /// The initial value of the scale.
    #[serde(default = "one")]
    pub outputscale: f64,
}

fn one() -> f64 {
    1.0
}

register!(
    Kernel,
    "scaled",
    ScaledConfig,
    "Another kernel times an output scale"
);

impl KernelDefinition for ScaledConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let base = self.base.build(inputs, options.clone());
        Scaled::new(base, self.outputscale, options).boxed()
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![KernelParameter::new("outputscale", KernelUnits::Variance)]
    }

    positive!(outputscale);

    fn parts(&self) -> Vec<KernelPart<'_>> {
        vec![KernelPart::new("base", &self.base).factor()]
    }

    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        vec![&mut self.base]
    }
}

/// A Matérn-5/2 kernel times one.
impl Default for ScaledConfig {
    fn default() -> Self {
        Self {
            base: KernelConfig::default(),
            outputscale: 1.0,
        }
    }
}

impl Scaled {
    /// Multiplies `base` by an output scale that starts at `outputscale`.
    ///
    /// # Panics
    ///
    /// If the scale is not positive.
    #[track_caller]
    pub fn new(
        base: impl Kernel,
        outputscale: f64,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        Self {
            base: base.boxed(),
            outputscale: Positive::new(&[outputscale], options),
        }
    }
}

impl Kernel for Scaled {
    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2> {
        self.base.covariance(x1, x2) * self.outputscale.value().reshape([1, 1])
    }

    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        self.base.matrix(x) * self.outputscale.value().reshape([1, 1])
    }

    fn diagonal(&self, x: Tensor<2>) -> Tensor<1> {
        self.base.diagonal(x) * self.outputscale.value()
    }

    fn matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        self.base.matrix_product(x, vectors) * self.outputscale.value().reshape([1, 1])
    }

    fn rough_matrix_product(&self, x: Tensor<2>, vectors: Tensor<2>) -> Option<Tensor<2>> {
        let product = self.base.rough_matrix_product(x, vectors)?;
        Some(product * self.outputscale.value().reshape([1, 1]))
    }

    fn covariance_product(&self, x1: Tensor<2>, x2: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
        self.base.covariance_product(x1, x2, vectors) * self.outputscale.value().reshape([1, 1])
    }

    fn block_matrix(&self, blocks: Blocks, points: Tensor<2>, values: Tensor<1>) -> Tensor<2> {
        let covariance = self.base.block_matrix(blocks, points, values);
        covariance * self.outputscale.value().reshape([1, 1])
    }

    fn block_covariance(
        &self,
        blocks: Blocks,
        points: Tensor<2>,
        others: Tensor<2>,
        values: Tensor<1>,
    ) -> Tensor<2> {
        let covariance = (self.base).block_covariance(blocks, points, others, values);
        covariance * self.outputscale.value().reshape([1, 1])
    }

    fn patch_covariance(
        &self,
        grid: &PatchGrid,
        patches: Tensor<2>,
        images: Tensor<2>,
        weights: Tensor<2>,
    ) -> Tensor<2> {
        let covariance = (self.base).patch_covariance(grid, patches, images, weights);
        covariance * self.outputscale.value().reshape([1, 1])
    }

    fn patch_variance(&self, grid: &PatchGrid, images: Tensor<2>, weights: Tensor<2>) -> Tensor<1> {
        self.base.patch_variance(grid, images, weights) * self.outputscale.value()
    }

    fn spectrum(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralSample>, NoSpectrum> {
        let scale = self.outputscale.to_vec()[0];
        let base = self.base.spectrum(dimensions, count, random)?;
        Ok((base.into_iter())
            .map(|component| component.scaled(scale))
            .collect())
    }

    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let base = (self.base).prior_features(dimensions, count, random, options)?;
        Ok(base.scaled(self.outputscale.value()))
    }
}
