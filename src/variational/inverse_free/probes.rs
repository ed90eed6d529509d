//! Random vectors for traces.

use burn::tensor::{Tensor, TensorData};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

/// Hutchinson's estimate of traces, `tr A ≈ Σ_k z_kᵀAz_k/K` with independent signs `z_k`.
///
/// A step draws probes of its own, which depend on the seed and the number of the step alone, so
/// that a resumed run goes on with those that would have come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceProbes {
    /// How many there are, K. With none or more than M, traces are exact.
    pub count: usize,
    /// The seed.
    #[serde(default)]
    pub seed: u64,
}

impl TraceProbes {
    /// The probes of a step, each entry −1 or 1, of a shape and with the type and device of a
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
