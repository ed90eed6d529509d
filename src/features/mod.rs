//! Networks that turn inputs into features.
//!
//! Any burn module that implements [`Features`] can be used in a kernel. [`Perceptron`] and
//! [`ResidualNetwork`] have configurations. Networks on images reshape their inputs themselves:
//!
//! ```
//! use burn::{module::Module, nn, tensor::{Device, Tensor}};
//! use burn_gp_core::features::Features;
//!
//! #[derive(Module, Debug)]
//! struct Convolutional {
//!     convolution: nn::conv::Conv2d,
//!     last: nn::Linear,
//! }
//!
//! impl Features for Convolutional {
//!     fn forward(&self, x: Tensor<2>) -> Tensor<2> {
//!         let [images, _] = x.dims();
//!         let maps = self.convolution.forward(x.reshape([images, 1, 8, 8])); // [N, 4, 6, 6]
//!         self.last.forward(maps.tanh().flatten(1, 3))
//!     }
//! }
//!
//! # let device = Device::default();
//! let network = Convolutional {
//!     convolution: nn::conv::Conv2dConfig::new([1, 4], [3, 3]).init(&device),
//!     last: nn::LinearConfig::new(4 * 6 * 6, 16).init(&device),
//! };
//! let features = Features::forward(&network, Tensor::zeros([10, 64], &device));
//! assert_eq!(features.dims(), [10, 16]);
//! ```

mod any;
mod custom;
mod error;
mod first_weights;
mod normalization;
mod perceptron;
mod residual_network;
mod standardization;

use burn::{
    module::{Module, ModuleDisplay},
    nn,
    tensor::Tensor,
};

use crate::ops::{ExactMatmul, is_on_cpu};

pub use any::{AnyNetwork, NetworkConfig, NetworkName};
pub use custom::{
    CustomNetwork, CustomNetworkConfig, NetworkDefinition, NetworkFunctions, NetworkRegistration,
};
pub use error::NetworkError;
pub use first_weights::FirstWeights;
pub use normalization::Normalization;
pub use perceptron::{Activation, Perceptron, PerceptronConfig};
pub use residual_network::{ResidualNetwork, ResidualNetworkConfig};
pub use standardization::Standardization;

/// A map from inputs to features.
pub trait Features: Module + ModuleDisplay + Sync + 'static {
    /// The features of each point.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, Q]`
    fn forward(&self, x: Tensor<2>) -> Tensor<2>;
}

/// Panics unless the points have as many dimensions as the first layer of the network has inputs.
#[track_caller]
fn require_inputs(network: &str, first: Option<&nn::Linear>, x: &Tensor<2>) {
    let Some(first) = first else { return };
    let ([_, dimensions], [inputs, _]) = (x.dims(), first.weight.lazy_shape().dims());
    assert!(
        dimensions == inputs,
        "a {network} of {inputs} inputs at points {:?}; expected [N, {inputs}]",
        x.dims()
    );
}

impl Features for nn::Linear {
    /// `xW + b` in full precision on every device; see [`ExactMatmul`].
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        if is_on_cpu(&x) {
            return Self::forward(self, x);
        }
        let products = x.exact_matmul(self.weight.val());
        match &self.bias {
            Some(bias) => products + bias.val().unsqueeze(),
            None => products,
        }
    }
}
