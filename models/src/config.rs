//! Parts of the configurations of ready-made models.

use burn::tensor::{DType, Tensor, TensorCreationOptions};
use burn_gp_core::{
    inducing::{InducingPoints, Initializer, SelectionError},
    kernels::AnyKernel,
    ops::Jitter,
    parameter::{ParameterConfig, Parameters},
};
use serde::{Deserialize, Serialize};

use crate::InitError;

/// The inducing points of a sparse model.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::{InducingConfig, SvgpConfig, training::{FullBatchTrainer, FullBatchTraining, Trainer, TrainingData}};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let inputs: Vec<f64> = (0..20).map(|row| f64::from(row) / 4.0).collect();
/// let targets: Vec<f64> = inputs.iter().map(|x| x.sin()).collect();
/// let data = TrainingData::new(&inputs, &targets, &device, DType::F64);
/// let kernel = StationaryConfig::new(Stationary::Matern52);
/// let mut config = SvgpConfig::new(kernel, GaussianConfig::default());
/// config.inducing = InducingConfig::new(8);
/// let model = config.init(&data)?;
/// let training = FullBatchTraining { iterations: 5, ..FullBatchTraining::default() };
/// let mut trainer = FullBatchTrainer::new(model, data, training);
/// let first = trainer.loss()?;
/// trainer.step()?;
/// assert!(trainer.loss()? < first);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InducingConfig {
    /// The number of inducing points, M.
    pub count: usize,
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

impl InducingConfig {
    /// `count` inducing points, initially at cluster centers.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            orthogonal: 0,
            initializer: Initializer::KMeans,
            seed: 0,
            jitter: None,
        }
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
