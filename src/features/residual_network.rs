//! The residual network.

use burn::{
    module::{Module, Param},
    nn,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{
    Activation, AnyNetwork, Features, FirstWeights, NetworkDefinition, NetworkError, Normalization,
    Standardization, normalization::normalize, require_inputs,
};
use crate::{parameter::defaults, register};

defaults! {
    /// Configuration of a [`ResidualNetwork`]. The default has two blocks of 128 tanh units with
    /// layer normalization, and initial weights and biases within `±1/√inputs`.
    #[serde(default, deny_unknown_fields)]
    pub struct ResidualNetworkConfig {
        /// The width of every block.
        pub width: usize = 128,
        /// The number of blocks.
        pub blocks: usize = 2,
        /// The activation of every block.
        pub activation: Activation = Activation::Tanh,
        /// The standardization of the inputs, if any.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[setters(strip_option)]
        pub standardization: Option<Standardization> = None,
        /// The normalization of the sums before the activation.
        pub normalization: Normalization = Normalization::Layer,
        /// Whether the network is initialized to the identity. There must then be as many outputs
        /// as inputs: the inputs are added to the outputs, and the weights of the last layer start
        /// at zero.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        pub from_identity: bool = false,
        /// The distribution of the initial weights.
        pub first_weights: FirstWeights = FirstWeights::FanIn,
        /// The seed for the initial weights.
        pub seed: u64 = 0,
    }
}

register!(
    Features,
    "residual-network",
    ResidualNetworkConfig,
    "Residual network, with layer normalization unless --normalization is none"
);

impl NetworkDefinition for ResidualNetworkConfig {
    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyNetwork {
        AnyNetwork::from(self.init(inputs, outputs, options))
    }

    fn set_like(&mut self, residual: &ResidualNetworkConfig) {
        self.clone_from(residual);
    }

    fn can_be_identity(&self) -> bool {
        true
    }

    fn check_sizes(&self, inputs: usize, outputs: usize) -> Result<(), NetworkError> {
        NetworkError::check_outputs(outputs)?;
        NetworkError::check_units("width", self.width)?;
        if self.from_identity && inputs != outputs {
            return Err(NetworkError::IdentityOfOtherSize { inputs, outputs });
        }
        let Some(Standardization { means, deviations }) = &self.standardization else {
            return Ok(());
        };
        let (means, deviations) = (means.len(), deviations.len());
        match means == inputs && deviations == inputs {
            true => Ok(()),
            false => Err(NetworkError::Standardization {
                inputs,
                means,
                deviations,
            }),
        }
    }
}

impl ResidualNetworkConfig {
    /// Creates the network with `inputs` inputs and `outputs` outputs.
    ///
    /// # Panics
    ///
    /// If it starts as the identity but `inputs` and `outputs` differ.
    #[track_caller]
    pub fn init(
        &self,
        inputs: usize,
        outputs: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> ResidualNetwork {
        assert!(
            !self.from_identity || inputs == outputs,
            "a network that starts as the identity has {inputs} inputs and {outputs} outputs; \
             expected equally many"
        );
        let options = options.into();
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut layer = |inputs: usize, outputs: usize| {
            (self.first_weights).layer(inputs, outputs, &mut random, &options)
        };
        let norms = match self.normalization {
            Normalization::None => 0,
            Normalization::Layer => self.blocks,
        };
        ResidualNetwork {
            first: layer(inputs, self.width),
            blocks: (0..self.blocks)
                .map(|_| layer(self.width, self.width))
                .collect(),
            norms: (0..norms)
                .map(|_| Normalization::layer(self.width, &options))
                .collect(),
            last: match self.from_identity {
                true => zero_layer(self.width, outputs, &options),
                false => layer(self.width, outputs),
            },
            from_identity: self.from_identity,
            activation: self.activation,
            standardization: self.standardization.clone(),
        }
    }
}

/// A linear layer with zero weights and biases.
fn zero_layer(inputs: usize, outputs: usize, options: &TensorCreationOptions) -> nn::Linear {
    nn::Linear {
        weight: Param::from_tensor(Tensor::zeros([inputs, outputs], options.clone())),
        bias: Some(Param::from_tensor(Tensor::zeros(
            [outputs],
            options.clone(),
        ))),
    }
}

/// `u_0 = W_0·t(x) + b_0`, `u_l = u_{l−1} + a(n(W_l·u_{l−1} + b_l))`, where t is the
/// [standardization](Standardization) of inputs, a the activation and n the
/// [normalization](Normalization). A linear layer follows the last block; a network that starts as
/// the identity adds `t(x)` to its outputs (K. He, X. Zhang, S. Ren and J. Sun, *Deep Residual
/// Learning for Image Recognition*, arXiv:1512.03385, eq. 1, with one layer per block).
#[derive(Module, Debug)]
pub struct ResidualNetwork {
    first: nn::Linear,
    blocks: Vec<nn::Linear>,
    /// One per block, or none.
    norms: Vec<nn::LayerNorm>,
    last: nn::Linear,
    #[module(skip)]
    from_identity: bool,
    #[module(skip)]
    activation: Activation,
    #[module(skip)]
    standardization: Option<Standardization>,
}

impl Features for ResidualNetwork {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        require_inputs("residual network", Some(&self.first), &x);
        let x = match &self.standardization {
            Some(standardization) => standardization.apply(x),
            None => x,
        };
        let mut u = Features::forward(&self.first, x.clone());
        for (index, block) in self.blocks.iter().enumerate() {
            let sums = Features::forward(block, u.clone());
            let sums = match self.norms.get(index) {
                Some(norm) => normalize(norm, sums),
                None => sums,
            };
            u = u + self.activation.apply(sums);
        }
        let outputs = Features::forward(&self.last, u);
        match self.from_identity {
            true => outputs + x,
            false => outputs,
        }
    }
}
