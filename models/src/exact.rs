//! Exact regression.

use burn::{module::Module, tensor::TensorCreationOptions};
use burn_gp::{
    inference::Exact,
    kernels::{AnyKernel, KernelConfig},
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::{AnyMean, MeanConfig},
    parameter::{ParameterConfig, ParameterError},
};
use serde::{Deserialize, Serialize};

use crate::{
    InitError,
    config::{OUTPUTS, options_of},
    on_data::OnData,
    ready_made::{DataShape, ReadyMadeConfig},
    training::TrainingData,
};

/// An exact model whose components are chosen at run time.
pub type AnyExact = Exact<AnyKernel, AnyMean>;

/// Configuration of exact regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactConfig {
    /// The kernel.
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The noise.
    pub likelihood: GaussianConfig,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl ExactConfig {
    /// Exact regression with a zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: GaussianConfig) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::Zero,
            likelihood,
            parameters: ParameterConfig::default(),
        }
    }

    /// Initializes the model for inputs with `dimensions` dimensions, on the device of `options`
    /// with autodiff.
    ///
    /// # Errors
    ///
    /// When a parameter setting is not possible.
    pub fn init(
        &self,
        dimensions: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyExact, ParameterError> {
        self.likelihood.check()?;
        let options = options.into();
        let model = Exact::new(
            self.kernel.init(dimensions, options.clone()),
            self.mean.init(dimensions, OUTPUTS, options.clone()),
            self.likelihood.init(options),
        );
        let model = self.parameters.apply(model)?.train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }
}

impl ReadyMadeConfig for ExactConfig {
    type Model = AnyExact;

    fn for_data(&self, data: TrainingData) -> Result<(AnyExact, TrainingData), InitError> {
        let [_, dimensions] = data.inputs.dims();
        let model = self.init(dimensions, options_of(&data.inputs))?;
        Ok((model, data))
    }

    fn blank_trained(&self, shape: &DataShape) -> Result<OnData<AnyExact>, InitError> {
        let model = self.init(shape.dimensions, shape.options.clone())?;
        Ok(OnData::new(&model, &shape.zeros()))
    }

    fn likelihood(&self) -> LikelihoodConfig {
        self.likelihood.clone().into()
    }
}
