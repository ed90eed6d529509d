//! The mini-batches of each step.

use burn::tensor::{Int, Tensor};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

use super::TrainingData;
#[cfg(feature = "learner")]
use super::learner::Part;

/// The data of one step.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The step, counted from zero.
    pub step: usize,
    /// `[B, D]`
    pub inputs: Tensor<2>,
    /// `[B, P]`
    pub targets: Tensor<2>,
}

#[cfg(feature = "learner")]
impl Batch {
    /// One of `count` parts of the rows, of nearly the same size, on a device, or all rows. Data without
    /// autodiff stay without it.
    pub(super) fn part(self, part: Option<&Part>, count: usize) -> Self {
        let Some((index, device)) = part else {
            return self;
        };
        let [rows, _] = self.inputs.dims();
        let (first, end) = (rows * index / count, rows * (index + 1) / count);
        let device = match self.inputs.device().is_autodiff() {
            true => device.clone(),
            false => device.clone().without_autodiff(),
        };
        let part = |all: Tensor<2>| all.narrow(0, first, end - first).to_device(&device);
        Self {
            step: self.step,
            inputs: part(self.inputs),
            targets: part(self.targets),
        }
    }
}

/// Batches of shuffled data.
///
/// An epoch is one pass over a permutation of the data that depends on the seed and the epoch. All
/// batches have the same size: the last batch of an epoch is filled up from the next epoch. A
/// smaller batch would have a noisier gradient, which is scaled up to all data.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    data: TrainingData,
    size: usize,
    seed: u64,
    /// An epoch, and the order of the data in it.
    order: (usize, Vec<i64>),
}

impl Batches {
    pub fn new(data: TrainingData, size: usize, seed: u64) -> Self {
        Self {
            order: (0, permutation(data.len(), seed, 0)),
            data,
            size: size.max(1),
            seed,
        }
    }

    /// The data that the batches are taken from.
    pub fn data(&self) -> &TrainingData {
        &self.data
    }

    /// The rows of a step's batch. Steps are counted from zero.
    pub fn rows_of_step(&mut self, step: usize) -> Vec<i64> {
        let (count, size) = (self.data.len(), self.size);
        if size >= count {
            return (0..count as i64).collect();
        }
        let first = step * size;
        let (epoch, start) = (first / count, first % count);
        let mut rows = self.order_of(epoch)[start..count.min(start + size)].to_vec();
        if rows.len() < size {
            let missing = size - rows.len();
            rows.extend_from_slice(&self.order_of(epoch + 1)[..missing]);
        }
        rows
    }

    /// The batch of a step. Steps are counted from zero.
    pub fn batch(&mut self, step: usize) -> Batch {
        let TrainingData { inputs, targets } = self.data.clone();
        if self.size >= self.data.len() {
            return Batch {
                step,
                inputs,
                targets,
            };
        }
        let rows = self.rows_of_step(step);
        let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &inputs.device());
        Batch {
            step,
            inputs: inputs.select(0, rows.clone()),
            targets: targets.select(0, rows),
        }
    }

    /// The order of the data in an epoch.
    fn order_of(&mut self, epoch: usize) -> &[i64] {
        if self.order.0 != epoch {
            let order = permutation(self.data.len(), self.seed, epoch);
            self.order = (epoch, order);
        }
        &self.order.1
    }
}

/// A permutation of `count` data points that depends only on the seed and the epoch.
pub(super) fn permutation(count: usize, seed: u64, epoch: usize) -> Vec<i64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch as u64);
    let mut order: Vec<i64> = (0..count as i64).collect();
    order.shuffle(&mut random);
    order
}
