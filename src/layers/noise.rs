//! Noise for draws from layers.

use burn::tensor::Tensor;
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};

use crate::{likelihoods::scrambled_normal_points, parameter::defaults, process::Marginals};

defaults! {
    /// The number of draws from the hidden layers of a stack.
    ///
    /// The draws of a training step depend only on the seed and the step number, so a resumed run
    /// continues with the same sequence.
    ///
    /// A prediction integrates over the same few noise points in every row: for each layer a
    /// scrambled Sobol sequence with mirror images, which depends only on the seed. The prediction
    /// for a row does not depend on the other rows.
    ///
    /// The default is one draw in training and 100 in prediction.
    ///
    /// ```
    /// use burn_gp_core::layers::LayerNoise;
    ///
    /// let noise = LayerNoise { training: 4, ..LayerNoise::default() };
    /// assert_eq!(noise.prediction, 100);
    /// ```
    #[derive(Copy, Eq)]
    #[serde(deny_unknown_fields)]
    pub struct LayerNoise {
        /// Draws per data point in a training step, S.
        pub training: usize = 1,
        /// Draws per prediction.
        pub prediction: usize = 100,
        /// The seed.
        #[serde(default)]
        pub seed: u64 = 0,
    }
}

impl LayerNoise {
    /// The random number generator for a training step, counted from zero.
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

/// The noise of a prediction, generated for each hidden layer on first use.
pub(super) struct PredictionNoise {
    noise: LayerNoise,
    /// `[L, S, F]`
    layers: Vec<Vec<Vec<f64>>>,
}

impl PredictionNoise {
    /// The values of a hidden layer for the noise of one draw. Draws and layers are counted from
    /// zero; layers must be visited in order.
    pub(super) fn values(&mut self, draw: usize, layer: usize, marginals: Marginals) -> Tensor<2> {
        if layer == self.layers.len() {
            let [_, functions] = marginals.mean.dims();
            self.layers.push(self.of_layer(functions));
        }
        marginals.at_common_noise(&self.layers[layer][draw])
    }

    /// The noise of every draw for the next layer, which has `functions` functions.
    fn of_layer(&self, functions: usize) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(self.noise.seed);
        // Count streams from the end, so that they never coincide with those of training.
        random.set_stream(u64::MAX - self.layers.len() as u64);
        let draws = self.noise.prediction;
        let points = scrambled_normal_points(draws, functions, random.next_u32());
        (0..draws)
            .map(|draw| points[draw * functions..(draw + 1) * functions].to_vec())
            .collect()
    }
}
