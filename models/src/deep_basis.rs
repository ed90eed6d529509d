//! Deep basis kernels.

use burn::{
    module::Module,
    tensor::{DType, Device, Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    features::{NetworkConfig, NetworkError, ResidualNetworkConfig},
    inference::{ConditionError, LowRankRegression, RowColumns},
    kernels::{Basis, KernelModule},
    likelihoods::{AnyLikelihood, GaussianConfig, LikelihoodConfig, check_finite},
    means::MeanConfig,
    parameter::ParameterConfig,
    process::{AnyProcess, CovarianceShape, VarianceCorrection, VariationalGaussian},
    register,
    variational::WeightSpace,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::{
    AnyTrained, DataShape, InitError, ModelDefinition, Svgp, Trained,
    config::{OUTPUTS, options_of},
    initial_scale::scaled_to_targets,
    model_config::{full_batch, model_config},
    training::{AdamRates, Model, TrainingData, TrainingDefaults},
};

/// Full-batch regression with a deep basis kernel whose components are chosen at run time.
pub type AnyDbk = LowRankRegression<Basis>;

/// A deep basis kernel with a posterior over the weights of its features.
pub type AnySvdbk = Svgp<Basis>;

/// The features of a deep basis kernel: a network's outputs times a small constant.
///
/// The paper does not say how the networks are initialized. With unscaled outputs the penalty
/// `−Σ_n c(x_n)/(2σ²)` is hundreds of times the rest of the initial objective, and training spends
/// thousands of steps on shrinking the features. Larger weights compensate for small features at a
/// cost of `½‖w‖²` once, whereas differences between the features cost `1/(2σ²)` for every data
/// point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct BasisConfig {
    /// The network.
    #[setters(into)]
    pub network: NetworkConfig,
    /// The number of network outputs, R.
    pub rank: usize,
    /// The constant that the outputs are multiplied by.
    pub scale: f64,
}

impl BasisConfig {
    /// Features with scale `1/√R`, for weights that are trained step by step. Neither the initial
    /// prior variance `‖φ(x)‖²` nor its change in an Adam step then grows with R.
    pub fn new(network: impl Into<NetworkConfig>, rank: usize) -> Self {
        Self {
            network: network.into(),
            rank,
            scale: (rank.max(1) as f64).sqrt().recip(),
        }
    }

    /// Features with scale 0.01, for weights that are integrated out. Such weights are as large as
    /// necessary from the first step on.
    pub fn integrated(network: impl Into<NetworkConfig>, rank: usize) -> Self {
        Self {
            scale: 0.01,
            ..Self::new(network, rank)
        }
    }

    /// Checks the network.
    ///
    /// # Errors
    ///
    /// When the settings of the network are invalid for `dimensions` inputs.
    pub fn check(&self, dimensions: usize) -> Result<(), NetworkError> {
        self.network.check_sizes(dimensions, self.rank)
    }

    pub(crate) fn init(&self, dimensions: usize, options: TensorCreationOptions) -> Basis {
        let network = self.network.init(dimensions, self.rank, options);
        Basis::new(network).times(self.scale)
    }
}

/// The rank in the paper.
const RANK: usize = 128;

impl Default for BasisConfig {
    /// 128 outputs of a residual network, for weights that are trained.
    fn default() -> Self {
        Self::new(ResidualNetworkConfig::default(), RANK)
    }
}

/// The same features for weights that are integrated out.
fn integrated() -> BasisConfig {
    BasisConfig::integrated(ResidualNetworkConfig::default(), RANK)
}

/// The initial noise variance in the paper.
fn first_noise() -> GaussianConfig {
    GaussianConfig { noise: 1e-2 }
}

/// Configuration of a deep basis kernel with full-batch inference (Y. Zhu, P. Yuchi and Y. Xie,
/// arXiv:2505.18526).
///
/// Variants in the paper: `-c` is [`VarianceCorrection::NONE`], `-r` is rank 1, `-cr` is both.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{features::PerceptronConfig};
/// use burn_gp_models::{BasisConfig, DbkConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
/// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
/// let basis = BasisConfig::new(PerceptronConfig::default(), 4);
/// let model = DbkConfig { basis, ..DbkConfig::default() }.init(&data)?;
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
pub struct DbkConfig {
    /// The features.
    #[serde(default = "integrated")]
    pub basis: BasisConfig,
    /// The mean function.
    #[serde(default)]
    pub mean: MeanConfig,
    /// The noise.
    #[serde(default = "first_noise")]
    pub likelihood: GaussianConfig,
    /// The role of the residual variance, which the features do not explain, in training and
    /// prediction.
    #[serde(default)]
    pub correction: VarianceCorrection,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl Default for DbkConfig {
    /// The settings of the paper: a residual network with 128 outputs, noise 0.01, with the
    /// variance correction.
    fn default() -> Self {
        Self {
            basis: integrated(),
            mean: MeanConfig::zero(),
            likelihood: first_noise(),
            correction: VarianceCorrection::default(),
            parameters: ParameterConfig::default(),
        }
    }
}

impl DbkConfig {
    /// The settings of the paper, which are the default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Initializes the model for `data`, in their precision and on their device with autodiff.
    ///
    /// # Errors
    ///
    /// When a target is not finite, or a parameter setting is invalid.
    pub fn init(&self, data: &TrainingData) -> Result<AnyDbk, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let [_, dimensions] = data.inputs.dims();
        self.basis.check(dimensions)?;
        let options = options_of(&data.inputs);
        let model = LowRankRegression::new(
            self.basis.init(dimensions, options.clone()),
            self.mean.init(dimensions, OUTPUTS, options.clone()),
            self.likelihood.init(options),
            self.correction,
        );
        let model = self.parameters.apply(model)?.train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// The variational model that a trained model is converted to. It needs no data to predict.
    pub fn variational(&self) -> SvdbkConfig {
        SvdbkConfig {
            basis: self.basis.clone(),
            mean: self.mean.clone(),
            likelihood: self.likelihood.clone().into(),
            correction: self.correction,
            covariance: CovarianceShape::Full,
            parameters: self.parameters.clone(),
        }
    }
}

/// Configuration of a deep basis kernel with a posterior over the weights of its features, for any
/// likelihood and data in batches (Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526, section 3.2).
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{features::PerceptronConfig, likelihoods::GaussianConfig};
/// use burn_gp_models::{BasisConfig, SvdbkConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
/// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
/// let mut config = SvdbkConfig::new(GaussianConfig::default());
/// config.basis = BasisConfig::new(PerceptronConfig::default(), 4);
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
pub struct SvdbkConfig {
    /// The features.
    #[serde(default)]
    pub basis: BasisConfig,
    /// The mean function.
    #[serde(default)]
    pub mean: MeanConfig,
    /// The likelihood.
    #[setters(into)]
    pub likelihood: LikelihoodConfig,
    /// The role of the residual variance, which the features do not explain, in training and
    /// prediction.
    #[serde(default)]
    pub correction: VarianceCorrection,
    /// Whether the covariance of the weights is full or diagonal.
    #[serde(default)]
    pub covariance: CovarianceShape,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl Default for SvdbkConfig {
    /// The settings of the paper, for regression.
    fn default() -> Self {
        DbkConfig {
            basis: BasisConfig::default(),
            ..DbkConfig::default()
        }
        .variational()
    }
}

impl SvdbkConfig {
    /// The settings of the paper with any likelihood.
    pub fn new(likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            likelihood: likelihood.into(),
            ..Self::default()
        }
    }

    /// Initializes the model, in the precision of `data` and on their device with autodiff. The
    /// model has as many latent functions as the likelihood needs for the target columns.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, or a parameter setting is invalid.
    ///
    /// # Panics
    ///
    /// If the likelihood needs a different number of target columns.
    #[track_caller]
    pub fn init(&self, data: &TrainingData) -> Result<AnySvdbk, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        let ([_, dimensions], [_, columns]) = (data.inputs.dims(), data.targets.dims());
        self.basis.check(dimensions)?;
        let model = self.assemble(dimensions, columns, options_of(&data.inputs));
        let model = self.parameters.apply(model)?;
        let (parts, priors) = ((None, &*self.likelihood), &self.parameters.priors);
        let model = scaled_to_targets(model, AnySvdbk::kernel, parts, priors, data);
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    #[track_caller]
    fn assemble(
        &self,
        dimensions: usize,
        columns: usize,
        options: TensorCreationOptions,
    ) -> AnySvdbk {
        let options = || options.clone();
        let likelihood = self.likelihood.init(options());
        let description = likelihood.description();
        let functions = description.latents * description.outputs(columns);
        let distribution =
            VariationalGaussian::standard(self.basis.rank, functions, self.covariance, options());
        Svgp::of(
            self.basis.init(dimensions, options()),
            self.mean.init(dimensions, functions, options()),
            likelihood,
            WeightSpace::new(distribution, self.correction),
        )
    }
}

impl ModelDefinition for DbkConfig {
    model_config!(becomes_variational);

    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::ALL
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::OneBatch(AdamRates::BASIS)
    }
}

register!(
    Model,
    "dbk",
    DbkConfig,
    "Regression with the outputs of a network as basis functions (deep basis kernel), full batch, Adam"
);

impl Model for AnyDbk {
    full_batch!(rows);

    /// The variational model with the distribution of the weights given `data`.
    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        let model = self.valid();
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let posterior = model.weight_space(inputs, targets)?;
        let model = Svgp::of(
            model.kernel().clone(),
            model.mean().clone(),
            AnyLikelihood::from(model.likelihood().clone()),
            posterior,
        );
        Ok(model.into_trained())
    }
}

impl ModelDefinition for SvdbkConfig {
    model_config!(variational);

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        self.basis.check(shape.dimensions)?;
        let model = self.assemble(shape.dimensions, shape.columns, shape.options.clone());
        Ok(self.parameters.apply_to_skeleton(model)?.into_trained())
    }

    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::MiniBatches(AdamRates::BASIS)
    }
}

register!(
    Model,
    "svdbk",
    SvdbkConfig,
    "As dbk, variational, on mini-batches"
);

impl Trained for AnySvdbk {
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
        Ok(Box::new(self.condition()?))
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.likelihood().clone()
    }

    fn options(&self) -> (Device, DType) {
        let level = weights(self).level();
        (level.device(), level.dtype())
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.kernel().covariance_at(x1, x2))
    }

    /// The model, with predictions that raise the prior variance to its maximum over the training
    /// inputs.
    fn finished(self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        let inputs = data.inputs.clone().inner();
        ConditionError::check_inputs(&inputs)?;
        let posterior = weights(&self)
            .clone()
            .with_level_of(self.kernel(), inputs)?;
        let model = Svgp::of(
            self.kernel().clone(),
            self.mean().clone(),
            self.likelihood().clone(),
            posterior,
        );
        Ok(model.into_trained())
    }
}

/// The posterior of a model over the weights of features.
fn weights(model: &AnySvdbk) -> &WeightSpace {
    match model.posterior().downcast_ref() {
        Some(weights) => weights,
        None => unreachable!("the posterior of a deep basis kernel is over weights"),
    }
}
