//! Any likelihood with one latent function, by the Laplace and the nearest-neighbor (Vecchia) approximation.

use burn::tensor::{Tensor, TensorCreationOptions};
use burn_gp_core::{
    inference::{ConditionError, VecchiaLaplace, VecchiaLaplaceSettings, VecchiaSettings},
    kernels::{AnyKernel, KernelConfig, KernelModule, StationaryConfig},
    likelihoods::{ImpossibleTarget, LikelihoodConfig},
    means::MeanConfig,
    neighbors::Ordering,
    parameter::ParameterConfig,
    register,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::{
    AnyTrained, Conditioned, InitError, ModelDefinition, Trained,
    config::OUTPUTS,
    model_config::{full_batch, model_config},
    row_order::in_order,
    training::{Model, TrainingData, TrainingDefaults},
    vecchia::TRAINING,
};

/// The Laplace approximation on neighbors, with components chosen at run time.
pub type AnyVecchiaLaplace = VecchiaLaplace<AnyKernel>;

/// Configuration of the Laplace approximation on neighbors: labels, counts, positive numbers and other targets with one
/// latent function, for many rows of few inputs.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::LikelihoodConfig};
/// use burn_gp_models::{Fit, FitModel, VecchiaLaplaceConfig};
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// let x: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i % 10), f64::from(i / 10)]).collect();
/// let counts: Vec<f64> = x.iter().map(|[a, _]| if *a < 5.0 { 1.0 } else { 9.0 }).collect();
/// let kernel = StationaryConfig::matern32();
/// let config = VecchiaLaplaceConfig::new(kernel, LikelihoodConfig::poisson());
/// let gp = config.fit(&x, &counts, &Fit::default())?;
/// let rates: Vec<f64> = gp.predict([[1.0, 4.5], [8.0, 4.5]])?.mean().into_data().iter().collect();
/// assert!(rates[0] < 2.0 && rates[1] > 7.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct VecchiaLaplaceConfig {
    /// The kernel.
    #[setters(into)]
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The likelihood, with one latent function.
    #[setters(into)]
    pub likelihood: LikelihoodConfig,
    /// The numbers of neighbors.
    #[serde(default)]
    pub settings: VecchiaSettings,
    /// How log-determinants and variances are estimated.
    #[serde(default)]
    pub estimates: VecchiaLaplaceSettings,
    /// The order of the rows. If absent, it is maximin for up to three inputs, and random for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Ordering>,
    /// The seed of a random order.
    #[serde(default)]
    pub seed: u64,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl Default for VecchiaLaplaceConfig {
    /// Two classes with the kernel Matérn-5/2.
    fn default() -> Self {
        Self::new(StationaryConfig::matern52(), LikelihoodConfig::bernoulli())
    }
}

impl VecchiaLaplaceConfig {
    /// The default numbers of neighbors and a zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::zero(),
            likelihood: likelihood.into(),
            settings: VecchiaSettings::default(),
            estimates: VecchiaLaplaceSettings::default(),
            order: None,
            seed: 0,
            parameters: ParameterConfig::default(),
        }
    }

    model_config!(assembled one_function AnyVecchiaLaplace, "the likelihood has no curvature, or a number of neighbors, probes or draws is zero");

    fn assemble(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<AnyVecchiaLaplace, InitError> {
        self.kernel.check_for("kernel", dimensions)?;
        self.mean.check_for("mean", dimensions)?;
        let VecchiaSettings {
            neighbors,
            prediction_neighbors,
        } = self.settings;
        if neighbors == 0 || prediction_neighbors == 0 {
            return Err(InitError::NoNeighbors);
        }
        let VecchiaLaplaceSettings { probes, draws, .. } = self.estimates;
        if probes == 0 || draws == 0 {
            return Err(InitError::NoEstimates);
        }
        let likelihood = self.one_function().likelihood(&options)?;
        let description = likelihood.description();
        if !description.is_smooth {
            return Err(InitError::NoCurvature {
                likelihood: description.name,
            });
        }
        Ok(VecchiaLaplace::new(
            self.kernel.init(dimensions, options.clone()),
            self.mean.init(dimensions, OUTPUTS, options),
            likelihood,
            dimensions,
            self.settings,
            self.estimates,
        ))
    }
}

impl ModelDefinition for VecchiaLaplaceConfig {
    model_config!(keeps_data);

    fn default_training(&self) -> TrainingDefaults {
        TRAINING
    }

    fn likelihood_mut(&mut self) -> Option<&mut LikelihoodConfig> {
        Some(&mut self.likelihood)
    }

    /// The data in the [order](Self::order). Data with an input that is not finite keep their order.
    fn arranged(&self, data: TrainingData) -> TrainingData {
        in_order(data, &self.kernel, self.order, self.seed)
    }
}

register!(
    Model,
    "vecchia-laplace",
    VecchiaLaplaceConfig,
    "Classes, counts and other targets on nearest neighbors for many rows of few inputs, full batch, L-BFGS"
);

impl<K: KernelModule> Model for VecchiaLaplace<K> {
    full_batch!();

    fn update_approximation(&mut self) -> bool {
        self.update_metric()
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.likelihood().description().check_tensor(targets)
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        ConditionError::check_inputs(&data.inputs)?;
        self.check_targets(&data.targets)?;
        Ok(Conditioned::new(self, data).into_trained())
    }
}
