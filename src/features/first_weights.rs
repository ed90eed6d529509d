//! Initial weights of networks.

use burn::{
    module::Param,
    nn,
    tensor::{Tensor, TensorCreationOptions, TensorData},
};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// The distribution of the initial weights of a linear layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstWeights {
    /// Weights are uniform with variance `2/(inputs + outputs)` (X. Glorot and Y. Bengio,
    /// *Understanding the difficulty of training deep feedforward neural networks*, AISTATS 2010,
    /// eq. 16); biases are zero.
    #[default]
    Glorot,
    /// Weights and biases are uniform within `±1/√inputs`.
    FanIn,
}

impl FirstWeights {
    /// Creates a linear layer with `inputs` inputs and `outputs` outputs.
    pub(super) fn layer(
        self,
        inputs: usize,
        outputs: usize,
        random: &mut impl Rng,
        options: &TensorCreationOptions,
    ) -> nn::Linear {
        let range = match self {
            Self::Glorot => (6.0 / (inputs + outputs) as f64).sqrt(),
            Self::FanIn => (inputs as f64).sqrt().recip(),
        };
        let mut uniform = |count: usize| -> Vec<f64> {
            (0..count)
                .map(|_| range * (2.0 * random.random::<f64>() - 1.0))
                .collect()
        };
        let weights = TensorData::new(uniform(inputs * outputs), [inputs, outputs]);
        let bias = match self {
            Self::Glorot => Tensor::zeros([outputs], options.clone()),
            Self::FanIn => {
                let bias = TensorData::new(uniform(outputs), [outputs]);
                Tensor::from_data(bias, options.clone())
            }
        };
        nn::Linear {
            weight: Param::from_tensor(Tensor::from_data(weights, options.clone())),
            bias: Some(Param::from_tensor(bias)),
        }
    }
}
