//! The residual network.

use burn::{
    module::Module,
    nn,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::{Activation, Features, FirstWeights};

/// Configuration of a [`ResidualNetwork`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResidualNetworkConfig {
    /// The width of every block.
    pub width: usize,
    /// How many blocks there are.
    pub blocks: usize,
    /// The function of each of them.
    pub activation: Activation,
    /// The distribution of the first weights.
    pub first_weights: FirstWeights,
    /// Their seed.
    pub seed: u64,
}

impl Default for ResidualNetworkConfig {
    /// Two blocks of 128 hyperbolic tangents, first weights and biases within `±1/√inputs`.
    fn default() -> Self {
        Self {
            width: 128,
            blocks: 2,
            activation: Activation::Tanh,
            first_weights: FirstWeights::FanIn,
            seed: 0,
        }
    }
}

impl ResidualNetworkConfig {
    /// The network from `inputs` to `outputs` numbers.
    pub fn init(
        &self,
        inputs: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> ResidualNetwork {
        let options = options.into();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut layer = |inputs: usize, outputs: usize| {
            (self.first_weights).layer(inputs, outputs, &mut random, &options)
        };
        ResidualNetwork {
            first: layer(inputs, self.width),
            blocks: (0..self.blocks)
                .map(|_| layer(self.width, self.width))
                .collect(),
            last: layer(self.width, outputs),
            activation: self.activation,
        }
    }
}

/// `u_0 = W_0·x + b_0`, `u_l = u_{l−1} + a(W_l·u_{l−1} + b_l)`, and a linear layer after the last
/// block (K. He, X. Zhang, S. Ren and J. Sun, *Deep Residual Learning for Image Recognition*,
/// arXiv:1512.03385, eq. 1, with one layer a block).
#[derive(Module, Debug)]
pub struct ResidualNetwork {
    first: nn::Linear,
    blocks: Vec<nn::Linear>,
    last: nn::Linear,
    #[module(skip)]
    activation: Activation,
}

impl Features for ResidualNetwork {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let first = self.first.forward(x);
        let last = (self.blocks.iter()).fold(first, |u, block| {
            u.clone() + self.activation.apply(block.forward(u))
        });
        self.last.forward(last)
    }
}
