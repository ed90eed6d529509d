//! A kernel times a trained output scale.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use derive_setters::Setters;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, ExpectedProducts, Kernel, KernelConfig, KernelDefinition, KernelInputs,
    KernelParameter, KernelPart, KernelUnits, NoExpectedProducts, NoFunctionDraws, NoSpectrum,
    NoStateSpace, PriorFeatures, SpectralSample, StateSpace, Structure, definition::positive,
};
use crate::{parameter::Positive, register};

/// `s·k(x, x′)` with a trained output scale `s`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, Linear, LinearConfig, Scaled, ScaledConfig};
///
/// let device = Device::default();
/// let kernel = Scaled::new(Linear::new(&[1.0], &device), 5.0, &device);
/// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// assert!((values[1] - 10.0).abs() < 1e-5);
///
/// let base = LinearConfig::default().into();
/// let same = KernelConfig::from(ScaledConfig { base, outputscale: 5.0 }).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
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
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        self.base.covariance(x1, x2) * self.outputscale.aligned()
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        self.base.matrix(x) * self.outputscale.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        self.base.diagonal(x) * self.outputscale.aligned()
    }

    fn structure(&self) -> Structure<'_> {
        Structure::Scaled(&self.base, self.outputscale.value())
    }

    fn state_space(&self) -> Result<StateSpace, NoStateSpace> {
        Ok(self.base.state_space()?.scaled(self.outputscale.value()))
    }

    fn expected_products(&self) -> Result<ExpectedProducts, NoExpectedProducts> {
        let base = self.base.expected_products()?;
        Ok(base.scaled(self.outputscale.value()))
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
