//! Regression with conjugate gradients.

use burn::tensor::TensorCreationOptions;
use burn_gp_core::{
    inference::{ConditionError, ConjugateGradients, ConjugateGradientsSettings, RowColumns},
    kernels::{AnyKernel, KernelModule},
    register,
};

use crate::{
    AnyTrained, Conditioned, InitError, ModelDefinition,
    model_config::{full_batch, model_config},
    training::{Model, TrainingData},
};

/// Regression with conjugate gradients whose components are chosen at run time.
pub type AnyConjugateGradients = ConjugateGradients<AnyKernel>;

model_config! {
    /// Configuration of regression with conjugate gradients and stochastic Lanczos quadrature (CGGP).
    ///
    /// ```
    /// use burn::tensor::{DType, Device};
    /// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
    /// use burn_gp_models::{ConjugateGradientsConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::default();
    /// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
    /// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
    /// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
    /// let kernel = StationaryConfig::new(Stationary::Matern52);
    /// let model = ConjugateGradientsConfig::new(kernel).init(&data)?;
    /// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
    /// let mut trainer = FullBatchTrainer::new(model, data, training);
    /// let first = trainer.loss()?;
    /// trainer.step()?;
    /// assert!(trainer.loss()? < first);
    /// # Ok(())
    /// # }
    /// ```
    ConjugateGradientsConfig {
        /// The settings of the linear solver.
        #[serde(default)]
        settings: ConjugateGradientsSettings = ConjugateGradientsSettings::default(),
    }
    /// At most 512 iterations, and a zero mean.
    new
}

impl ConjugateGradientsConfig {
    model_config!(assembled AnyConjugateGradients, "there are no probes");

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyConjugateGradients, InitError> {
        if self.settings.probes == 0 {
            return Err(InitError::NoProbes);
        }
        let (kernel, mean, likelihood) = self.parts(dimensions, &options)?;
        Ok(ConjugateGradients::new(
            kernel,
            mean,
            likelihood,
            self.settings,
        ))
    }
}

impl ModelDefinition for ConjugateGradientsConfig {
    model_config!(keeps_data);

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }
}

register!(
    Model,
    "conjugate-gradients",
    ConjugateGradientsConfig,
    "Regression by conjugate gradients with stochastic log-determinants, full batch, L-BFGS"
);

impl<K: KernelModule> Model for ConjugateGradients<K> {
    full_batch!(rows);

    fn is_within_reach(&self, start: &dyn Model) -> bool {
        let start = start.as_any().downcast_ref::<Self>();
        start.is_none_or(|start| self.is_within_reach(start))
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        Conditioned::trained(self, data)
    }
}
