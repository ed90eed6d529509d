//! The noise that draws from layers are made with.

use burn::tensor::Tensor;
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::{likelihoods::scrambled_normal_points, process::Marginals};

/// How many times the hidden layers of a stack are drawn from.
///
/// The draws of a training step depend on the seed and the number of the step alone, so that a
/// resumed run goes on with those that would have come next.
///
/// A prediction integrates over the same few points of noise at every row: a scrambled Sobol
/// sequence with mirror images for each layer, which depends on the seed alone. What is predicted
/// at a row does not depend on the rows beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerNoise {
    /// Draws for each datum of a training step, S.
    pub training: usize,
    /// Draws for each prediction.
    pub prediction: usize,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

impl Default for LayerNoise {
    /// One draw in training and a hundred in prediction.
    fn default() -> Self {
        Self {
            training: 1,
            prediction: 100,
            seed: 0,
        }
    }
}

impl LayerNoise {
    /// The source of the noise of a training step, counted from zero.
    pub(super) fn of_step(&self, step: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(step);
        random
    }

    /// The noise of a prediction.
    pub(super) fn of_prediction(self) -> PredictionNoise {
        PredictionNoise {
            noise: self,
            layers: Vec::new(),
        }
    }
}

/// The noise of a prediction, made for each hidden layer when it is drawn from first.
pub(super) struct PredictionNoise {
    noise: LayerNoise,
    /// `[L, S, F]`
    layers: Vec<Vec<Vec<f64>>>,
}

impl PredictionNoise {
    /// The values of a hidden layer at the noise of a draw. Draws and layers count from zero; layers
    /// come in their order.
    pub(super) fn values(&mut self, draw: usize, layer: usize, marginals: Marginals) -> Tensor<2> {
        if layer == self.layers.len() {
            let [_, functions] = marginals.mean.dims();
            self.layers.push(self.of_layer(functions));
        }
        marginals.at_common_noise(&self.layers[layer][draw])
    }

    /// The noise of every draw for the next layer, which has so many functions.
    fn of_layer(&self, functions: usize) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(self.noise.seed);
        // From the other end, where no training gets.
        random.set_stream(u64::MAX - self.layers.len() as u64);
        let draws = self.noise.prediction;
        let points = scrambled_normal_points(draws, functions, random.next_u32());
        (0..draws)
            .map(|draw| points[draw * functions..(draw + 1) * functions].to_vec())
            .collect()
    }
}
