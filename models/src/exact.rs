//! Exact regression.

use burn::tensor::TensorCreationOptions;
use burn_gp_core::{
    inference::{ConditionError, Exact, LeaveOneOut},
    kernels::{AnyKernel, KernelModule},
    likelihoods::check_finite,
    ops::NotPositiveDefinite,
    parameter::ParameterError,
    register,
};

use crate::{
    Conditioned, InitError, ModelDefinition, TrainedModel,
    config::options_of,
    regression_config::{full_batch, regression_config},
    training::{Model, TrainingData},
};

/// An exact model whose components are chosen at run time.
pub type AnyExact = Exact<AnyKernel>;

regression_config! {
    /// Configuration of exact regression.
    ///
    /// ```
    /// use burn::tensor::{DType, Device};
    /// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
    /// use burn_gp_models::{ExactConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    /// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
    /// let kernel = StationaryConfig::new(Stationary::Matern52);
    /// let model = ExactConfig::new(kernel).init(&data)?;
    /// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
    /// let mut trainer = FullBatchTrainer::new(model, data, training);
    /// let first = trainer.loss()?;
    /// trainer.step()?;
    /// assert!(trainer.loss()? < first);
    /// # Ok(())
    /// # }
    /// ```
    ExactConfig {}
    /// Exact regression with a zero mean and a noise variance that starts at 0.1.
    new
}

impl ExactConfig {
    /// Initializes the model for `data`, in their precision and on their device with autodiff.
    ///
    /// # Errors
    ///
    /// When a target is not finite, or a parameter setting is invalid.
    pub fn init(&self, data: &TrainingData) -> Result<AnyExact, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let [_, dimensions] = data.inputs.dims();
        let model = self.assemble(dimensions, options_of(&data.inputs))?;
        let model = self.ready(model, AnyExact::kernel, data)?;
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// A model with the right shapes, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When a parameter setting is invalid.
    pub fn blank(
        &self,
        dimensions: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyExact, InitError> {
        let model = self.assemble(dimensions, options.into())?;
        Ok(self.parameters.apply_to_blank(model)?)
    }

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyExact, ParameterError> {
        let (kernel, mean, likelihood) = self.parts(dimensions, &options)?;
        Ok(Exact::new(kernel, mean, likelihood))
    }
}

impl ModelDefinition for ExactConfig {
    regression_config!(keeps_data);
}

register!(
    Model,
    "exact",
    ExactConfig,
    "Exact regression; cost cubic in the number of rows"
);

impl<K: KernelModule> Model for Exact<K> {
    full_batch!();

    fn trained(&self, data: &TrainingData) -> Result<TrainedModel, ConditionError> {
        Conditioned::trained(self, data)
    }

    fn leave_one_out(
        &self,
        data: &TrainingData,
    ) -> Option<Result<LeaveOneOut, NotPositiveDefinite>> {
        Some(self.leave_one_out(data.inputs.clone(), data.targets.clone()))
    }
}
