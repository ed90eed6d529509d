//! All ready-made models with a network.

use burn::{module::Module, tensor::Tensor};
use burn_gp::{
    likelihoods::{ImpossibleTarget, LikelihoodConfig, check_finite},
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, Priors},
};

use crate::{
    AnyDbk, AnyDkl, AnyLastLayer, AnySdkl, AnySvdbk, AnySvdkl, AnyVariational, DbkConfig,
    DeepKernelConfig, ExactConfig, InitError, LastLayerConfig, ModelConfig, SgprConfig,
    SvdbkConfig, SvgpConfig, TrainedModel,
    config::options_of,
    training::{MiniBatchModel, Objective, OnAllData, TrainingData},
};

/// Configuration of any model with a network.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkModelConfig {
    /// A deep basis kernel with full-batch inference.
    Dbk(DbkConfig),
    /// A deep basis kernel with a posterior over its weights.
    Svdbk(SvdbkConfig),
    /// A network with a Bayesian last layer.
    LastLayer(LastLayerConfig),
    /// Exact deep kernel learning.
    Dkl(DeepKernelConfig<ExactConfig>),
    /// Deep kernel learning with inducing points, collapsed.
    Sdkl(DeepKernelConfig<SgprConfig>),
    /// Deep kernel learning with inducing points, on mini-batches.
    Svdkl(DeepKernelConfig<SvgpConfig>),
}

impl NetworkModelConfig {
    /// Initializes the model for `data`, in their precision and on their device with autodiff.
    ///
    /// # Errors
    ///
    /// When the model cannot be initialized from the data.
    pub fn init(&self, data: &TrainingData) -> Result<NetworkModel, InitError> {
        Ok(match self {
            Self::Dbk(config) => {
                check_finite(&data.targets)?;
                let [_, dimensions] = data.inputs.dims();
                let model = config.init(dimensions, options_of(&data.inputs))?;
                NetworkModel::Dbk(OnAllData::new(model))
            }
            Self::Svdbk(config) => NetworkModel::Svdbk(config.init(data)?),
            Self::LastLayer(config) => NetworkModel::LastLayer(config.init(data)?),
            Self::Dkl(config) => NetworkModel::Dkl(OnAllData::new(config.init(data)?)),
            Self::Sdkl(config) => NetworkModel::Sdkl(OnAllData::new(config.init(data)?)),
            Self::Svdkl(config) => NetworkModel::Svdkl(config.init(data)?),
        })
    }

    /// The likelihood.
    pub fn likelihood(&self) -> LikelihoodConfig {
        match self {
            Self::Dbk(config) => config.likelihood.clone().into(),
            Self::Svdbk(config) => config.likelihood.clone(),
            Self::LastLayer(config) => config.likelihood.clone().into(),
            Self::Dkl(config) => config.model.likelihood.clone().into(),
            Self::Sdkl(config) => config.model.likelihood.clone().into(),
            Self::Svdkl(config) => config.model.likelihood.clone(),
        }
    }
}

impl From<NetworkModelConfig> for ModelConfig {
    fn from(config: NetworkModelConfig) -> Self {
        match config {
            NetworkModelConfig::Dbk(config) => Self::Dbk(config),
            NetworkModelConfig::Svdbk(config) => Self::Svdbk(config),
            NetworkModelConfig::LastLayer(config) => Self::LastLayer(config),
            NetworkModelConfig::Dkl(config) => Self::Dkl(config),
            NetworkModelConfig::Sdkl(config) => Self::Sdkl(config),
            NetworkModelConfig::Svdkl(config) => Self::Svdkl(config),
        }
    }
}

/// A model with a network, trained by Adam.
#[allow(
    clippy::large_enum_variant,
    reason = "a program holds one or two, and burn's modules can hold no boxes"
)]
#[derive(Module, Debug)]
pub enum NetworkModel {
    /// A deep basis kernel with full-batch inference.
    Dbk(OnAllData<AnyDbk>),
    /// A deep basis kernel with a posterior over its weights.
    Svdbk(AnySvdbk),
    /// A network with a Bayesian last layer.
    LastLayer(AnyLastLayer),
    /// Exact deep kernel learning.
    Dkl(OnAllData<AnyDkl>),
    /// Deep kernel learning with inducing points, collapsed.
    Sdkl(OnAllData<AnySdkl>),
    /// Deep kernel learning with inducing points, on mini-batches.
    Svdkl(AnySvdkl),
}

/// Forwards to the wrapped model.
macro_rules! forward {
    ($self:ident, $model:ident => $call:expr) => {
        match $self {
            NetworkModel::Dbk($model) => $call,
            NetworkModel::Svdbk($model) => $call,
            NetworkModel::LastLayer($model) => $call,
            NetworkModel::Dkl($model) => $call,
            NetworkModel::Sdkl($model) => $call,
            NetworkModel::Svdkl($model) => $call,
        }
    };
}

impl NetworkModel {
    /// Whether its objective needs all data at once.
    pub fn is_on_all_data(&self) -> bool {
        matches!(self, Self::Dbk(_) | Self::Dkl(_) | Self::Sdkl(_))
    }

    /// Conditions the model on its training data for prediction.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn trained(&self, data: &TrainingData) -> Result<TrainedModel, NotPositiveDefinite> {
        match self {
            Self::Dbk(model) => TrainedModel::deep_basis(model.model(), data),
            Self::Svdbk(model) => TrainedModel::variational_deep_basis(model, data),
            Self::LastLayer(model) => TrainedModel::deep_basis(&model.bayesian(), data),
            Self::Dkl(model) => Ok(TrainedModel::deep_kernel(model.model(), data)),
            Self::Sdkl(model) => TrainedModel::collapsed_deep_kernel(model.model(), data),
            Self::Svdkl(model) => Ok(TrainedModel::variational_deep_kernel(model)),
        }
    }
}

impl MiniBatchModel for NetworkModel {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        forward!(self, model => MiniBatchModel::objective(model, inputs, targets, data_count))
    }

    fn after_step(self) -> Self {
        match self {
            Self::Svdbk(model) => Self::Svdbk(model.after_step()),
            Self::Svdkl(model) => Self::Svdkl(MiniBatchModel::after_step(model)),
            model => model,
        }
    }

    fn in_unit_of(self, inputs: &Tensor<2>, targets: &Tensor<2>) -> Self {
        match self {
            Self::Dkl(model) => Self::Dkl(model.in_unit_of(inputs, targets)),
            Self::Sdkl(model) => Self::Sdkl(model.in_unit_of(inputs, targets)),
            Self::Svdkl(model) => Self::Svdkl(MiniBatchModel::in_unit_of(model, inputs, targets)),
            model => model,
        }
    }

    fn priors(&self) -> Priors {
        forward!(self, model => MiniBatchModel::priors(model))
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        forward!(self, model => MiniBatchModel::check_targets(model, targets))
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        use burn_gp::parameter::hyperparameters;
        match self {
            Self::Dbk(model) => hyperparameters(model.model()),
            Self::Svdbk(model) => hyperparameters(model),
            Self::LastLayer(model) => hyperparameters(model),
            Self::Dkl(model) => hyperparameters(model.model().model()),
            Self::Sdkl(model) => hyperparameters(model.model().model()),
            Self::Svdkl(model) => hyperparameters(model.model()),
        }
    }
}

/// Any ready-made model trained by Adam.
#[allow(
    clippy::large_enum_variant,
    reason = "a program holds one or two, and burn's modules can hold no boxes"
)]
#[derive(Module, Debug)]
pub enum AnyMiniBatch {
    /// A variational model.
    Variational(AnyVariational),
    /// A model with a network.
    Network(NetworkModel),
}

impl AnyMiniBatch {
    /// Conditions the model on its training data for prediction.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn trained(&self, data: &TrainingData) -> Result<TrainedModel, NotPositiveDefinite> {
        match self {
            Self::Variational(model) => Ok(TrainedModel::variational(model.clone())),
            Self::Network(model) => model.trained(data),
        }
    }

    /// Whether its objective needs all data at once.
    pub fn is_on_all_data(&self) -> bool {
        match self {
            Self::Variational(_) => false,
            Self::Network(model) => model.is_on_all_data(),
        }
    }

    /// The largest number of rows that a kernel processes per data point of a training step. Memory
    /// grows with this number.
    pub fn rows_per_datum(&self) -> usize {
        match self {
            Self::Variational(model) => model.rows_per_datum(),
            Self::Network(_) => 1,
        }
    }
}

impl<M: Into<AnyVariational>> From<M> for AnyMiniBatch {
    fn from(model: M) -> Self {
        Self::Variational(model.into())
    }
}

impl MiniBatchModel for AnyMiniBatch {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        match self {
            Self::Variational(model) => model.objective(inputs, targets, data_count),
            Self::Network(model) => model.objective(inputs, targets, data_count),
        }
    }

    fn after_step(self) -> Self {
        match self {
            Self::Variational(model) => Self::Variational(model.after_step()),
            Self::Network(model) => Self::Network(model.after_step()),
        }
    }

    fn in_unit_of(self, inputs: &Tensor<2>, targets: &Tensor<2>) -> Self {
        match self {
            Self::Variational(model) => Self::Variational(model.in_unit_of(inputs, targets)),
            Self::Network(model) => Self::Network(model.in_unit_of(inputs, targets)),
        }
    }

    fn priors(&self) -> Priors {
        match self {
            Self::Variational(model) => model.priors(),
            Self::Network(model) => model.priors(),
        }
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        match self {
            Self::Variational(model) => model.check_targets(targets),
            Self::Network(model) => model.check_targets(targets),
        }
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        match self {
            Self::Variational(model) => model.hyperparameters(),
            Self::Network(model) => model.hyperparameters(),
        }
    }
}
