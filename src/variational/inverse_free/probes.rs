//! Random vectors for trace estimates.

use burn::tensor::{Tensor, TensorData};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

/// Hutchinson's trace estimator, `tr A ≈ Σ_k z_kᵀAz_k/K` with vectors `z_k` of independent random
/// signs.
///
/// Every step draws new probes, which depend only on the seed and the step number, so a resumed run
/// continues with the same sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceProbes {
    /// The number of probes, K. If it is zero or above M, traces are exact.
    pub count: usize,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

impl TraceProbes {
    /// The probes of a step: entries −1 or 1, in the given shape and with the type and device of a
    /// tensor.
    pub(super) fn of_step<const D: usize>(
        &self,
        step: u64,
        shape: [usize; D],
        like: &Tensor<D>,
    ) -> Tensor<D> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(step);
        let count = shape.iter().product::<usize>();
        let words = (0..count.div_ceil(64)).map(|_| random.next_u64());
        let signs = words.flat_map(|word| {
            (0..64).map(move |bit| if word >> bit & 1 == 0 { -1f32 } else { 1f32 })
        });
        let signs: Vec<f32> = signs.take(count).collect();
        Tensor::from_data(
            TensorData::new(signs, shape),
            (&like.device(), like.dtype()),
        )
    }
}
