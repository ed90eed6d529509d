//! Networks of other crates.

use burn::tensor::Tensor;

use super::{Features, NetworkConfig, NetworkName, ResidualNetworkConfig};
use crate::custom::map_kind;

map_kind! {
    "network", "register_network";
    Network: Features as FeaturesObject {
        forward(x: Tensor<2>) -> Tensor<2>;
    }
    /// The configuration of a network of another crate. After registration, in one line
    /// (`burn_gp_core::register_network!(MyConfig)`), the network works like those of this crate: in
    /// configurations of models and in files. [`KernelDefinition`](crate::kernels::KernelDefinition)
    /// has an example for kernels.
    NetworkDefinition {
        /// The configuration for the options of a residual network on the command line (its sizes,
        /// its seed, the standardization of its inputs). They are ignored by default.
        fn like(_residual: &ResidualNetworkConfig) -> Self {
            Self::default()
        }
    } in NetworkConfig, named NetworkName, by |residual| NetworkConfig::custom(D::like(&residual));
    CustomNetwork, CustomNetworkConfig, NetworkFunctions, NetworkRegistration
}

/// Registers the configuration of a network, a
/// [`NetworkDefinition`](crate::features::NetworkDefinition).
#[macro_export]
macro_rules! register_network {
    ($definition:ty) => {
        $crate::custom::inventory::submit! {
            $crate::features::NetworkRegistration::of::<$definition>()
        }
    };
}
