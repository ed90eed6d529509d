//! Random columns of a matrix, all of them once in a cycle.

use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

/// Which columns of a matrix each step looks at: a cycle goes through a permutation of all columns
/// in parts whose sizes differ by one at most. The permutation depends on the seed and the cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSampling {
    /// Columns of a step, at most; all of them if there are fewer.
    pub columns: usize,
    /// The seed of the permutations.
    pub seed: u64,
}

impl ColumnSampling {
    /// The steps of a cycle through `size` columns. A sum over the columns is on average over a
    /// cycle this many times the sum over those of a step.
    pub fn parts(&self, size: usize) -> usize {
        size.div_ceil(self.columns.clamp(1, size.max(1)))
    }

    /// The columns of a step, counted from zero, out of `size`.
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
