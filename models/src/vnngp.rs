//! The variational nearest-neighbor Gaussian process.

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    inducing::distinct_rows,
    inference::{ConditionError, VecchiaLaplaceSettings, VecchiaSettings, Vnngp},
    kernels::{AnyKernel, KernelConfig, KernelModule, StationaryConfig},
    likelihoods::{AnyLikelihood, GaussianConfig, ImpossibleTarget, LikelihoodConfig},
    means::{AnyMean, MeanConfig},
    neighbors::Ordering,
    ops::{Jitter, NotPositiveDefinite, numbers},
    parameter::{ParameterConfig, Priors},
    process::{AnyProcess, Process},
    register,
    variational::Evaluation,
};
use derive_setters::Setters;
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::index};
use serde::{Deserialize, Serialize};

use crate::{
    AnyTrained, DataShape, InitError, ModelDefinition, Trained, VecchiaConfig,
    VecchiaLaplaceConfig,
    config::{OUTPUTS, options_of},
    model_config::model_config,
    one_function::OneFunction,
    row_order::in_order,
    training::{self, Model, Objective, TrainingData, TrainingDefaults, TrainingError},
    vecchia::FULL_BATCH,
};

/// The variational nearest-neighbor Gaussian process, with components chosen at run time.
pub type AnyVnngp = Vnngp<AnyKernel>;

/// Configuration of the variational nearest-neighbor Gaussian process: labels, counts, positive numbers and other targets
/// with one latent function, trained on mini-batches, for many rows of few inputs.
///
/// The kernel, the mean function and the likelihood are not trained on all rows: the evidence lower bound of this model
/// has its maximum at much too short lengthscales (see [`Vnngp`]). They have the values of the
/// [parameters](Self::parameters), or those that the nearest-neighbor models with an evidence,
/// [`VecchiaConfig`] or [`VecchiaLaplaceConfig`], find on a [sample](Self::sample) of the rows.
///
/// ```
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::LikelihoodConfig};
/// use burn_gp_models::{Fit, FitModel, VnngpConfig};
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// let x: Vec<[f64; 2]> = (0..100).map(|i| [f64::from(i % 10), f64::from(i / 10)]).collect();
/// let counts: Vec<f64> = x.iter().map(|[a, _]| if *a < 5.0 { 1.0 } else { 9.0 }).collect();
/// let kernel = StationaryConfig::matern32();
/// let config = VnngpConfig::new(kernel, LikelihoodConfig::poisson()).with_sample(50);
/// let gp = config.fit(&x, &counts, &Fit::adam(0.05).epochs(300).batch_size(50))?;
/// let rates: Vec<f64> = gp.predict([[1.0, 4.5], [8.0, 4.5]])?.mean().into_data().iter().collect();
/// assert!(rates[0] < 2.5 && rates[1] > 6.5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct VnngpConfig {
    /// The kernel.
    #[setters(into)]
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The likelihood, with one latent function.
    #[setters(into)]
    pub likelihood: LikelihoodConfig,
    /// The number of random rows on which the hyperparameters are trained first, by full-batch inference. If absent,
    /// they are those of the configuration.
    #[setters(strip_option)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<usize>,
    /// The numbers of neighbors.
    #[serde(default)]
    pub settings: VecchiaSettings,
    /// The order of the rows. If absent, it is maximin for up to three inputs, and random for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Ordering>,
    /// The seed of a random order and of the sample.
    #[serde(default)]
    pub seed: u64,
    /// Initial values, bounds and priors of the parameters. None of them is trained, except on the sample.
    #[serde(default)]
    pub parameters: ParameterConfig,
    /// The number of distinct inputs of the training rows, which saved models have.
    #[setters(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct_inputs: Option<usize>,
}

impl Default for VnngpConfig {
    /// Two classes with the kernel Matérn-5/2, and hyperparameters from a sample of 5000 rows.
    fn default() -> Self {
        let config = Self::new(StationaryConfig::matern52(), LikelihoodConfig::bernoulli());
        config.with_sample(SAMPLE)
    }
}

/// The number of rows of the sample of a model chosen by name.
const SAMPLE: usize = 5000;

/// A kernel, a mean function and a likelihood.
type Hyperparameters = (AnyKernel, AnyMean, AnyLikelihood);

/// Where training starts.
struct Start {
    /// Without autodiff.
    hyperparameters: Hyperparameters,
    /// The function given a sample of the rows.
    process: Box<dyn Process>,
}

impl VnngpConfig {
    /// The default numbers of neighbors, a zero mean and the given hyperparameters, without a sample.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::zero(),
            likelihood: likelihood.into(),
            sample: None,
            settings: VecchiaSettings::default(),
            order: None,
            seed: 0,
            parameters: ParameterConfig::default(),
            distinct_inputs: None,
        }
    }

    /// Initializes the model for [`arranged`](ModelDefinition::arranged) data, in their precision and on their device with
    /// autodiff. With a [sample](Self::sample), this trains the hyperparameters.
    ///
    /// Unless the log density of the likelihood has a kink, the inducing values start at the means that the nearest
    /// neighbors in the sample, or in 5000 random rows, predict. Mini-batches then have to find only what is left: they
    /// are slow to find what many rows have in common.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target or has several latent functions, a number of neighbors is zero, a
    /// parameter setting is invalid, the hyperparameters cannot be trained on the sample, or the covariance of the
    /// neighbors of a row cannot be factored.
    ///
    /// # Panics
    ///
    /// If the likelihood needs a different number of target columns.
    #[track_caller]
    pub fn init(&self, data: &TrainingData) -> Result<AnyVnngp, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        self.check_neighbors()?;
        let inputs = data.inputs.clone().without_autodiff();
        let likelihood = self.one_function().likelihood(&options_of(&inputs))?;
        let model = match (likelihood.description().is_smooth, self.sample) {
            (true, _) => self.near_sample(self.start(data)?, inputs)?,
            (false, None) => {
                let assemble = |dimensions, options| {
                    let given = self.given(dimensions, options)?;
                    Ok(self.assemble(given, inputs))
                };
                let model = self.one_function().init(data, AnyVnngp::kernel, assemble)?;
                model.with_prior_moments()?
            }
            (false, Some(_)) => {
                let likelihood = likelihood.description().name;
                return Err(InitError::NoCurvature { likelihood });
            }
        };
        let model = model.with_priors(self.parameters.priors.clone());
        Ok(model.with_frozen_hyperparameters())
    }

    /// The model with inducing values at the means that the sample predicts.
    fn near_sample(&self, start: Start, inputs: Tensor<2>) -> Result<AnyVnngp, InitError> {
        let model = self.assemble(start.hyperparameters, inputs);
        let values = start.process.marginals(model.inputs()).mean;
        let means = model.mean().residual(values, model.inputs());
        let [_, deviations] = model.clone().with_prior_moments()?.moments();
        Ok(model.with_moments(means.squeeze_dim(1), deviations).train())
    }

    fn one_function(&self) -> OneFunction<'_> {
        OneFunction {
            kernel: &self.kernel,
            likelihood: &self.likelihood,
            parameters: &self.parameters,
        }
    }

    /// The hyperparameters before the values of [`parameters`](Self::parameters).
    fn given(
        &self,
        dimensions: usize,
        options: TensorCreationOptions,
    ) -> Result<Hyperparameters, InitError> {
        self.kernel.check_for("kernel", dimensions)?;
        self.mean.check_for("mean", dimensions)?;
        Ok((
            self.kernel.init(dimensions, options.clone()),
            self.mean.init(dimensions, OUTPUTS, options.clone()),
            self.one_function().likelihood(&options)?,
        ))
    }

    /// Random rows, at most as many as there are.
    fn sampled(&self, data: &TrainingData, rows: usize) -> TrainingData {
        let count = rows.clamp(1, data.len());
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut rows: Vec<i64> = index::sample(&mut random, data.len(), count)
            .into_iter()
            .map(|row| row as i64)
            .collect();
        rows.sort_unstable();
        let rows = Tensor::from_data(rows.as_slice(), &data.inputs.device());
        data.reordered(&rows)
    }

    /// The hyperparameters and what neighbors in a sample of the rows predict with them. They are those with the largest
    /// evidence of the sample if there is a [sample](Self::sample): that of nearest neighbors for Gaussian noise, and of
    /// its Laplace approximation for other likelihoods.
    fn start(&self, data: &TrainingData) -> Result<Start, InitError> {
        let sample = self.sampled(data, self.sample.unwrap_or(SAMPLE));
        let failed = |error: ConditionError| InitError::Sample {
            rows: sample.len(),
            reason: error.to_string(),
        };
        let gaussian = self.likelihood.downcast_ref::<GaussianConfig>();
        if let Some(likelihood) = gaussian.filter(|_| self.sample.is_some()) {
            let config = VecchiaConfig {
                mean: self.mean.clone(),
                likelihood: likelihood.clone(),
                settings: self.settings,
                order: self.order,
                seed: self.seed,
                parameters: self.parameters.clone(),
                joint_predictions: false,
                ..VecchiaConfig::new(self.kernel.clone())
            };
            let sample = config.arranged(sample.clone());
            let model = self.trained(config.init(&sample)?, &sample)?;
            let likelihood = AnyLikelihood::from(model.likelihood().clone());
            let hyperparameters = (model.kernel().clone(), model.mean().clone(), likelihood);
            let process = model
                .condition(sample.inputs, sample.targets)
                .map_err(failed)?;
            let process = Box::new(process);
            return Ok(Start {
                hyperparameters,
                process,
            });
        }
        let config = VecchiaLaplaceConfig {
            mean: self.mean.clone(),
            settings: self.settings,
            order: self.order,
            seed: self.seed,
            parameters: self.parameters.clone(),
            // Only means are used, and no variances.
            estimates: VecchiaLaplaceSettings::default().with_draws(1),
            ..VecchiaLaplaceConfig::new(self.kernel.clone(), self.likelihood.clone())
        };
        let sample = config.arranged(sample.clone());
        let model = self.trained(config.init(&sample)?, &sample)?;
        let (mean, likelihood) = (model.mean().clone(), model.likelihood().clone());
        let hyperparameters = (model.kernel().clone(), mean, likelihood);
        let process = model
            .condition(sample.inputs, sample.targets)
            .map_err(failed)?;
        let process = Box::new(process);
        Ok(Start {
            hyperparameters,
            process,
        })
    }

    /// A model without autodiff, trained on all rows of the sample at once if there is to be one.
    fn trained<M: Module + Model>(&self, model: M, sample: &TrainingData) -> Result<M, InitError> {
        if self.sample.is_none() {
            return Ok(model.valid());
        }
        let training = FULL_BATCH.into();
        match training::fit::<_, TrainingError>(model, sample.clone(), &training, &mut []) {
            Ok(trainer) => Ok(trainer.model().valid()),
            Err(error) => Err(InitError::Sample {
                rows: sample.len(),
                reason: error.to_string(),
            }),
        }
    }

    fn check_neighbors(&self) -> Result<(), InitError> {
        let VecchiaSettings {
            neighbors,
            prediction_neighbors,
        } = self.settings;
        match neighbors == 0 || prediction_neighbors == 0 {
            true => Err(InitError::NoNeighbors),
            false => Ok(()),
        }
    }

    /// The model of training rows with inputs, `[N, D]`.
    fn assemble(&self, (kernel, mean, likelihood): Hyperparameters, inputs: Tensor<2>) -> AnyVnngp {
        let jitter = jitter(&options_of(&inputs));
        Vnngp::new(kernel, mean, likelihood, inputs, self.settings, jitter)
    }
}

/// The variances of the function are increased by as much as those of inducing variables.
fn jitter(options: &TensorCreationOptions) -> Jitter {
    Jitter::for_precision(options.dtype.unwrap_or(DType::F32))
}

impl ModelDefinition for VnngpConfig {
    model_config!();
    model_config!(boxed);

    /// The data in the [order](Self::order). Data with an input that is not finite keep their order.
    fn arranged(&self, data: TrainingData) -> TrainingData {
        in_order(data, &self.kernel, self.order, self.seed)
    }

    fn resolve(&mut self, data: &TrainingData) {
        let [_, dimensions] = data.inputs.dims();
        let inputs = numbers(data.inputs.clone().without_autodiff());
        self.distinct_inputs = Some(distinct_rows(&inputs, dimensions).len());
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::MINI_BATCHES
    }

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        let (rows, options) = (self.distinct_inputs.unwrap_or(shape.rows), &shape.options);
        let (kernel, mean, likelihood) = self.given(shape.dimensions, options.clone())?;
        self.check_neighbors()?;
        let inputs = Tensor::zeros([rows, shape.dimensions], options.clone());
        let model = Vnngp::at_distinct_inputs(
            kernel,
            (mean, likelihood),
            (inputs, vec![1; rows]),
            (self.settings, jitter(options)),
        );
        Ok(self.parameters.apply_to_skeleton(model)?.into_trained())
    }

    fn likelihood_mut(&mut self) -> Option<&mut LikelihoodConfig> {
        Some(&mut self.likelihood)
    }
}

register!(
    Model,
    "vnngp",
    VnngpConfig,
    "Classes, counts and numbers on nearest neighbors with a given kernel for very many rows, Adam on mini-batches"
);

impl<K: KernelModule> Model for Vnngp<K>
where
    Self: Trained,
{
    /// An unbiased estimate of the evidence lower bound. The terms of the batch in the KL divergence, too, are scaled
    /// up to all data.
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let [batch, _] = inputs.dims();
        let scale = data_count as f64 / batch as f64;
        let Evaluation { marginals, kl } = self.evaluate(inputs)?;
        let expected = self.likelihood().expected_log_density(targets, marginals);
        Ok(Objective {
            fit: expected.sum() * scale,
            kl: Some(kl * scale),
        })
    }

    fn priors(&self) -> Priors {
        self.priors().clone()
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.likelihood().description().check_tensor(targets)
    }

    fn trained(&self, _data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        Ok(self.valid().into_trained())
    }
}

impl Trained for AnyVnngp {
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
        Ok(Box::new(self.condition()))
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.likelihood().clone()
    }

    fn options(&self) -> (Device, DType) {
        let inputs = self.inputs();
        (inputs.device(), inputs.dtype())
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.kernel().covariance_at(x1, x2))
    }
}
