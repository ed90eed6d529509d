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

mod error;
mod first_weights;
mod normalization;
mod perceptron;
mod residual_network;
mod standardization;

use burn::{
    nn,
    tensor::{Tensor, TensorCreationOptions},
};

use crate::{
    custom::{
        AnyDefinition, AnyModule, BoxedModule, ComponentConfig, ComponentName, component_kind,
    },
    ops::{ExactMatmul, is_on_cpu},
};

pub use error::NetworkError;
pub use first_weights::FirstWeights;
pub use normalization::Normalization;
pub use perceptron::{Activation, Perceptron, PerceptronConfig};
pub use residual_network::{ResidualNetwork, ResidualNetworkConfig};
pub use standardization::Standardization;

/// A map from inputs to features.
pub trait Features: AnyModule {
    /// The features of each point.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, Q]`
    fn forward(&self, x: Tensor<2>) -> Tensor<2>;
}

/// A network of any type.
pub type AnyNetwork = BoxedModule<dyn Features>;

/// The configuration of any network, as stored in a model file.
pub type NetworkConfig = ComponentConfig<dyn Features>;

/// A network chosen by name.
pub type NetworkName = ComponentName<dyn Features>;

/// The configuration of a network. [`register!`](crate::register) it to use the network in models.
pub trait NetworkDefinition: AnyDefinition {
    /// Creates the network with `inputs` inputs and `outputs` outputs.
    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyNetwork;

    /// Takes over what a residual network and this one share, such as sizes, the seed, or the
    /// standardization of inputs. The command line has options for these. The default changes nothing.
    fn set_like(&mut self, _residual: &ResidualNetworkConfig) {}

    /// Whether the network can start as the identity.
    fn can_be_identity(&self) -> bool {
        false
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// The reason, if one is out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Checks that the network can have `inputs` inputs and `outputs` outputs.
    ///
    /// # Errors
    ///
    /// When a layer has no units, or a setting does not match the number of inputs.
    fn check_sizes(&self, _inputs: usize, outputs: usize) -> Result<(), NetworkError> {
        NetworkError::check_outputs(outputs)
    }
}

component_kind!(Features, NetworkDefinition, "network", AnyNetwork);

impl NetworkConfig {
    /// Creates the network with `inputs` inputs and `outputs` outputs.
    #[track_caller]
    pub fn init(
        &self,
        inputs: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> AnyNetwork {
        NetworkDefinition::init(&**self, inputs, outputs, options.into())
    }
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
