//! Exact regression.

use burn::{module::Module, tensor::TensorCreationOptions};
use burn_gp_core::{
    inference::Exact, kernels::AnyKernel, likelihoods::LikelihoodConfig, means::AnyMean,
    parameter::ParameterError,
};

use crate::{
    InitError,
    config::{OUTPUTS, options_of},
    on_data::OnData,
    ready_made::{DataShape, ReadyMadeConfig},
    regression_config::regression_config,
    training::TrainingData,
};

/// An exact model whose components are chosen at run time.
pub type AnyExact = Exact<AnyKernel, AnyMean>;

regression_config! {
    /// Configuration of exact regression.
    ///
    /// ```
    /// use burn::tensor::{DType, Device};
    /// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
    /// use burn_gp_models::{ExactConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    /// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
    /// let kernel = StationaryConfig::new(Stationary::Matern52);
    /// let model = ExactConfig::new(kernel, GaussianConfig::default()).init(1, (&device, DType::F64))?;
    /// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
    /// let mut trainer = FullBatchTrainer::new(model, data, training);
    /// let first = trainer.loss()?;
    /// trainer.step()?;
    /// assert!(trainer.loss()? < first);
    /// # Ok(())
    /// # }
    /// ```
    ExactConfig {}
    /// Exact regression with a zero mean.
    new
}

impl ExactConfig {
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
