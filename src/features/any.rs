//! Networks chosen at run time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    CustomNetwork, CustomNetworkConfig, Features, Normalization, Perceptron, PerceptronConfig,
    ResidualNetwork, ResidualNetworkConfig, custom::NetworkFunctions, error::NetworkError,
};
use crate::custom::{Choice, Choices, configs, registered};

/// Defines [`NetworkConfig`] and [`AnyNetwork`] from the list of networks of this crate.
macro_rules! networks {
    ($($name:literal $network:ident($config:ty)),+ $(,)?) => {
        configs! {
            /// Configuration of any network, as stored in a model file.
            #[serde(deny_unknown_fields)]
            NetworkConfig(CustomNetworkConfig), tag = "network":
            $(
                #[doc = concat!("See [`", stringify!($network), "`].")]
                $name $network($config)
            ),+
        }

        impl NetworkConfig {
            /// Checks that the network can have `inputs` inputs and `outputs` outputs. Networks of other
            /// crates check their own settings when they are read.
            ///
            /// # Errors
            ///
            /// When a layer has no units, or a setting does not match the number of inputs.
            pub fn check(&self, inputs: usize, outputs: usize) -> Result<(), NetworkError> {
                NetworkError::check_units("the number of outputs", outputs)?;
                match self {
                    $(Self::$network(config) => config.check(inputs, outputs),)+
                    Self::Custom(_) => Ok(()),
                }
            }

            /// Creates the network with `inputs` inputs and `outputs` outputs.
            #[track_caller]
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
                    Self::Custom(config) => {
                        AnyNetwork::Custom(config.init(inputs, outputs, options.into()))
                    }
                }
            }
        }

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
            /// A network of another crate.
            Custom(CustomNetwork),
        }

        impl Features for AnyNetwork {
            fn forward(&self, x: Tensor<2>) -> Tensor<2> {
                match self {
                    $(Self::$network(network) => Features::forward(network, x),)+
                    Self::Custom(network) => network.piece().forward(x),
                }
            }
        }
    };
}

networks! {
    "perceptron" Perceptron(PerceptronConfig),
    "residual-network" ResidualNetwork(ResidualNetworkConfig),
}

/// A network chosen by name. It takes the options of a residual network: the sizes, the
/// initialization and the seed.
pub type NetworkName = Choice<fn(ResidualNetworkConfig) -> NetworkConfig>;

impl Choices for fn(ResidualNetworkConfig) -> NetworkConfig {
    fn choices() -> impl Iterator<Item = NetworkName> {
        let mlp = NetworkName::new("mlp", "Multilayer perceptron", |residual| {
            NetworkConfig::Perceptron(PerceptronConfig {
                hidden: vec![residual.width; residual.blocks],
                activation: residual.activation,
                first_weights: residual.first_weights,
                seed: residual.seed,
            })
        });
        let plain = NetworkName::new("residual", "Residual network", |residual| {
            NetworkConfig::ResidualNetwork(ResidualNetworkConfig {
                normalization: Normalization::None,
                standardization: None,
                ..residual
            })
        });
        let own = [mlp, plain, NetworkConfig::NORMALIZED];
        let registered = registered::<NetworkFunctions>();
        own.into_iter()
            .chain(registered.map(|functions| functions.name))
    }
}

impl NetworkConfig {
    /// The name of a residual network with normalization.
    pub const NORMALIZED: NetworkName = Choice {
        name: "normalized",
        help: "Residual network with layer normalization, for mini-batch models on inputs \
               standardized by the training rows",
        make: Self::ResidualNetwork,
    };

    /// Whether the network can start as the identity.
    pub fn can_be_identity(&self) -> bool {
        matches!(self, Self::ResidualNetwork(_))
    }
}
