//! Random columns of a matrix, each used once per cycle.

use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

/// Chooses the columns of a matrix for each step. A cycle splits a permutation of all columns into
/// parts whose sizes differ by at most one. The permutation depends on the seed and the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSampling {
    /// The maximum number of columns per step.
    pub columns: usize,
    /// The seed for the permutations.
    pub seed: u64,
}

impl ColumnSampling {
    /// The number of steps in a cycle through `size` columns. Averaged over a cycle, a sum over all
    /// columns is this many times the sum over the columns of one step.
    pub fn parts(&self, size: usize) -> usize {
        size.div_ceil(self.columns.clamp(1, size.max(1)))
    }

    /// The zero-based indices of the columns for `step`, out of `size`.
    pub fn of_step(&self, step: usize, size: usize) -> Vec<i64> {
        let parts = self.parts(size);
        let (cycle, part) = (step / parts, step % parts);
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(cycle as u64);
        let mut order: Vec<i64> = (0..size as i64).collect();
        order.shuffle(&mut random);
        let start = |part: usize| part * size / parts;
        order[start(part)..start(part + 1)].to_vec()
    }
}
