//! Configurations of models.

use burn::tensor::DType;
use burn_gp_core::{
    custom::{AnyDefinition, ComponentConfig, ComponentKind, ComponentName},
    inference::RowColumns,
    kernels::KernelConfig,
    likelihoods::LikelihoodConfig,
    means::MeanConfig,
    parameter::ParameterConfig,
};

use crate::{
    AnyModel, AnyTrained, DataShape, InitError,
    training::{Model, TrainingData, TrainingDefaults},
};

/// The configuration of any model. It is written to the model's file.
pub type ModelConfig = ComponentConfig<dyn Model>;

/// A model chosen by name, with its default configuration.
pub type ModelName = ComponentName<dyn Model>;

/// The configuration of a model. [`register!`](burn_gp_core::register) it, and the model is trained by
/// [`FitModel`](crate::FitModel) and saved and loaded by its name.
pub trait ModelDefinition: AnyDefinition {
    /// The data in the order that the model expects. Initialize, train and condition the model on
    /// these data. By default the order does not change.
    fn arranged(&self, data: TrainingData) -> TrainingData {
        data
    }

    /// Initializes the model for [`arranged`](Self::arranged) data, in their precision and on their
    /// device with autodiff.
    ///
    /// # Errors
    ///
    /// When the model cannot be initialized from the data.
    fn init(&self, data: &TrainingData) -> Result<AnyModel, InitError>;

    /// Replaces upper limits by the counts chosen for `data`
    /// ([`InducingConfig::at_most`](crate::InducingConfig::at_most), and the default actions of
    /// [`ComputationAwareConfig`](crate::ComputationAwareConfig)). [`init`](Self::init) chooses the same
    /// counts; a saved model needs them.
    fn resolve(&mut self, _data: &TrainingData) {}

    /// Fills in what depends on the precision, so that the configuration creates the same parameters in
    /// every precision as in `precision`. It serves to read models saved in another precision.
    fn fix_precision(&mut self, _precision: DType) {}

    /// The default training of the model: L-BFGS on all data, if it has no other.
    fn default_training(&self) -> TrainingDefaults {
        TrainingDefaults::L_BFGS
    }

    /// Whether the inputs are images, whose pixels have a common scale.
    fn has_images(&self) -> bool {
        false
    }

    /// Whether the objective of a batch depends on draws from hidden layers.
    fn has_draws(&self) -> bool {
        false
    }

    /// What the rows can have in training besides their targets, known noise for one output only
    /// ([`Model::use_row_columns`]).
    fn takes_row_columns(&self) -> RowColumns {
        RowColumns::default()
    }

    /// Whether the inputs of a model with one output can have [errors](crate::InputErrors), which count as noise of the rows.
    fn takes_input_errors(&self) -> bool {
        false
    }

    /// Whether the model takes only a single output.
    fn takes_one_output(&self) -> bool {
        false
    }

    /// Whether targets of several outputs may be missing, as NaN.
    fn takes_missing_targets(&self) -> bool {
        false
    }

    /// A trained model with the right shapes, whose values are then read from a record.
    ///
    /// # Errors
    ///
    /// When the configuration is invalid.
    fn skeleton(&self, shape: &DataShape) -> Result<AnyTrained, InitError>;

    /// The likelihood.
    fn likelihood(&self) -> LikelihoodConfig;

    /// The likelihood, if the model takes any. Training in the units of the data tells it how targets are standardized
    /// ([`set_units`](burn_gp_core::likelihoods::LikelihoodDefinition::set_units)).
    fn likelihood_mut(&mut self) -> Option<&mut LikelihoodConfig> {
        None
    }

    /// The kernel on the inputs, if it is the only one. Its hyperparameters can then have default priors
    /// (`add_default_priors`).
    fn kernel(&self) -> Option<&KernelConfig> {
        None
    }

    /// The mean of functions of the inputs, if there is one. Inputs that it adds to the functions as they are
    /// ([`offset_dimensions`](burn_gp_core::means::MeanDefinition::offset_dimensions)) are not standardized.
    fn mean(&self) -> Option<&MeanConfig> {
        None
    }

    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    fn parameters(&mut self) -> Option<&mut ParameterConfig> {
        None
    }
}

impl ComponentKind for dyn Model {
    const TAG: &'static str = "model";
    type Definition = dyn ModelDefinition;

    fn check(_definition: &Self::Definition) -> Result<(), String> {
        Ok(())
    }
}
