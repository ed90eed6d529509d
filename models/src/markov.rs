//! Regression over time.

use burn::tensor::TensorCreationOptions;
use burn_gp_core::{
    inference::{ConditionError, LeaveOneOut, Markov, RowColumns},
    kernels::{AnyKernel, KernelModule},
    ops::NotPositiveDefinite,
    register,
};

use crate::{
    AnyTrained, Conditioned, InitError, ModelDefinition,
    model_config::{full_batch, model_config},
    training::{Model, TrainingData},
};

/// Regression over time whose components are chosen at run time.
pub type AnyMarkov = Markov<AnyKernel>;

model_config! {
    /// Configuration of exact regression over time, in time linear in the number of rows.
    ///
    /// The data have one input, and the kernel is a state-space model: Matérn, cosine, constant, linear, the periodic
    /// squared exponential, and sums and products of these. The result is that of [`ExactConfig`](crate::ExactConfig).
    ///
    /// ```
    /// use burn_gp_core::kernels::StationaryConfig;
    /// use burn_gp_models::{Fit, FitModel, MarkovConfig};
    ///
    /// # fn main() -> Result<(), burn_gp_models::Error> {
    /// let times: Vec<[f64; 1]> = (0..500).map(|row| [f64::from(row) / 20.0]).collect();
    /// let y: Vec<f64> = times.iter().map(|[time]| time.sin()).collect();
    /// let gp = MarkovConfig::new(StationaryConfig::matern52()).fit(&times, &y, &Fit::default())?;
    /// let mean: f64 = gp.predict([[10.02]])?.mean().into_scalar();
    /// assert!((mean - 10.02f64.sin()).abs() < 0.01);
    /// # Ok(())
    /// # }
    /// ```
    MarkovConfig {}
    /// A zero mean and a noise variance that starts at 0.1.
    new
}

impl MarkovConfig {
    model_config!(assembled AnyMarkov, "there is not exactly one input, or the kernel is not a state-space model");

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyMarkov, InitError> {
        if dimensions != 1 {
            return Err(InitError::NotTime { inputs: dimensions });
        }
        let (kernel, mean, likelihood) = self.parts(dimensions, &options)?;
        Ok(Markov::new(kernel, mean, likelihood)?)
    }
}

impl ModelDefinition for MarkovConfig {
    model_config!(keeps_data);

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }
}

register!(
    Model,
    "markov",
    MarkovConfig,
    "Exact regression over time, one input; cost linear in the number of rows"
);

impl<K: KernelModule> Model for Markov<K> {
    full_batch!(rows);

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
