//! The Bayesian Gaussian-process latent variable model.

mod fitted;
mod initialization;
mod new_rows;
mod row_moments;
mod saved;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    features::Standardization,
    inducing::InducingConfig,
    kernels::{KernelConfig, KernelModule, StationaryConfig},
    latent_inputs::{BayesianGplvm, LatentInputs},
    likelihoods::{GaussianConfig, check_finite},
    ops::NotPositiveDefinite,
};
use derive_setters::Setters;
use serde::{Deserialize, Serialize};

pub use fitted::FittedGplvm;
pub use row_moments::RowMoments;
pub use saved::GPLVM_FILE;

use crate::{
    Error, Fit, InitError, Matrix,
    config::options_of,
    training::{FullBatchTraining, Model, Objective, TrainingData, TrainingError, fit, matrix},
};
use initialization::{first_means, with_first_lengthscales};

/// The first standard deviations of the latent inputs.
const FIRST_DEVIATION: f64 = 0.316;

/// Configuration of the Bayesian Gaussian-process latent variable model: rows of outputs without inputs. The inputs are
/// latent, `x_n ~ N(0, I)`, with trained distributions `q(x_n) = N(μ_n, diag S_n)`; see
/// [`BayesianGplvm`].
///
/// The outputs are standardized. The latent means start at the leading principal components, each of variance one, and the
/// lengthscales at larger values for components of smaller variance. The inducing points start at cluster centers of
/// these means. A kernel with a lengthscale for each latent dimension finds out how many of them the outputs need
/// ([`FittedGplvm::relevance`]).
///
/// ```
/// use burn_gp_models::{GplvmConfig, training::FullBatchTraining};
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// // A curve in three dimensions.
/// let rows: Vec<[f64; 3]> = (0..25)
///     .map(|row| f64::from(row) / 6.0)
///     .map(|t| [t.cos(), t.sin(), 0.5 * t])
///     .collect();
/// let training = FullBatchTraining { iterations: 60, ..GplvmConfig::TRAINING };
/// let gplvm = GplvmConfig::new(2).with_inducing(8).with_training(training).fit(&rows)?;
/// assert_eq!(gplvm.latent().means.len(), 25);
/// // The third column of a new row, from the others.
/// let t = 1.3_f64;
/// let imputed = gplvm.impute([[t.cos(), t.sin(), f64::NAN]])?;
/// assert!((imputed.means[0][2] - 0.5 * t).abs() < 0.2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Setters)]
#[serde(deny_unknown_fields)]
#[setters(prefix = "with_")]
pub struct GplvmConfig {
    /// The number of latent dimensions, Q.
    pub dimensions: usize,
    /// The kernel: squared exponential or linear, scaled or not.
    #[setters(into)]
    pub kernel: KernelConfig,
    /// The noise of the standardized outputs.
    #[serde(default)]
    pub likelihood: GaussianConfig,
    /// The inducing points.
    #[setters(skip)]
    pub inducing: InducingConfig,
    /// The settings of training.
    pub training: FullBatchTraining,
}

impl GplvmConfig {
    /// L-BFGS until an iteration improves the bound by less than a hundredth of a nat, twice in a row.
    pub const TRAINING: FullBatchTraining = FullBatchTraining {
        nats: 0.01,
        ..FullBatchTraining::L_BFGS
    };

    /// A squared exponential kernel with a lengthscale for each of `dimensions` latent dimensions, and 32 inducing points, or
    /// as many as there are rows if these are fewer.
    pub fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            kernel: StationaryConfig::rbf().into(),
            likelihood: GaussianConfig::default(),
            inducing: InducingConfig {
                at_most: true,
                ..InducingConfig::new(32)
            },
            training: Self::TRAINING,
        }
    }

    /// Sets the inducing points: a number, or an [`InducingConfig`] for more settings.
    pub fn with_inducing(mut self, inducing: impl Into<InducingConfig>) -> Self {
        self.inducing = self.inducing.replaced_by(inducing);
        self
    }

    /// Trains the model on rows of outputs, in their precision and on their device. Most devices need double precision for
    /// L-BFGS.
    ///
    /// # Shapes
    ///
    /// - `outputs`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When there are no outputs or one is not finite; when a value of the configuration is invalid or the expectations of the
    /// kernel have no closed form; and when training fails.
    pub fn fit(&self, outputs: impl Into<Matrix>) -> Result<FittedGplvm, Error> {
        self.trained(outputs.into(), &Fit::new())
    }

    /// As [`fit`](Self::fit), on a device, and with `(&device, DType::F64)` also in a floating-point type.
    ///
    /// # Shapes
    ///
    /// - `outputs`: `[N, P]`
    ///
    /// # Errors
    ///
    /// Same as [`fit`](Self::fit).
    pub fn fit_on(
        &self,
        outputs: impl Into<Matrix>,
        place: impl Into<TensorCreationOptions>,
    ) -> Result<FittedGplvm, Error> {
        self.trained(outputs.into(), &Fit::new().on(place))
    }

    fn trained(&self, outputs: Matrix, fit_options: &Fit) -> Result<FittedGplvm, Error> {
        let rows = outputs.read("outputs")?;
        let (device, dtype) = fit_options.place(&rows);
        let device = device.autodiff();
        check_finite(&matrix(
            &rows.values,
            rows.columns,
            &device.clone().inner(),
            dtype,
        ))?;
        let scaling = Standardization::of_rows(&rows.values, rows.columns);
        let scaled = scaling.apply_to_rows(&rows.values);
        let outputs = matrix(&scaled, rows.columns, &device, dtype);
        let model = self.init(&outputs)?;
        let data = TrainingData {
            inputs: Tensor::zeros([rows.count, 1], (&device, dtype)),
            targets: outputs.clone(),
        };
        let trainer = fit::<_, TrainingError>(model, data, &self.training.into(), &mut [])?;
        let model = trainer.model().clone();
        Ok(FittedGplvm::new(self.clone(), model, outputs, scaling)?)
    }

    /// Initializes the model for standardized outputs, in their precision and on their device with autodiff.
    ///
    /// # Shapes
    ///
    /// - `outputs`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When an output is not finite, the inducing points cannot be chosen, a value of the configuration is invalid, or the
    /// expectations of the kernel have no closed form.
    pub fn init(&self, outputs: &Tensor<2>) -> Result<BayesianGplvm, InitError> {
        check_finite(outputs)?;
        self.check()?;
        let options = options_of(outputs);
        let first = first_means(outputs, self.dimensions);
        let kernel = self.kernel.init(self.dimensions, options.clone());
        kernel_check(&kernel)?;
        let kernel = with_first_lengthscales(kernel, &first.shares);
        let inducing = self.inducing.for_inputs(&first.means);
        inducing.check(false)?;
        let points = inducing.select(&kernel, &first.means)?.swap_remove(0);
        let [rows, _] = outputs.dims();
        let latent = LatentInputs::new(first.means, &vec![FIRST_DEVIATION; rows * self.dimensions]);
        let likelihood = self.likelihood.init(options);
        let jitter = self.inducing.jitter_for(outputs.dtype());
        let model = BayesianGplvm::new(kernel, likelihood, points, latent, jitter)?;
        Ok(model.train())
    }

    /// Checks the values.
    fn check(&self) -> Result<(), InitError> {
        if self.dimensions == 0 {
            return Err(InitError::NoLatentDimensions);
        }
        self.kernel.check_for("kernel", self.dimensions)?;
        Ok(self.likelihood.check()?)
    }
}

/// Checks that a kernel has closed forms.
fn kernel_check(kernel: &impl KernelModule) -> Result<(), InitError> {
    kernel.expected_products()?;
    Ok(())
}

/// The inputs of the data are not used: they are latent.
impl Model for BayesianGplvm {
    fn objective(
        &self,
        _inputs: Tensor<2>,
        outputs: Tensor<2>,
        _data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        Ok(Objective {
            fit: self.expected_evidence(outputs)?,
            kl: Some(self.latent().kl_from_prior()),
        })
    }

    fn needs_all_data(&self) -> bool {
        true
    }
}
