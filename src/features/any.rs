//! Networks chosen at run time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::{Features, Perceptron, PerceptronConfig, ResidualNetwork, ResidualNetworkConfig};

/// Configuration of any network, as stored in a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "network", rename_all = "kebab-case", deny_unknown_fields)]
pub enum NetworkConfig {
    /// See [`Perceptron`].
    Perceptron(PerceptronConfig),
    /// See [`ResidualNetwork`].
    ResidualNetwork(ResidualNetworkConfig),
}

impl NetworkConfig {
    /// Creates the network with `inputs` inputs and `outputs` outputs.
    pub fn init(
        &self,
        inputs: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> AnyNetwork {
        match self {
            Self::Perceptron(config) => {
                AnyNetwork::Perceptron(config.init(inputs, outputs, options))
            }
            Self::ResidualNetwork(config) => {
                AnyNetwork::ResidualNetwork(config.init(inputs, outputs, options))
            }
        }
    }
}

impl From<PerceptronConfig> for NetworkConfig {
    fn from(config: PerceptronConfig) -> Self {
        Self::Perceptron(config)
    }
}

impl From<ResidualNetworkConfig> for NetworkConfig {
    fn from(config: ResidualNetworkConfig) -> Self {
        Self::ResidualNetwork(config)
    }
}

/// A network chosen at run time.
#[allow(
    clippy::large_enum_variant,
    reason = "a model holds one, and burn's modules can hold no boxes"
)]
#[derive(Module, Debug)]
pub enum AnyNetwork {
    /// See [`Perceptron`].
    Perceptron(Perceptron),
    /// See [`ResidualNetwork`].
    ResidualNetwork(ResidualNetwork),
}

impl Features for AnyNetwork {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Perceptron(network) => network.forward(x),
            Self::ResidualNetwork(network) => network.forward(x),
        }
    }
}
