//! A latent variable model after training.

use std::fmt;

use burn::{
    module::{Module, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    features::Standardization,
    inference::ConditionError,
    latent_inputs::{BayesianGplvm, LatentProcess},
    ops::{number, numbers},
    parameter::{Hyperparameter, hyperparameters},
    process::Marginals,
};

use super::{GplvmConfig, RowMoments};
use crate::{Error, Matrix, training::matrix};

/// A Bayesian Gaussian-process latent variable model after training, with the scaling of its outputs. It predicts in the units
/// of the data, and can be [saved](Self::save) to a folder and [loaded](Self::load) again.
///
/// ```
/// use burn_gp_models::{FittedGplvm, GplvmConfig, training::FullBatchTraining};
/// use burn::tensor::Device;
///
/// # fn main() -> Result<(), burn_gp_models::Error> {
/// let rows: Vec<[f64; 2]> = (0..20).map(|row| [f64::from(row), 3.0 - f64::from(row)]).collect();
/// let training = FullBatchTraining { iterations: 40, ..GplvmConfig::TRAINING };
/// let gplvm = GplvmConfig::new(1).with_inducing(6).with_training(training).fit(&rows)?;
/// // Outputs at a latent input are those of the row that has it.
/// let latent = gplvm.latent();
/// let outputs = gplvm.outputs_at(&latent.means)?;
/// assert!((outputs.means[7][0] - 7.0).abs() < 1.0);
/// // The latent input of a new row.
/// let new = gplvm.infer([[7.0, -4.0]])?;
/// assert!((new.means[0][0] - latent.means[7][0]).abs() < 0.2);
///
/// let folder = std::env::temp_dir().join("burn-gp-gplvm");
/// gplvm.save(&folder)?;
/// assert_eq!(FittedGplvm::load(&folder, &Device::default())?.latent(), latent);
/// # std::fs::remove_dir_all(folder).ok();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FittedGplvm {
    pub(super) config: GplvmConfig,
    pub(super) kept: Kept,
    pub(super) scaling: Standardization,
    pub(super) process: LatentProcess,
    bound: f64,
}

/// The parameters and the standardized outputs, on the device without autodiff.
#[derive(Module, Debug)]
pub(super) struct Kept {
    pub model: BayesianGplvm,
    /// [N, P]
    pub outputs: Param<Tensor<2>>,
}

impl fmt::Debug for FittedGplvm {
    /// Without the data and the parameters.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FittedGplvm")
            .field("config", &self.config)
            .field("scaling", &self.scaling)
            .field("bound", &self.bound)
            .finish_non_exhaustive()
    }
}

impl FittedGplvm {
    /// A model that was trained on standardized outputs, [N, P].
    pub(super) fn new(
        config: GplvmConfig,
        model: BayesianGplvm,
        outputs: Tensor<2>,
        scaling: Standardization,
    ) -> Result<Self, ConditionError> {
        let outputs = Param::from_tensor(outputs.without_autodiff()).set_require_grad(false);
        let model = model.valid();
        Self::of_kept(config, Kept { model, outputs }, scaling)
    }

    pub(super) fn of_kept(
        config: GplvmConfig,
        kept: Kept,
        scaling: Standardization,
    ) -> Result<Self, ConditionError> {
        let outputs = kept.outputs.val();
        let process = kept.model.condition(outputs.clone())?;
        let [rows, _] = outputs.dims();
        let units: f64 = scaling.deviations.iter().map(|unit| unit.ln()).sum();
        let bound = number(kept.model.bound(outputs)?) - rows as f64 * units;
        Ok(Self {
            config,
            kept,
            scaling,
            process,
            bound,
        })
    }

    /// The means and standard deviations of the latent inputs of the training rows, `[N, Q]`.
    pub fn latent(&self) -> RowMoments {
        let latent = self.kept.model.latent();
        RowMoments::of(latent.mean(), latent.deviation())
    }

    /// How much the functions vary along each latent dimension, Q numbers: the inverse squared lengthscales `1/ℓ_q²`, or the
    /// variances `σ_q²` of a linear kernel. A dimension that the outputs do not need has a value near zero beside the
    /// largest.
    pub fn relevance(&self) -> Vec<f64> {
        numbers(self.process.relevances())
    }

    /// The lower bound of the log density of all outputs, in the units of the data. It compares kernels and numbers of latent
    /// dimensions.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The training rows as the model sees them: the means and standard deviations of new outputs at their latent inputs,
    /// with the uncertainty of these inputs and the noise, `[N, P]`.
    pub fn reconstruct(&self) -> RowMoments {
        let latent = self.kept.model.latent();
        let moments = (self.process).expected_marginals(latent.mean(), latent.variance());
        self.of_outputs(moments)
    }

    /// The means and standard deviations of new outputs at latent inputs, noise included.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, Q]`
    /// - result: `[N, P]`
    ///
    /// # Errors
    ///
    /// When there are no inputs, an input is not finite, or their number of columns is not that of the latent dimensions.
    pub fn outputs_at(&self, inputs: impl Into<Matrix>) -> Result<RowMoments, Error> {
        let inputs = inputs.into().read("inputs")?;
        let ((device, dtype), expected) = (self.place(), self.config.dimensions);
        if inputs.columns != expected {
            return Err(Error::InputColumns {
                found: inputs.columns,
                expected,
            });
        }
        let inputs = matrix(&inputs.values, inputs.columns, &device, dtype);
        ConditionError::check_inputs(&inputs)?;
        Ok(self.of_outputs(self.process.marginals(inputs)))
    }

    /// Outputs with noise in the units of the data.
    pub(super) fn of_outputs(&self, functions: Marginals) -> RowMoments {
        let noise = self.process.noise().unsqueeze::<2>();
        RowMoments::in_units(&self.scaling, functions.mean, functions.variance + noise)
    }

    /// The configuration.
    pub fn config(&self) -> &GplvmConfig {
        &self.config
    }

    /// The trained model, which takes standardized outputs.
    pub fn model(&self) -> &BayesianGplvm {
        &self.kept.model
    }

    /// The functions given the outputs, which are standardized.
    pub fn process(&self) -> &LatentProcess {
        &self.process
    }

    /// The hyperparameters, in units of the standardized outputs.
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(&self.kept.model)
    }

    /// The means and standard deviations by which outputs are standardized.
    pub fn scaling(&self) -> &Standardization {
        &self.scaling
    }

    /// The device and the floating-point type of the model.
    pub fn place(&self) -> (Device, DType) {
        let outputs = self.kept.outputs.val();
        (outputs.device(), outputs.dtype())
    }
}
