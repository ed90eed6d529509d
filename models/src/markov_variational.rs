//! Any likelihood with one latent function, over time.

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp_core::{
    inference::{ConditionError, MarkovVariational},
    kernels::{AnyKernel, KernelConfig, KernelModule, StationaryConfig},
    likelihoods::{ImpossibleTarget, LikelihoodConfig},
    means::MeanConfig,
    parameter::ParameterConfig,
    register,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::{
    AnyTrained, Conditioned, InitError, ModelDefinition, Trained,
    config::{OUTPUTS, with_first_values},
    model_config::{full_batch, model_config},
    training::{Model, TrainingData},
};

/// A model over time whose components are chosen at run time.
pub type AnyMarkovVariational = MarkovVariational<AnyKernel>;

/// Configuration of models over time for labels, counts, positive numbers, outliers and other targets with one latent
/// function, in time linear in the number of rows.
///
/// The data have one input, and the kernel is a state-space model, as for [`MarkovConfig`](crate::MarkovConfig). The
/// posterior is the best Gaussian one, as that of [`SvgpConfig`](crate::SvgpConfig) with an inducing point at each row.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::LikelihoodConfig};
/// use burn_gp_models::{Fit, FitModel, MarkovVariationalConfig};
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// let times: Vec<[f64; 1]> = (0..100).map(|row| [f64::from(row) / 10.0]).collect();
/// let counts: Vec<f64> = times.iter().map(|[time]| if *time < 5.0 { 1.0 } else { 9.0 }).collect();
/// let kernel = StationaryConfig::matern32();
/// let config = MarkovVariationalConfig::new(kernel, LikelihoodConfig::poisson());
/// let gp = config.fit(&times, &counts, &Fit::default())?;
/// let rates: Vec<f64> = gp.predict([[1.05], [8.05]])?.mean().into_data().iter().collect();
/// assert!(rates[0] < 2.0 && rates[1] > 7.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct MarkovVariationalConfig {
    /// The kernel.
    #[setters(into)]
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The likelihood, with one latent function.
    #[setters(into)]
    pub likelihood: LikelihoodConfig,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl Default for MarkovVariationalConfig {
    /// Two classes with the kernel Matérn-5/2.
    fn default() -> Self {
        Self::new(StationaryConfig::matern52(), LikelihoodConfig::bernoulli())
    }
}

impl MarkovVariationalConfig {
    /// A zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::zero(),
            likelihood: likelihood.into(),
            parameters: ParameterConfig::default(),
        }
    }

    model_config!(assembled one_function AnyMarkovVariational, "there is not exactly one input, or the kernel is not a state-space model");

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyMarkovVariational, InitError> {
        if dimensions != 1 {
            return Err(InitError::NotTime { inputs: dimensions });
        }
        self.kernel.check_for("kernel", dimensions)?;
        self.mean.check_for("mean", dimensions)?;
        let likelihood = self.one_function().likelihood(&options)?;
        let kernel = self.kernel.init(dimensions, options.clone());
        Ok(MarkovVariational::new(
            // The number of cosines of a periodic kernel follows from its first lengthscale.
            with_first_values(kernel, &self.parameters, "kernel"),
            self.mean.init(dimensions, OUTPUTS, options),
            likelihood,
        )?)
    }
}

impl ModelDefinition for MarkovVariationalConfig {
    model_config!(keeps_data);

    fn likelihood_mut(&mut self) -> Option<&mut LikelihoodConfig> {
        Some(&mut self.likelihood)
    }
}

register!(
    Model,
    "markov-variational",
    MarkovVariationalConfig,
    "Classes, counts and other targets over time, one input; cost linear in the number of rows, L-BFGS"
);

impl<K: KernelModule> Model for MarkovVariational<K> {
    full_batch!();

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.likelihood().description().check_tensor(targets)
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        ConditionError::check_inputs(&data.inputs)?;
        self.check_targets(&data.targets)?;
        Ok(Conditioned::new(self, data).into_trained())
    }
}
