//! Networks chosen at run time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::{Features, Perceptron, PerceptronConfig, ResidualNetwork, ResidualNetworkConfig};

/// Registers the networks: makes the configuration and the network that are chosen at run time.
macro_rules! networks {
    ($($name:literal $network:ident($config:ty)),+ $(,)?) => {
        /// Configuration of any network, as stored in a model file.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "network", deny_unknown_fields)]
        pub enum NetworkConfig {
            $(
                #[doc = concat!("See [`", stringify!($network), "`].")]
                #[serde(rename = $name)]
                $network($config),
            )+
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
                    $(Self::$network(config) => {
                        AnyNetwork::$network(config.init(inputs, outputs, options))
                    })+
                }
            }
        }

        $(
            impl From<$config> for NetworkConfig {
                fn from(config: $config) -> Self {
                    Self::$network(config)
                }
            }
        )+

        /// A network chosen at run time.
        #[allow(
            clippy::large_enum_variant,
            reason = "a model holds one, and burn's modules can hold no boxes"
        )]
        #[derive(Module, Debug)]
        pub enum AnyNetwork {
            $(
                #[doc = concat!("See [`", stringify!($network), "`].")]
                $network($network),
            )+
        }

        impl Features for AnyNetwork {
            fn forward(&self, x: Tensor<2>) -> Tensor<2> {
                match self {
                    $(Self::$network(network) => Features::forward(network, x),)+
                }
            }
        }
    };
}

networks! {
    "perceptron" Perceptron(PerceptronConfig),
    "residual-network" ResidualNetwork(ResidualNetworkConfig),
}
