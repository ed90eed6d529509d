//! The multi-layer perceptron.

use burn::{
    module::Module,
    nn,
    tensor::{Tensor, TensorCreationOptions, activation},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::{
    AnyNetwork, Features, FirstWeights, NetworkDefinition, NetworkError, ResidualNetworkConfig,
    require_inputs,
};
use crate::{ops::tanh, parameter::defaults, register};

/// The activation function between two layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// The hyperbolic tangent.
    #[default]
    Tanh,
    /// `max(x, 0)`.
    Relu,
    /// `x/(1 + e^(−x))`.
    Silu,
}

impl Activation {
    pub(super) fn apply(self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Tanh => tanh(x),
            Self::Relu => activation::relu(x),
            // burn's own SiLU computes in single precision on ndarray.
            Self::Silu => x.clone() * (tanh(x * 0.5) + 1.0) * 0.5,
        }
    }
}

defaults! {
    /// Configuration of a [`Perceptron`]. The default has two hidden layers of 64 tanh units.
    #[derive(Eq)]
    #[serde(default, deny_unknown_fields)]
    pub struct PerceptronConfig {
        /// The widths of the hidden layers.
        pub hidden: Vec<usize> = vec![64, 64],
        /// The activation after each hidden layer.
        pub activation: Activation = Activation::Tanh,
        /// The distribution of the initial weights.
        pub first_weights: FirstWeights = FirstWeights::Glorot,
        /// The seed for the initial weights.
        pub seed: u64 = 0,
    }
}

register!(
    Features,
    "perceptron",
    PerceptronConfig,
    "Multilayer perceptron"
);

impl NetworkDefinition for PerceptronConfig {
    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyNetwork {
        AnyNetwork::from(self.init(inputs, outputs, options))
    }

    fn set_like(&mut self, residual: &ResidualNetworkConfig) {
        *self = Self {
            hidden: vec![residual.width; residual.blocks],
            activation: residual.activation,
            first_weights: residual.first_weights,
            seed: residual.seed,
        };
    }

    fn check_sizes(&self, _inputs: usize, outputs: usize) -> Result<(), NetworkError> {
        NetworkError::check_outputs(outputs)?;
        let mut widths = self.hidden.iter().enumerate();
        widths.try_for_each(|(layer, &width)| {
            NetworkError::check_units(format!("hidden[{layer}]"), width)
        })
    }
}

impl PerceptronConfig {
    /// Creates the network with `inputs` inputs and `outputs` outputs.
    pub fn init(
        &self,
        inputs: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Perceptron {
        let options = options.into();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut widths = vec![inputs];
        widths.extend(&self.hidden);
        widths.push(outputs);
        let layers = widths.windows(2).map(|pair| {
            let [inputs, outputs] = [pair[0], pair[1]];
            (self.first_weights).layer(inputs, outputs, &mut random, &options)
        });
        Perceptron {
            layers: layers.collect(),
            activation: self.activation,
        }
    }
}

/// `W_L·a(… a(W_1·x + b_1) …) + b_L`: linear layers with activations in between.
#[derive(Module, Debug)]
pub struct Perceptron {
    layers: Vec<nn::Linear>,
    #[module(skip)]
    activation: Activation,
}

impl Features for Perceptron {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let mut x = x;
        require_inputs("perceptron", self.layers.first(), &x);
        for (index, layer) in self.layers.iter().enumerate() {
            let hidden = index > 0;
            x = Features::forward(layer, if hidden { self.activation.apply(x) } else { x });
        }
        x
    }
}
