//! Initialization of inducing points, and helpers that the methods share.

use burn::tensor::{Int, Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
use serde::{Deserialize, Serialize};

use super::{distinct_rows, greedy_variance, k_means, subset};
use crate::{kernels::KernelModule, parameter::numbers};

/// The method for choosing initial inducing points from the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Initializer {
    /// A random subset of the inputs; see [`subset`].
    Subset,
    /// The cluster centers of the inputs; see [`k_means`].
    #[default]
    KMeans,
    /// The inputs with the largest conditional prior variance, selected one by one; see
    /// [`greedy_variance`].
    GreedyVariance,
}

impl Initializer {
    /// Selects `count` points for `inputs`. Equal seeds give equal points. Only
    /// [`GreedyVariance`](Self::GreedyVariance) uses the kernel.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`
    /// - result: `[M, D]`, on the inputs' device and in their precision
    ///
    /// # Errors
    ///
    /// [`SelectionError`] when there are fewer than `count` distinct inputs.
    pub fn select<K: KernelModule>(
        self,
        kernel: &K,
        inputs: Tensor<2>,
        count: usize,
        seed: u64,
    ) -> Result<Tensor<2>, SelectionError> {
        match self {
            Self::Subset => subset(inputs, count, seed),
            Self::KMeans => k_means(inputs, count, seed),
            Self::GreedyVariance => greedy_variance(kernel, inputs, count, seed),
        }
    }
}

impl Initializer {
    /// Selects several sets of points with no point in common: selects enough points for all sets
    /// at once and distributes them at random, depending on the seed. A single set has the order of
    /// [`select`](Self::select).
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `counts`: the number of points in each set, M
    /// - result: `[M, D]` for each set
    ///
    /// # Errors
    ///
    /// [`SelectionError`] when a set would be empty or there are too few distinct inputs.
    pub fn select_sets<K: KernelModule>(
        self,
        kernel: &K,
        inputs: Tensor<2>,
        counts: &[usize],
        seed: u64,
    ) -> Result<Vec<Tensor<2>>, SelectionError> {
        if counts.contains(&0) {
            return Err(SelectionError::None);
        }
        let total = counts.iter().sum();
        let points = self.select(kernel, inputs, total, seed)?;
        if counts.len() == 1 {
            return Ok(vec![points]);
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Use a different stream than the selection does.
        random.set_stream(1);
        let mut order: Vec<i64> = (0..total as i64).collect();
        order.shuffle(&mut random);
        let order = Tensor::<1, Int>::from_data(order.as_slice(), &points.device());
        Ok(points.select(0, order).split_with_sizes(counts.to_vec(), 0))
    }
}

/// An error in the selection of inducing points.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SelectionError {
    /// No points were requested.
    #[error("a sparse Gaussian process needs at least one inducing point, not 0")]
    None,
    /// More points were requested than there are inputs.
    #[error(
        "{requested} inducing points cannot be chosen from {available} inputs; ask for at most \
         {available}"
    )]
    TooFewInputs {
        /// The number of points requested, M.
        requested: usize,
        /// The number of inputs, N.
        available: usize,
    },
    /// More points were requested than there are distinct inputs.
    #[error(
        "{requested} inducing points cannot be chosen from inputs with only {distinct} distinct \
         rows; ask for at most {distinct}"
    )]
    TooFewDistinct {
        /// The number of points requested, M.
        requested: usize,
        /// The number of distinct inputs.
        distinct: usize,
    },
    /// An input is NaN or infinite.
    #[error("input {value} in row {row}, column {column} is not a finite number")]
    NotFinite {
        /// The zero-based row.
        row: usize,
        /// The zero-based column.
        column: usize,
        /// The value found.
        value: f64,
    },
}

/// Validated inputs on the host, in random order.
pub(super) struct Candidates {
    /// Row-major, [N, D].
    pub values: Vec<f64>,
    /// D
    pub dimensions: usize,
    /// The source of all further randomness.
    pub generator: ChaCha8Rng,
    /// The index of the first occurrence of each distinct row, in this order.
    pub distinct: Vec<usize>,
}

impl Candidates {
    /// Reads, checks and shuffles the inputs, from which `count` points will be selected.
    pub fn new(inputs: &Tensor<2>, count: usize, seed: u64) -> Result<Self, SelectionError> {
        let [available, dimensions] = inputs.dims();
        if count == 0 {
            return Err(SelectionError::None);
        }
        if count > available {
            return Err(SelectionError::TooFewInputs {
                requested: count,
                available,
            });
        }
        let ordered = numbers(inputs.clone());
        if let Some(index) = ordered.iter().position(|value| !value.is_finite()) {
            return Err(SelectionError::NotFinite {
                row: index / dimensions,
                column: index % dimensions,
                value: ordered[index],
            });
        }
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..available).collect();
        order.shuffle(&mut generator);
        let mut values = Vec::with_capacity(ordered.len());
        for row in order {
            values.extend_from_slice(&ordered[row * dimensions..][..dimensions]);
        }
        let distinct = distinct_rows(&values, dimensions);
        if count > distinct.len() {
            return Err(SelectionError::TooFewDistinct {
                requested: count,
                distinct: distinct.len(),
            });
        }
        Ok(Self {
            values,
            dimensions,
            generator,
            distinct,
        })
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.dimensions..][..self.dimensions]
    }

    /// Selected rows as points like `inputs`, [M, D].
    pub fn points(&self, rows: &[usize], inputs: &Tensor<2>) -> Tensor<2> {
        let values = rows.iter().flat_map(|&row| self.row(row)).copied();
        points(values.collect(), self.dimensions, inputs)
    }
}

/// Points with the given coordinates, [M, D], on the device and in the precision of `inputs`.
pub(super) fn points(values: Vec<f64>, dimensions: usize, inputs: &Tensor<2>) -> Tensor<2> {
    let shape = [values.len() / dimensions, dimensions];
    let data = TensorData::new(values, shape);
    Tensor::from_data(data, (&inputs.device(), inputs.dtype()))
}
