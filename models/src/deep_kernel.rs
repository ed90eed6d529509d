//! Deep kernel learning: Gaussian processes on the outputs of a network.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp::{
    features::{AnyNetwork, Features, FirstWeights, NetworkConfig, ResidualNetworkConfig},
    inference::FullBatch,
    likelihoods::{ImpossibleTarget, check_finite},
    ops::NotPositiveDefinite,
    parameter::Priors,
    process::{Joint, JointAcrossOutputs, Marginals, Process},
};
use serde::{Deserialize, Serialize};

use crate::{
    AnyExact, AnySgpr, AnySvgp, ExactConfig, InitError, SgprConfig, SvgpConfig,
    config::options_of,
    training::{MiniBatchModel, Objective, TrainingData},
};

/// A model of `f(x) = g(h(x))`, where the inputs of g are the outputs h of a network (A. Wilson, Z.
/// Hu, R. Salakhutdinov and E. Xing, *Deep Kernel Learning*, arXiv:1511.02222). The inducing points
/// are in the space of the network outputs, and a linear mean is a function of these outputs.
#[derive(Module, Debug)]
pub struct OnFeatures<M: Module> {
    network: AnyNetwork,
    model: M,
}

/// Exact deep kernel learning.
pub type AnyDkl = OnFeatures<AnyExact>;

/// Deep kernel learning with inducing points, collapsed.
pub type AnySdkl = OnFeatures<AnySgpr>;

/// Deep kernel learning with inducing points, on mini-batches.
pub type AnySvdkl = OnFeatures<AnySvgp>;

impl<M: Module + ModuleDisplay> OnFeatures<M> {
    /// A model on the outputs of `network`.
    pub fn new(network: AnyNetwork, model: M) -> Self {
        Self { network, model }
    }

    /// The network.
    pub fn network(&self) -> &AnyNetwork {
        &self.network
    }

    /// The model on its outputs.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Replaces the model behind the network.
    pub fn map<N: Module + ModuleDisplay>(self, change: impl FnOnce(M) -> N) -> OnFeatures<N> {
        OnFeatures::new(self.network, change(self.model))
    }

    /// The data with the network outputs as inputs, detached from the autodiff graph.
    pub fn features(&self, data: &TrainingData) -> TrainingData {
        features(&self.network.valid(), data)
    }

    /// The process of the model on the outputs of the network.
    pub fn process<P: Process>(&self, process: P) -> FeatureProcess<P> {
        FeatureProcess {
            network: self.network.valid(),
            process,
        }
    }
}

fn features(network: &AnyNetwork, data: &TrainingData) -> TrainingData {
    TrainingData {
        inputs: network.forward(data.inputs.clone().inner()),
        targets: data.targets.clone().inner(),
    }
}

impl<M: FullBatch> FullBatch for OnFeatures<M> {
    type Process = FeatureProcess<M::Process>;

    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        (self.model).objective(self.network.forward(inputs), targets)
    }

    fn condition(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Self::Process, NotPositiveDefinite> {
        let data = self.features(&TrainingData { inputs, targets });
        let process = self.model.valid().condition(data.inputs, data.targets)?;
        Ok(self.process(process))
    }

    fn after_step(self) -> Self {
        self.map(M::after_step)
    }

    fn in_unit_of(self, inputs: &Tensor<2>, targets: &Tensor<2>) -> Self {
        let features = self.network.valid().forward(inputs.clone().inner());
        self.map(|model| model.in_unit_of(&features, targets))
    }

    fn priors(&self) -> Priors {
        self.model.priors().within("model")
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.model.check_targets(targets)
    }
}

impl<M: MiniBatchModel> MiniBatchModel for OnFeatures<M> {
    fn objective(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        (self.model).objective(self.network.forward(inputs), targets, data_count)
    }

    fn after_step(self) -> Self {
        self.map(M::after_step)
    }

    fn in_unit_of(self, inputs: &Tensor<2>, targets: &Tensor<2>) -> Self {
        let features = self.network.valid().forward(inputs.clone().inner());
        self.map(|model| model.in_unit_of(&features, targets))
    }

    fn priors(&self) -> Priors {
        self.model.priors().within("model")
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        self.model.check_targets(targets)
    }
}

/// A process on the outputs of a network.
#[derive(Clone, Debug)]
pub struct FeatureProcess<P> {
    network: AnyNetwork,
    process: P,
}

impl<P: Process> Process for FeatureProcess<P> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        self.process.marginals(self.network.forward(x))
    }

    fn rows_per_input(&self) -> usize {
        self.process.rows_per_input()
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        self.process.joint(self.network.forward(x))
    }

    fn joint_across_outputs(&self, x: Tensor<2>) -> JointAcrossOutputs {
        self.process.joint_across_outputs(self.network.forward(x))
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        (self.process).sample(self.network.forward(x), samples, seed)
    }
}

/// Configuration of deep kernel learning with the model configuration `C`: [`ExactConfig`],
/// [`SgprConfig`] or [`SvgpConfig`].
///
/// The paths of the model's `parameters` are the same as without the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepKernelConfig<C> {
    /// The network.
    #[serde(default = "residual_network")]
    pub network: NetworkConfig,
    /// The number of network outputs, H.
    #[serde(default = "two")]
    pub features: usize,
    /// The model on the outputs. In files it is not called `model`, because that is the name of the
    /// whole.
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
    fn first_features(&self, data: &TrainingData) -> (AnyNetwork, TrainingData) {
        let [_, dimensions] = data.inputs.dims();
        let options = options_of(&data.inputs);
        let network = self.network.init(dimensions, self.features, options);
        let seen = features(&network, data);
        (network, seen)
    }
}

impl DeepKernelConfig<ExactConfig> {
    /// Initializes the model for `data`, in their precision and on their device with autodiff.
    ///
    /// # Errors
    ///
    /// When a target is not finite, or a parameter setting is not possible.
    pub fn init(&self, data: &TrainingData) -> Result<AnyDkl, InitError> {
        check_finite(&data.targets)?;
        let (network, _) = self.first_features(data);
        let options = options_of(&data.inputs);
        let model = self.model.init(self.features, options)?;
        Ok(OnFeatures::new(network.train(), model))
    }
}

impl DeepKernelConfig<SgprConfig> {
    /// Initializes the model for `data`, in their precision and on their device with autodiff. The
    /// inducing points are chosen among the initial outputs of the network.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the inducing points cannot be chosen, or a parameter setting is
    /// not possible.
    pub fn init(&self, data: &TrainingData) -> Result<AnySdkl, InitError> {
        let (network, seen) = self.first_features(data);
        let model = self.model.init(&seen)?;
        Ok(OnFeatures::new(network.train(), model))
    }

    /// The variational model that a trained model is converted to.
    pub fn variational(&self) -> DeepKernelConfig<SvgpConfig> {
        DeepKernelConfig {
            network: self.network.clone(),
            features: self.features,
            model: self.model.variational(),
        }
    }
}

impl DeepKernelConfig<SvgpConfig> {
    /// Initializes the model for `data`, in their precision and on their device with autodiff. The
    /// inducing points are chosen among the initial outputs of the network.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, the inducing points cannot be chosen, their
    /// covariance cannot be factored, or a parameter setting is not possible.
    pub fn init(&self, data: &TrainingData) -> Result<AnySvdkl, InitError> {
        let (network, seen) = self.first_features(data);
        let model = self.model.init(&seen)?;
        Ok(OnFeatures::new(network.train(), model))
    }

    /// A model with the right shapes for `columns` target columns, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored, or a parameter setting is
    /// not possible.
    pub fn blank(
        &self,
        dimensions: usize,
        columns: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnySvdkl, InitError> {
        let options = options.into();
        let network = (self.network).init(dimensions, self.features, options.clone());
        let model = self.model.blank(self.features, columns, options)?;
        Ok(OnFeatures::new(network, model))
    }
}
