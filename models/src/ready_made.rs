//! The interfaces of ready-made models: configuration, model and trained model.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{DType, Device, Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    inference::ConditionError,
    layers::Predictive,
    likelihoods::{AnyLikelihood, LikelihoodConfig},
    parameter::{Hyperparameter, hyperparameters},
};

use crate::{
    InitError,
    training::{Model, TrainingData, TrainingDefaults},
};

/// The shape of training data, with their precision and device.
#[derive(Clone, Debug)]
pub struct DataShape {
    /// The number of data points, N.
    pub rows: usize,
    /// The number of input dimensions, D.
    pub dimensions: usize,
    /// The number of target columns.
    pub columns: usize,
    /// The precision and the device, without autodiff.
    pub options: TensorCreationOptions,
}

impl DataShape {
    /// Data of this shape, all zero.
    pub fn zeros(&self) -> TrainingData {
        let zeros = |columns| Tensor::zeros([self.rows, columns], self.options.clone());
        TrainingData {
            inputs: zeros(self.dimensions),
            targets: zeros(self.columns),
        }
    }
}

/// Configuration of a ready-made model.
pub trait ModelDefinition: Clone {
    /// The model.
    type Model: ReadyMade;

    /// The data in the order that the model expects. Initialize, train and condition the model on
    /// these data. By default the order does not change.
    fn arranged(&self, data: TrainingData) -> TrainingData {
        data
    }

    /// Initializes the model for `data`, in their precision and on their device with autodiff.
    ///
    /// # Errors
    ///
    /// When the model cannot be initialized from the data.
    fn init(&self, data: &TrainingData) -> Result<Self::Model, InitError>;

    /// The configuration with the counts chosen for `data` in place of upper limits
    /// ([`InducingConfig::at_most`](crate::InducingConfig::at_most), and the default actions of
    /// [`ComputationAwareConfig`](crate::ComputationAwareConfig)). [`init`](Self::init) chooses the same
    /// counts; a saved model needs them.
    fn resolved(&self, _data: &TrainingData) -> Self {
        self.clone()
    }

    /// A configuration that has, in any precision, the parameters that this one has in `precision`.
    /// It serves to read models saved in another precision.
    fn as_in(&self, _precision: DType) -> Self {
        self.clone()
    }

    /// The default training of the model.
    fn usual_training(&self) -> TrainingDefaults;

    /// Whether the inputs are images, whose pixels have a common scale.
    fn has_images(&self) -> bool {
        false
    }

    /// Whether the objective of a batch depends on draws from hidden layers.
    fn has_draws(&self) -> bool {
        false
    }

    /// Whether the model takes only a single output.
    fn takes_one_output(&self) -> bool {
        false
    }

    /// A trained model with the right shapes, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When the configuration is invalid.
    fn blank_trained(
        &self,
        shape: &DataShape,
    ) -> Result<<Self::Model as ReadyMade>::Trained, InitError>;

    /// The likelihood.
    fn likelihood(&self) -> LikelihoodConfig;
}

/// A model that can be converted to a trained model.
pub trait ReadyMade: Model {
    /// The trained model.
    type Trained: Module + ModuleDisplay;

    /// The trained model, without autodiff. It contains all training data that it needs.
    ///
    /// # Errors
    ///
    /// When a value in the data that it keeps is not finite, or a covariance matrix cannot be
    /// factored.
    fn trained(&self, data: &TrainingData) -> Result<Self::Trained, ConditionError>;
}

/// A trained model, which can be saved and makes predictions.
pub trait Trained: Module + ModuleDisplay {
    /// The posterior over functions.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    fn process(&self) -> Result<Box<dyn Predictive + Send + Sync>, ConditionError>;

    /// The likelihood.
    fn likelihood(&self) -> AnyLikelihood;

    /// The device and the precision.
    fn options(&self) -> (Device, DType);

    /// The hyperparameters in human-readable units.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    /// The prior covariances `k(x1, x2)` of the function. `None` for deep models and for several
    /// functions with separate kernels.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
    /// - result: `[N1, N2]`
    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>>;

    /// The inducing points of all sets, row-major, `[M, D]`, from the first layer if there are
    /// several. Empty for regression that keeps its data and for models with networks.
    fn inducing_points(&self) -> Vec<f64> {
        Vec::new()
    }
}
