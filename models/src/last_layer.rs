//! Networks with a Bayesian last layer.

use burn::{
    module::{Module, Param},
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    inference::{ConditionError, LowRankRegression, RowColumns},
    kernels::{Basis, FeatureMap},
    likelihoods::{AnyLikelihood, Gaussian, GaussianConfig, check_finite},
    means::{AnyMean, MeanConfig},
    ops::{ExactMatmul, NotPositiveDefinite},
    parameter::{ParameterConfig, Priors},
    process::{Marginals, VarianceCorrection},
    register,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::{
    AnyDbk, AnyTrained, BasisConfig, DbkConfig, InitError, ModelDefinition, SvdbkConfig,
    config::{OUTPUTS, options_of},
    model_config::model_config,
    row_columns,
    training::{AdamRates, Model, Objective, TrainingData, TrainingDefaults},
};

/// A network trained by maximizing the penalized likelihood
/// `Σ_n log N(y_n | m(x_n) + wᵀφ(x_n), σ²) − ½‖w‖²`. After training its last layer w becomes
/// Bayesian: the posterior of `w ~ N(0, I)` given the trained features and all data.
///
/// A deep basis kernel has the same predictions, but its features maximize the evidence, which
/// integrates w out.
#[derive(Module, Debug)]
pub struct AnyLastLayer {
    kernel: Basis,
    mean: AnyMean,
    likelihood: Gaussian,
    /// w, [P, R]
    weights: Param<Tensor<2>>,
    #[module(skip)]
    priors: Priors,
    #[module(skip)]
    rows: RowColumns,
}

/// Configuration of a network with a Bayesian last layer.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{features::PerceptronConfig, likelihoods::GaussianConfig, means::MeanConfig, parameter::ParameterConfig};
/// use burn_gp_models::{BasisConfig, LastLayerConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
/// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
/// let config = LastLayerConfig {
///     basis: BasisConfig::new(PerceptronConfig::default(), 4),
///     mean: MeanConfig::zero(),
///     likelihood: GaussianConfig::default(),
///     parameters: ParameterConfig::default(),
/// };
/// let model = config.init(&data)?;
/// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
/// let mut trainer = FullBatchTrainer::new(model, data, training);
/// let first = trainer.loss()?;
/// trainer.step()?;
/// assert!(trainer.loss()? < first);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct LastLayerConfig {
    /// The features before the last layer.
    #[serde(default)]
    pub basis: BasisConfig,
    /// The mean function.
    #[serde(default)]
    pub mean: MeanConfig,
    /// The noise.
    pub likelihood: GaussianConfig,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl Default for LastLayerConfig {
    /// The default features, a zero mean, and a noise variance that starts at 0.1.
    fn default() -> Self {
        Self {
            basis: BasisConfig::default(),
            mean: MeanConfig::default(),
            likelihood: GaussianConfig::default(),
            parameters: ParameterConfig::default(),
        }
    }
}

impl LastLayerConfig {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Initializes the model for `data`, in their precision and on their device with autodiff.
    ///
    /// # Errors
    ///
    /// When a target is not finite, or a parameter setting is invalid.
    pub fn init(&self, data: &TrainingData) -> Result<AnyLastLayer, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let [_, dimensions] = data.inputs.dims();
        let options = || options_of(&data.inputs);
        let model = AnyLastLayer {
            kernel: self.basis.init(dimensions, options()),
            mean: self.mean.init(dimensions, OUTPUTS, options()),
            likelihood: self.likelihood.init(options()),
            weights: first_weights(self.basis.rank, options()),
            priors: self.parameters.priors.clone(),
            rows: RowColumns::default(),
        };
        Ok(self.parameters.apply(model)?.train())
    }

    /// The variational model that a trained model is converted to.
    pub fn variational(&self) -> SvdbkConfig {
        let config = DbkConfig {
            basis: self.basis.clone(),
            mean: self.mean.clone(),
            likelihood: self.likelihood.clone(),
            correction: VarianceCorrection::NONE,
            parameters: self.parameters.clone(),
        };
        config.variational()
    }
}

/// Zero weights. The random features already break the symmetry.
fn first_weights(rank: usize, options: TensorCreationOptions) -> Param<Tensor<2>> {
    Param::from_tensor(Tensor::zeros([OUTPUTS, rank], options))
}

impl AnyLastLayer {
    /// The likelihood.
    pub fn likelihood(&self) -> &Gaussian {
        &self.likelihood
    }

    /// The model with its last layer integrated out, on the device without autodiff.
    pub fn bayesian(&self) -> AnyDbk {
        let this = self.valid();
        let none = VarianceCorrection::NONE;
        LowRankRegression::new(this.kernel, this.mean, this.likelihood, none)
            .with_row_columns(this.rows)
    }
}

impl Model for AnyLastLayer {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let [batch, _] = inputs.dims();
        let weights = self.weights.val();
        let features = self.kernel.features(inputs.clone());
        let mean = features.exact_matmul(weights.clone().transpose());
        let marginals = Marginals {
            variance: mean.zeros_like(),
            mean: self.mean.add_to(mean, inputs),
        };
        let likelihood = AnyLikelihood::from(self.likelihood.clone());
        let expected =
            row_columns::expected_log_density(self.rows, &likelihood, targets, marginals);
        Ok(Objective {
            fit: expected.sum() * (data_count as f64 / batch as f64),
            kl: Some(weights.square().sum() * 0.5),
        })
    }

    fn priors(&self) -> Priors {
        self.priors.clone()
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        self.bayesian().trained(data)
    }

    fn use_row_columns(&mut self, columns: RowColumns) -> bool {
        self.rows |= columns;
        true
    }
}

impl ModelDefinition for LastLayerConfig {
    model_config!(becomes_variational);

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::MiniBatches(AdamRates::BASIS)
    }
}

register!(
    Model,
    "last-layer",
    LastLayerConfig,
    "Regression with a network whose last layer becomes Bayesian after training"
);
