//! Exact regression.

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp_core::{
    inference::{ConditionError, Exact, LeaveOneOut},
    kernels::{AnyKernel, KernelModule},
    ops::NotPositiveDefinite,
    register,
};

use crate::{
    AnyModel, AnyTrained, Conditioned, InitError, ModelDefinition,
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
    regression_config!(assembled AnyExact);

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyExact, InitError> {
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

    fn objectives(
        &self,
        models: &[AnyModel],
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<Tensor<1>, NotPositiveDefinite>> {
        let models = models
            .iter()
            .map(|model| model.downcast_ref::<Self>().cloned());
        let models: Vec<Self> = models.collect::<Option<_>>()?;
        Some(Self::full_objectives(&models, inputs, targets))
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        Conditioned::trained(self, data)
    }

    fn leave_one_out(
        &self,
        data: &TrainingData,
    ) -> Option<Result<LeaveOneOut, NotPositiveDefinite>> {
        Some(self.leave_one_out(data.inputs.clone(), data.targets.clone()))
    }
}
