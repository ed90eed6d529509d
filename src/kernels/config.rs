//! Building configurations of kernels from others.

use burn::tensor::TensorCreationOptions;

use super::{
    ActiveDimensionsConfig, AnyKernel, DeepKernelConfig, KernelConfig, PeriodicConfig,
    ProductConfig, ScaledConfig, StationaryConfig, SumConfig, inputs::Inputs,
};
use crate::{features::PerceptronConfig, ops::Stationary};

impl From<Stationary> for KernelConfig {
    fn from(kind: Stationary) -> Self {
        StationaryConfig::new(kind).into()
    }
}

impl KernelConfig {
    /// Adds another kernel.
    pub fn plus(self, other: impl Into<Self>) -> Self {
        SumConfig {
            first: Box::new(self),
            second: Box::new(other.into()),
        }
        .into()
    }

    /// Multiplies by another kernel.
    pub fn times(self, other: impl Into<Self>) -> Self {
        ProductConfig {
            first: Box::new(self),
            second: Box::new(other.into()),
        }
        .into()
    }

    /// Multiplies the kernel by a trained output scale.
    pub fn scaled(self, outputscale: f64) -> Self {
        ScaledConfig {
            base: Box::new(self),
            outputscale,
        }
        .into()
    }

    /// Applies the kernel to the given zero-based input dimensions.
    pub fn on_dimensions(self, dimensions: Vec<usize>) -> Self {
        ActiveDimensionsConfig {
            base: Box::new(self),
            dimensions,
        }
        .into()
    }

    /// Makes the kernel periodic, with one period per input dimension.
    pub fn periodic(self, period: f64) -> Self {
        PeriodicConfig {
            base: Box::new(self),
            ard: true,
            period,
        }
        .into()
    }

    /// Applies the kernel to the features of a network.
    pub fn deep(self, network: PerceptronConfig, features: usize) -> Self {
        DeepKernelConfig {
            base: Box::new(self),
            network,
            features,
        }
        .into()
    }

    /// Shares one parameter among all input dimensions wherever there is one per dimension.
    pub fn isotropic(mut self) -> Self {
        self.share_parameters();
        self
    }

    pub(super) fn share_parameters(&mut self) {
        self.definition_mut().share_parameters();
    }

    /// The largest zero-based input dimension that the kernel refers to and that inputs of
    /// `dimensions` dimensions lack.
    pub fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        self.definition().missing_dimension(dimensions)
    }

    /// Creates the kernel for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If a positive value is not positive, a count is zero, or an input dimension does not exist.
    #[track_caller]
    pub fn init(&self, dimensions: usize, options: impl Into<TensorCreationOptions>) -> AnyKernel {
        self.build(Inputs::new(dimensions), &options.into())
    }
}
