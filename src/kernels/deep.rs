//! Kernels on the outputs of networks.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use derive_setters::Setters;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::{
    AnyKernel, Kernel, KernelConfig, KernelDefinition, KernelInputs, KernelPart, NoFunctionDraws,
    PartInputs, PriorFeatures,
    definition::positive,
    points::{map_points, require_dimensions},
    prior_features::origin,
};
use crate::{
    features::{AnyNetwork, PerceptronConfig},
    parameter::{Part, require_precision, tracked_like},
    register,
};

/// `k(g(x), g(x′))` with any network `g`: deep kernel learning (A. Wilson, Z. Hu, R. Salakhutdinov
/// and E. Xing, *Deep Kernel Learning*, arXiv:1511.02222, eq. 5).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     features::PerceptronConfig,
///     kernels::{DeepKernel, DeepConfig, KernelConfig, KernelModule, StationaryConfig},
///     ops::Stationary,
/// };
///
/// let device = Device::default();
/// // Four inputs become two features.
/// let network = PerceptronConfig::default();
/// let base = StationaryConfig::new(Stationary::Matern52);
/// let kernel = DeepKernel::new(base.clone().init(2, &device), network.init(4, 2, &device));
/// let x = Tensor::<2>::ones([3, 4], &device);
/// assert_eq!(kernel.matrix_at(x.clone()).dims(), [3, 3]);
///
/// let config = DeepConfig { base: base.into(), network, features: 2 };
/// assert_eq!(KernelConfig::from(config).init(4, &device).matrix_at(x).dims(), [3, 3]);
/// ```
#[derive(Module, Debug)]
pub struct DeepKernel {
    base: AnyKernel,
    network: Part<AnyNetwork>,
}

/// Configuration of a [`DeepKernel`] with a perceptron.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct DeepConfig {
    /// The kernel on the features.
    #[setters(into)]
    pub base: KernelConfig,
    /// The network that computes the features.
    #[serde(default)]
    pub network: PerceptronConfig,
    /// The number of features, Q.
    #[serde(default = "two")]
    pub features: usize,
}

fn two() -> usize {
    2
}

register!(
    Kernel,
    "deep",
    DeepConfig,
    "Another kernel on the outputs of a network"
);

impl KernelDefinition for DeepConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let base = (self.base).build(KernelInputs::new(self.features), options.clone());
        let network = (self.network).init(inputs.columns(), self.features, options);
        DeepKernel::new(base, network).boxed()
    }

    positive!(features);

    fn parts(&self) -> Vec<KernelPart<'_>> {
        vec![KernelPart::new("base", &self.base).on(PartInputs::Mapped)]
    }

    fn parts_mut(&mut self) -> Vec<&mut KernelConfig> {
        vec![&mut self.base]
    }

    /// The kernel on the features does not change.
    fn share_among(&mut self, _groups: &[usize]) {}

    fn missing_dimension(&self, _dimensions: usize) -> Option<usize> {
        self.base.missing_dimension(self.features)
    }

    fn check_inputs(&self, _dimensions: usize) -> Result<(), String> {
        self.base.check_inputs(self.features)
    }
}

/// A Matérn-5/2 kernel on two features.
impl Default for DeepConfig {
    fn default() -> Self {
        Self {
            base: KernelConfig::default(),
            network: PerceptronConfig::default(),
            features: two(),
        }
    }
}

impl DeepKernel {
    /// Applies `base` to the outputs of `network`.
    pub fn new(base: impl Kernel, network: impl Into<AnyNetwork>) -> Self {
        Self {
            base: base.boxed(),
            network: Part::network(network.into()),
        }
    }

    /// `g(x)`, `[B, N, Q]`.
    fn features(&self, x: Tensor<3>) -> Tensor<3> {
        map_points(x, |x| {
            require_precision("the deep kernel", &x, &*self.network);
            self.network.forward(x)
        })
    }
}

impl Kernel for DeepKernel {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_dimensions("deep", 1, &[&x1, &x2]);
        let (x1, x2) = (self.features(x1), self.features(x2));
        self.base.covariance(x1, x2)
    }

    fn matrix(&self, x: Tensor<3>) -> Tensor<3> {
        self.base.matrix(self.features(x))
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        self.base.diagonal(self.features(x))
    }

    /// The features of the base at the outputs of the network.
    fn prior_features(
        &self,
        dimensions: usize,
        count: usize,
        random: &mut ChaCha8Rng,
        options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let network = self.network.clone();
        let [_, outputs] = network.forward(origin(dimensions, options.clone())).dims();
        let base = (self.base).prior_features(outputs, count, random, options)?;
        Ok(base.at(move |x| tracked_like(&x, network.clone()).forward(x)))
    }
}
