//! Configuration of inducing points.

use burn::tensor::{DType, Tensor, TensorCreationOptions};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

use super::{InducingPoints, Initializer, SelectionError, distinct_rows};
use crate::{
    kernels::KernelModule,
    ops::{Jitter, numbers},
};

/// The inducing points of a sparse model.
///
/// ```
/// use burn_gp_core::inducing::{InducingConfig, Initializer};
///
/// let points = InducingConfig::new(256).with_initializer(Initializer::GreedyVariance);
/// # assert_eq!(points.count, 256);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct InducingConfig {
    /// The number of inducing points, M.
    pub count: usize,
    /// Whether `count` and `orthogonal` are upper limits. If there are fewer distinct inputs, there
    /// is one inducing point per distinct input, and half of the points are orthogonal if
    /// `orthogonal` is not zero. If false, too few inputs are an error.
    #[serde(default, skip_serializing_if = "is_false")]
    pub at_most: bool,
    /// The number of additional inducing points orthogonal to these, M2. It is zero except for the
    /// posteriors [`SolveGp`](crate::variational::SolveGp) and
    /// [`OrthogonallyDecoupled`](crate::variational::OrthogonallyDecoupled).
    #[serde(default)]
    pub orthogonal: usize,
    /// The method that chooses the initial inducing points among the training inputs.
    pub initializer: Initializer,
    /// The seed of the initializer.
    pub seed: u64,
    /// The jitter of their covariance. The default is [`Jitter::for_precision`] of the data's
    /// precision.
    #[setters(strip_option)]
    pub jitter: Option<Jitter>,
}

/// The sets of inducing points do not fit the posterior.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetsError {
    /// The posterior needs a second set, but there is none.
    #[error(
        "this posterior needs a second set of inducing points, orthogonal to the first, but there is \
         none"
    )]
    NoOrthogonalPoints,
    /// There is a second set, but the posterior does not use one.
    #[error(
        "{count} orthogonal inducing points were requested, but this model has none; only the \
         posteriors solve and odvgp use them"
    )]
    OrthogonalPoints {
        /// The number of orthogonal inducing points, M2.
        count: usize,
    },
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Default for InducingConfig {
    /// 128 inducing points, or one per distinct input if there are fewer.
    fn default() -> Self {
        Self {
            at_most: true,
            ..Self::new(128)
        }
    }
}

impl From<usize> for InducingConfig {
    fn from(count: usize) -> Self {
        Self::new(count)
    }
}

/// The number of distinct rows. Rows without columns count as distinct.
fn count_distinct(inputs: Tensor<2>) -> usize {
    match inputs.dims() {
        [rows, 0] => rows,
        [0, _] => 0,
        [_, columns] => distinct_rows(&numbers(inputs.inner()), columns).len(),
    }
}

impl InducingConfig {
    /// Creates a configuration of `count` inducing points, initially at cluster centers. Fewer
    /// distinct inputs are an error.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            at_most: false,
            orthogonal: 0,
            initializer: Initializer::KMeans,
            seed: 0,
            jitter: None,
        }
    }

    /// Replaces these inducing points by `other`, keeping the orthogonal points if `other` has
    /// none.
    pub fn replaced_by(&self, other: impl Into<Self>) -> Self {
        let other = other.into();
        match other.orthogonal {
            0 => other.with_orthogonal(self.orthogonal),
            _ => other,
        }
    }

    /// Adapts the numbers of points to `inputs`, `[N, D]`, which may have fewer distinct rows. A
    /// posterior with orthogonal points keeps at least one of them.
    pub fn for_inputs(&self, inputs: &Tensor<2>) -> Self {
        let Self {
            count, orthogonal, ..
        } = *self;
        if !self.at_most {
            return self.clone();
        }
        let chosen = self.clone().with_at_most(false);
        let [rows, _] = inputs.dims();
        // The first rows usually contain enough distinct ones, which saves reading all rows.
        let first = rows.min(4 * (count + orthogonal));
        let mut distinct = count_distinct(inputs.clone().narrow(0, 0, first));
        if distinct < count + orthogonal && first < rows {
            distinct = count_distinct(inputs.clone());
        }
        if count + orthogonal <= distinct {
            return chosen;
        }
        let half = if orthogonal > 0 {
            distinct.div_ceil(2)
        } else {
            distinct
        };
        let first = count.min(half);
        chosen
            .with_count(first)
            .with_orthogonal(orthogonal.min(distinct.saturating_sub(first).max(1)))
    }

    /// The sizes of the sets of points.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let counts = [self.count, self.orthogonal];
        counts[..if self.orthogonal > 0 { 2 } else { 1 }].to_vec()
    }

    /// One or two sets of inducing points, chosen among `inputs`, `[N, D]`, without autodiff.
    ///
    /// # Errors
    ///
    /// When there are too few distinct inputs.
    pub fn select<K: KernelModule>(
        &self,
        kernel: &K,
        inputs: &Tensor<2>,
    ) -> Result<Vec<InducingPoints>, SelectionError> {
        let sets = self.select_points(kernel, inputs)?;
        Ok(sets.into_iter().map(InducingPoints::new).collect())
    }

    /// The locations of one or two sets of inducing points, `[M, D]` each.
    ///
    /// # Errors
    ///
    /// When there are too few distinct inputs.
    pub fn select_points<K: KernelModule>(
        &self,
        kernel: &K,
        inputs: &Tensor<2>,
    ) -> Result<Vec<Tensor<2>>, SelectionError> {
        let inputs = inputs.clone().inner();
        (self.initializer).select_sets(kernel, inputs, &self.counts(), self.seed)
    }

    /// The jitter of inducing-point covariances in a given precision.
    pub fn jitter_for(&self, precision: DType) -> Jitter {
        (self.jitter).unwrap_or_else(|| Jitter::for_precision(precision))
    }

    /// The sets of points, all at the origin: their values are then read from a record.
    pub fn at_origin(&self, dimensions: usize, options: &TensorCreationOptions) -> Vec<Tensor<2>> {
        let counts = self.counts().into_iter();
        let zeros = |count| Tensor::zeros([count, dimensions], options.clone());
        counts.map(zeros).collect()
    }

    /// Checks that there are orthogonal points if the posterior needs them, and none otherwise.
    ///
    /// # Errors
    ///
    /// [`SetsError`] if not.
    pub fn check(&self, has_orthogonal_set: bool) -> Result<(), SetsError> {
        match (has_orthogonal_set, self.orthogonal) {
            (true, 0) => Err(SetsError::NoOrthogonalPoints),
            (false, count) if count > 0 => Err(SetsError::OrthogonalPoints { count }),
            _ => Ok(()),
        }
    }
}
