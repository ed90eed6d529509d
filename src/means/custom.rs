//! Means of other crates.

use burn::tensor::Tensor;

use super::{Mean, MeanConfig, MeanName};
use crate::custom::map_kind;

map_kind! {
    "mean", "register_mean";
    Mean: Mean as MeanObject {
        forward(x: Tensor<2>) -> Tensor<2>;
        residual(targets: Tensor<2>, x: Tensor<2>) -> Tensor<2>;
        add_to(values: Tensor<2>, x: Tensor<2>) -> Tensor<2>;
        add_to_draws(draws: Tensor<3>, x: Tensor<2>) -> Tensor<3>;
    }
    /// The configuration of a mean of another crate. After registration, in one line
    /// (`burn_gp_core::register_mean!(MyConfig)`), the mean works like those of this crate: in
    /// configurations of models and in files. [`KernelDefinition`](crate::kernels::KernelDefinition)
    /// has an example for kernels.
    MeanDefinition {} in MeanConfig, named MeanName, by || MeanConfig::custom(D::default());
    CustomMean, CustomMeanConfig, MeanFunctions, MeanRegistration
}

/// Registers the configuration of a mean, a [`MeanDefinition`](crate::means::MeanDefinition).
#[macro_export]
macro_rules! register_mean {
    ($definition:ty) => {
        $crate::custom::inventory::submit! {
            $crate::means::MeanRegistration::of::<$definition>()
        }
    };
}
