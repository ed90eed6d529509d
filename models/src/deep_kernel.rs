//! Deep kernel learning: Gaussian processes on the outputs of a network.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    features::{AnyNetwork, FirstWeights, NetworkConfig, NetworkError, ResidualNetworkConfig},
    inference::{ConditionError, RowColumns},
    likelihoods::{AnyLikelihood, ImpossibleTarget, LikelihoodConfig},
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, ParameterConfig, Part, Priors},
    process::{AnyProcess, Marginals, draw_at_distinct},
    register,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use crate::{
    AnyModel, AnyTrained, DataShape, ExactConfig, InitError, ModelDefinition, SgprConfig,
    SvgpConfig, Trained,
    config::options_of,
    training::{AdamRates, Model, Objective, TrainingData, TrainingDefaults},
};

/// A model of `f(x) = g(h(x))`, where the inputs of g are the outputs h of a network (A. Wilson, Z.
/// Hu, R. Salakhutdinov and E. Xing, *Deep Kernel Learning*, arXiv:1511.02222). The inducing points
/// are in the space of the network outputs, and a linear mean is a function of these outputs.
#[derive(Module, Debug)]
pub struct DeepKernelModel<M: Module> {
    network: Part<AnyNetwork>,
    model: M,
}

impl<M: Module + ModuleDisplay> DeepKernelModel<M> {
    /// A model on the outputs of `network`.
    pub fn new(network: AnyNetwork, model: M) -> Self {
        Self {
            network: Part::network(network),
            model,
        }
    }

    /// The network.
    pub fn network(&self) -> &AnyNetwork {
        &self.network
    }

    /// The model on its outputs.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The data with the network outputs as inputs, detached from the autodiff graph.
    pub fn features(&self, data: &TrainingData) -> TrainingData {
        features(&self.network.valid(), data)
    }
}

fn features(network: &AnyNetwork, data: &TrainingData) -> TrainingData {
    TrainingData {
        inputs: network.forward(data.inputs.clone().inner()),
        targets: data.targets.clone().inner(),
    }
}

impl Model for DeepKernelModel<AnyModel> {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        (self.model).objective(self.network.forward(inputs), targets, data_count)
    }

    fn needs_all_data(&self) -> bool {
        self.model.needs_all_data()
    }

    fn rows_per_datum(&self) -> usize {
        self.model.rows_per_datum()
    }

    fn after_step(&mut self) {
        self.model.after_step();
    }

    fn priors(&self) -> Priors {
        self.model.priors().within("model")
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.model.check_targets(targets)
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.model.hyperparameters()
    }

    fn use_row_columns(&mut self, columns: RowColumns) -> bool {
        self.model.use_row_columns(columns)
    }

    fn trained(&self, data: &TrainingData) -> Result<AnyTrained, ConditionError> {
        ConditionError::check_inputs(&data.inputs)?;
        let trained = DeepKernelModel {
            network: self.network.valid(),
            model: self.model.trained(&self.features(data))?,
        };
        Ok(trained.into_trained())
    }
}

impl Trained for DeepKernelModel<AnyTrained> {
    fn process(&self) -> Result<Box<dyn AnyProcess + Send + Sync>, ConditionError> {
        Ok(Box::new(FeatureProcess {
            network: self.network.valid(),
            functions: self.model.process()?,
        }))
    }

    fn condition_on_observations(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Option<Result<AnyTrained, ConditionError>> {
        let features = self.network.forward(inputs);
        let model = self.model.condition_on_observations(features, targets)?;
        let network = self.network.valid();
        Some(model.map(|model| DeepKernelModel { network, model }.into_trained()))
    }

    fn row_columns(&self) -> RowColumns {
        self.model.row_columns()
    }

    fn likelihood(&self) -> AnyLikelihood {
        self.model.likelihood()
    }

    fn options(&self) -> (Device, DType) {
        self.model.options()
    }

    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        self.model.hyperparameters()
    }

    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        let [x1, x2] = [x1, x2].map(|x| self.network.forward(x));
        self.model.covariance(x1, x2)
    }
}

/// Functions of the outputs of a network.
struct FeatureProcess {
    network: Part<AnyNetwork>,
    functions: Box<dyn AnyProcess + Send + Sync>,
}

impl AnyProcess for FeatureProcess {
    fn components(&self, x: Tensor<2>) -> Vec<Marginals> {
        self.functions.components(self.network.forward(x))
    }

    fn rows_per_input(&self) -> usize {
        self.functions.rows_per_input()
    }

    fn layer_means(&self, x: Tensor<2>) -> Vec<Tensor<2>> {
        self.functions.layer_means(self.network.forward(x))
    }

    fn has_hidden_layers(&self) -> bool {
        self.functions.has_hidden_layers()
    }

    fn draws(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        // Rounding may differ between the rows of a product, so equal inputs may have different
        // features.
        draw_at_distinct(x, |x| {
            (self.functions).draws(self.network.forward(x), samples, seed)
        })
    }
}

/// Configuration of deep kernel learning with the model configuration `C`: [`ExactConfig`](crate::ExactConfig),
/// [`SgprConfig`](crate::SgprConfig) or [`SvgpConfig`](crate::SvgpConfig).
///
/// The paths of the model's `parameters` are the same as without the network.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary};
/// use burn_gp_models::{DeepKernelConfig, SgprConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
/// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
/// let kernel = StationaryConfig::new(Stationary::Matern52);
/// let sgpr = SgprConfig::new(kernel).with_inducing(6);
/// let model = DeepKernelConfig::new(sgpr).init(&data)?;
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
pub struct DeepKernelConfig<C> {
    /// The network.
    #[serde(default = "residual_network")]
    #[setters(into)]
    pub network: NetworkConfig,
    /// The number of network outputs, H.
    #[serde(default = "two")]
    pub features: usize,
    /// The model on the outputs. In files it is not called `model`, because that key names the
    /// whole model.
    #[serde(rename = "of_features")]
    pub model: C,
}

fn residual_network() -> NetworkConfig {
    ResidualNetworkConfig {
        first_weights: FirstWeights::FanIn,
        ..ResidualNetworkConfig::default()
    }
    .into()
}

fn two() -> usize {
    2
}

impl<C> DeepKernelConfig<C> {
    /// `model` on two outputs of a residual network.
    pub fn new(model: C) -> Self {
        Self {
            network: residual_network(),
            features: two(),
            model,
        }
    }

    /// The network for `data`, and the data with its initial outputs as inputs.
    fn first_features(
        &self,
        data: &TrainingData,
    ) -> Result<(AnyNetwork, TrainingData), NetworkError> {
        let [_, dimensions] = data.inputs.dims();
        self.network.check_sizes(dimensions, self.features)?;
        let options = options_of(&data.inputs);
        let network = self.network.init(dimensions, self.features, options);
        let seen = features(&network, data);
        Ok((network, seen))
    }
}

impl<C: ModelDefinition + Clone> DeepKernelConfig<C> {
    /// Initializes the model for `data`, in their precision and on their device with autodiff. Any
    /// inducing points are chosen among the initial outputs of the network.
    ///
    /// # Errors
    ///
    /// When a target is impossible, or the model on the outputs cannot be initialized.
    pub fn init(&self, data: &TrainingData) -> Result<DeepKernelModel<AnyModel>, InitError> {
        let (network, seen) = self.first_features(data)?;
        let mut config = self.model.clone();
        config.resolve(data);
        let model = config.init(&seen)?;
        model.check_targets(&seen.targets)?;
        Ok(DeepKernelModel::new(network.train(), model))
    }
}

impl<C> ModelDefinition for DeepKernelConfig<C>
where
    C: ModelDefinition + Clone + PartialEq + Serialize,
{
    fn init(&self, data: &TrainingData) -> Result<AnyModel, InitError> {
        Ok(self.init(data)?.boxed())
    }

    /// The counts are chosen for the distinct inputs of the network.
    fn resolve(&mut self, data: &TrainingData) {
        self.model.resolve(data);
    }

    fn fix_precision(&mut self, precision: DType) {
        self.model.fix_precision(precision);
    }

    fn default_training(&self) -> TrainingDefaults {
        match self.model.default_training() {
            TrainingDefaults::MiniBatches(_) => {
                TrainingDefaults::MiniBatches(AdamRates::DEEP_KERNEL)
            }
            _ => TrainingDefaults::OneBatch(AdamRates::DEEP_KERNEL),
        }
    }

    fn takes_one_output(&self) -> bool {
        self.model.takes_one_output()
    }

    fn takes_missing_targets(&self) -> bool {
        self.model.takes_missing_targets()
    }

    fn takes_row_columns(&self) -> RowColumns {
        self.model.takes_row_columns()
    }

    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError> {
        self.network.check_sizes(shape.dimensions, self.features)?;
        let network = (self.network).init(shape.dimensions, self.features, shape.options.clone());
        let seen = DataShape {
            dimensions: self.features,
            ..shape.clone()
        };
        let model = self.model.skeleton(&seen)?;
        Ok(DeepKernelModel::new(network, model).into_trained())
    }

    fn likelihood(&self) -> LikelihoodConfig {
        self.model.likelihood()
    }

    fn likelihood_mut(&mut self) -> Option<&mut LikelihoodConfig> {
        self.model.likelihood_mut()
    }

    fn parameters(&mut self) -> Option<&mut ParameterConfig> {
        self.model.parameters()
    }
}

impl<C: Default> Default for DeepKernelConfig<C> {
    fn default() -> Self {
        Self::new(C::default())
    }
}

register!(
    Model,
    "dkl",
    DeepKernelConfig<ExactConfig>,
    "Exact regression on the outputs of a network (deep kernel learning), Adam"
);
register!(
    Model,
    "sdkl",
    DeepKernelConfig<SgprConfig>,
    "As dkl, with inducing points (collapsed bound)"
);
register!(
    Model,
    "svdkl",
    DeepKernelConfig<SvgpConfig>,
    "As sdkl, variational, on mini-batches"
);
