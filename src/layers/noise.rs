//! The noise that draws from layers are made with.

use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

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
