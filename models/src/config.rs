//! Parts of the configurations of ready-made models.

use burn::tensor::{DType, Tensor, TensorCreationOptions};
use burn_gp_core::{
    inducing::{InducingPoints, Initializer, SelectionError, distinct_rows},
    kernels::AnyKernel,
    ops::Jitter,
    parameter::{ParameterConfig, Parameters, numbers},
};
use serde::{Deserialize, Serialize};

use crate::InitError;

/// The inducing points of a sparse model.
///
/// ```
/// use burn_gp_core::inducing::Initializer;
/// use burn_gp_models::InducingConfig;
///
/// let points = InducingConfig::new(256).with_initializer(Initializer::GreedyVariance);
/// # assert_eq!(points.count, 256);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InducingConfig {
    /// The number of inducing points, M.
    pub count: usize,
    /// Whether `count` and `orthogonal` are upper limits. If there are fewer distinct inputs, there
    /// are as many inducing points as distinct inputs, half of them orthogonal if there are such.
    /// Otherwise too few inputs are an error.
    #[serde(default, skip_serializing_if = "is_false")]
    pub at_most: bool,
    /// The number of additional inducing points orthogonal to these, M2. It is zero except for the
    /// posteriors [`Solve`](burn_gp_core::variational::PosteriorConfig::Solve) and
    /// [`Odvgp`](burn_gp_core::variational::PosteriorConfig::Odvgp).
    #[serde(default)]
    pub orthogonal: usize,
    /// The method that chooses the initial inducing points among the training inputs.
    #[serde(alias = "initialiser")]
    pub initializer: Initializer,
    /// The seed of the initializer.
    pub seed: u64,
    /// The jitter of their covariance. The default is [`Jitter::for_precision`] of the data's
    /// precision.
    pub jitter: Option<Jitter>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Default for InducingConfig {
    /// 128 inducing points, or as many as there are distinct inputs if these are fewer.
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

impl InducingConfig {
    /// `count` inducing points, initially at cluster centers. It is an error if there are fewer
    /// distinct inputs.
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

    /// Sets the number of inducing points, M.
    pub fn with_count(mut self, count: usize) -> Self {
        self.count = count;
        self
    }

    /// Whether the numbers are upper limits.
    pub fn with_at_most(mut self, at_most: bool) -> Self {
        self.at_most = at_most;
        self
    }

    /// Sets the number of additional points orthogonal to these, M2.
    pub fn with_orthogonal(mut self, count: usize) -> Self {
        self.orthogonal = count;
        self
    }

    /// Sets the method that chooses the initial points.
    pub fn with_initializer(mut self, initializer: Initializer) -> Self {
        self.initializer = initializer;
        self
    }

    /// Sets the seed of the initializer.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the jitter.
    pub fn with_jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = Some(jitter);
        self
    }

    /// `other` in the place of these; orthogonal points stay if it has none.
    pub(crate) fn replaced_by(&self, other: impl Into<Self>) -> Self {
        let other = other.into();
        match other.orthogonal {
            0 => other.with_orthogonal(self.orthogonal),
            _ => other,
        }
    }

    /// The numbers for inputs, `[N, D]`, of which there may be fewer than inducing points.
    pub(crate) fn for_inputs(&self, inputs: &Tensor<2>) -> Self {
        let Self {
            count, orthogonal, ..
        } = *self;
        if !self.at_most {
            return self.clone();
        }
        let chosen = self.clone().with_at_most(false);
        let [rows, columns] = inputs.dims();
        let values = match columns {
            0 => Vec::new(),
            _ => numbers(inputs.clone().inner()),
        };
        let distinct = match values.is_empty() {
            true => rows,
            false => distinct_rows(&values, columns).len(),
        };
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
            .with_orthogonal(orthogonal.min(distinct.saturating_sub(first)))
    }

    /// The sizes of the sets of points.
    fn counts(&self) -> Vec<usize> {
        let counts = [self.count, self.orthogonal];
        counts[..if self.orthogonal > 0 { 2 } else { 1 }].to_vec()
    }

    /// One or two sets of inducing points.
    pub(crate) fn select(
        &self,
        kernel: &AnyKernel,
        inputs: &Tensor<2>,
    ) -> Result<Vec<InducingPoints>, SelectionError> {
        let sets = self.select_points(kernel, inputs)?;
        Ok(sets.into_iter().map(InducingPoints::new).collect())
    }

    /// The locations of one or two sets of inducing points.
    pub(crate) fn select_points(
        &self,
        kernel: &AnyKernel,
        inputs: &Tensor<2>,
    ) -> Result<Vec<Tensor<2>>, SelectionError> {
        let inputs = inputs.clone().inner();
        (self.initializer).select_sets(kernel, inputs, &self.counts(), self.seed)
    }

    /// The jitter of inducing-point covariances in a given precision.
    pub(crate) fn jitter_for(&self, precision: DType) -> Jitter {
        (self.jitter).unwrap_or_else(|| Jitter::for_precision(precision))
    }

    /// Inducing points at the origin, whose values are then loaded from a record.
    pub(crate) fn blank(
        &self,
        dimensions: usize,
        options: &TensorCreationOptions,
    ) -> Vec<InducingPoints> {
        let sets = self.blank_points(dimensions, options);
        sets.into_iter().map(InducingPoints::new).collect()
    }

    /// Locations at the origin, whose values are then loaded from a record.
    pub(crate) fn blank_points(
        &self,
        dimensions: usize,
        options: &TensorCreationOptions,
    ) -> Vec<Tensor<2>> {
        let counts = self.counts().into_iter();
        let blank = |count| Tensor::zeros([count, dimensions], options.clone());
        counts.map(blank).collect()
    }

    /// Checks that there are orthogonal points if the posterior needs them, and none otherwise.
    pub(crate) fn check(&self, has_orthogonal_set: bool) -> Result<(), InitError> {
        match (has_orthogonal_set, self.orthogonal) {
            (true, 0) => Err(InitError::NoOrthogonalPoints),
            (false, count) if count > 0 => Err(InitError::OrthogonalPoints { count }),
            _ => Ok(()),
        }
    }
}

/// The kernel with the initial values configured under `path`, which are set before anything is
/// derived from the kernel. Values that are not possible are left to the model built from it,
/// because its error message has the whole path.
pub(crate) fn with_first_values(
    kernel: AnyKernel,
    parameters: &ParameterConfig,
    path: &str,
) -> AnyKernel {
    (parameters.values_within(path)).fold(kernel, |kernel, (path, values)| {
        let changed = kernel.clone().with_parameter(path, values);
        changed.unwrap_or(kernel)
    })
}

/// The number of outputs of the full-batch models.
pub(crate) const OUTPUTS: usize = 1;

/// The precision and device of a tensor, without autodiff.
pub(crate) fn options_of(tensor: &Tensor<2>) -> TensorCreationOptions {
    (&tensor.device().inner(), tensor.dtype()).into()
}
