//! The noise that draws from layers are made with.

use burn::tensor::{Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::likelihoods::Marginals;

/// How many times the hidden layers of a stack are drawn from.
///
/// The draws of a training step depend on the seed and the number of the step alone, so that a
/// resumed run goes on with those that would have come next; those of a prediction on the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Whose draws they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// A training step, counted from zero.
    Step(u64),
    /// A draw of a prediction, counted from zero.
    Prediction(u64),
}

impl LayerNoise {
    /// The source of the noise of an occasion.
    pub(super) fn generator(&self, occasion: Occasion) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(match occasion {
            Occasion::Step(step) => step,
            // From the other end, where no training gets.
            Occasion::Prediction(draw) => u64::MAX - draw,
        });
        random
    }
}

/// Below this a variance counts as this in draws, so that the slope of its root stays finite.
const SMALLEST_VARIANCE: f64 = 1e-20;

/// Draws `μ + σ∘ε` from marginals, `[N, P]`, to whose parameters gradients flow.
pub(super) fn draw(marginals: Marginals, random: &mut ChaCha8Rng) -> Tensor<2> {
    let Marginals { mean, variance } = marginals;
    let shape = mean.dims();
    let values: Vec<f64> = (StandardNormal.sample_iter(random))
        .take(shape.iter().product())
        .collect();
    let options = (&mean.device(), mean.dtype());
    let noise = Tensor::from_data(TensorData::new(values, shape), options);
    mean + variance.clamp_min(SMALLEST_VARIANCE).sqrt() * noise
}
