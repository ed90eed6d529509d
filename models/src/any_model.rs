//! Ready-made models chosen at run time.

use burn::{
    module::Module,
    tensor::{DType, Tensor},
};
use burn_gp_core::{
    inference::{ConditionError, LeaveOneOut},
    likelihoods::{ImpossibleTarget, LikelihoodConfig},
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, Priors},
};
use serde::{Deserialize, Serialize};

// A glob import, so that new models in the list below need no change here.
use crate::{
    ready_made::{DataShape, ModelDefinition, ReadyMade},
    training::{Model, Objective, TrainingData, TrainingDefaults},
    *,
};

/// Makes [`ModelConfig`] and [`AnyModel`] from one line per model: its name in files, its variant, the
/// type of its configuration and its own type.
macro_rules! models {
    ($($(#[$doc:meta])* $tag:literal $name:ident($config:ty => $model:ident),)*) => {
        /// Configuration of any ready-made model. It is written to the model's file.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "model", deny_unknown_fields)]
        pub enum ModelConfig {
            $($(#[$doc])* #[serde(rename = $tag)] $name($config),)*
        }

        /// Any ready-made model.
        #[allow(
            clippy::large_enum_variant,
            reason = "a program holds one or two, and burn's modules cannot hold boxes"
        )]
        #[derive(Module, Debug)]
        pub enum AnyModel {
            $($(#[$doc])* $name($model),)*
        }

        $(
            impl From<$config> for ModelConfig {
                fn from(config: $config) -> Self {
                    Self::$name(config)
                }
            }

            impl From<$model> for AnyModel {
                fn from(model: $model) -> Self {
                    Self::$name(model)
                }
            }
        )*

        impl ModelConfig {
            /// The names of the models.
            pub const NAMES: &'static [&'static str] = &[$($tag),*];

            /// The data in the order that the model expects. Initialize, train and condition the
            /// model on these data. For most models the order does not change.
            pub fn arranged(&self, data: TrainingData) -> TrainingData {
                match self {
                    $(Self::$name(config) => ModelDefinition::arranged(config, data),)*
                }
            }

            /// Initializes the model for [`arranged`](Self::arranged) data, in their precision and
            /// on their device with autodiff.
            ///
            /// # Errors
            ///
            /// When the model cannot be initialized from the data.
            pub fn init(&self, data: &TrainingData) -> Result<AnyModel, InitError> {
                match self {
                    $(Self::$name(config) => Ok(ModelDefinition::init(config, data)?.into()),)*
                }
            }

            /// The configuration with the counts chosen for `data` in place of upper limits
            /// ([`InducingConfig::at_most`]).
            pub fn resolved(&self, data: &TrainingData) -> Self {
                match self {
                    $(Self::$name(config) => config.resolved(data).into(),)*
                }
            }

            /// A configuration that has, in any precision, the parameters that this one has in
            /// `precision`. It serves to read models saved in another precision.
            pub(crate) fn as_in(&self, precision: DType) -> Self {
                match self {
                    $(Self::$name(config) => config.as_in(precision).into(),)*
                }
            }

            /// The default training of the model.
            pub fn usual_training(&self) -> TrainingDefaults {
                match self {
                    $(Self::$name(config) => config.usual_training(),)*
                }
            }

            /// Whether the inputs are images, whose pixels have a common scale.
            pub fn has_images(&self) -> bool {
                match self {
                    $(Self::$name(config) => config.has_images(),)*
                }
            }

            /// Whether the objective of a batch depends on draws from hidden layers.
            pub fn has_draws(&self) -> bool {
                match self {
                    $(Self::$name(config) => config.has_draws(),)*
                }
            }

            /// Whether the model takes only a single output.
            pub fn takes_one_output(&self) -> bool {
                match self {
                    $(Self::$name(config) => config.takes_one_output(),)*
                }
            }

            /// A trained model with the right shapes, to be filled from a record.
            pub(crate) fn blank_trained(
                &self,
                shape: &DataShape,
            ) -> Result<TrainedModel, InitError> {
                match self {
                    $(Self::$name(config) => Ok(config.blank_trained(shape)?.into()),)*
                }
            }

            /// The likelihood.
            pub fn likelihood(&self) -> LikelihoodConfig {
                match self {
                    $(Self::$name(config) => config.likelihood(),)*
                }
            }
        }

        impl AnyModel {
            /// The trained model, without autodiff. It contains all training data that it needs.
            ///
            /// # Errors
            ///
            /// When a value in the data that it keeps is not finite, or a covariance matrix cannot be
            /// factored.
            pub fn trained(&self, data: &TrainingData) -> Result<TrainedModel, ConditionError> {
                match self {
                    $(Self::$name(model) => Ok(model.trained(data)?.into()),)*
                }
            }
        }

        impl AnyModel {
            /// The prediction of each training target from all the others, for models with a closed
            /// form: exact and collapsed regression.
            ///
            /// # Errors
            ///
            /// When a covariance matrix cannot be factored.
            pub fn leave_one_out(
                &self,
                data: &TrainingData,
            ) -> Option<Result<LeaveOneOut, NotPositiveDefinite>> {
                let (inputs, targets) = (data.inputs.clone(), data.targets.clone());
                match self {
                    Self::Exact(model) => Some(model.leave_one_out(inputs, targets)),
                    Self::Sgpr(model) => Some(model.leave_one_out(inputs, targets)),
                    _ => None,
                }
            }

            /// The model for training with row weights ([`Svgp::with_row_weights`]); `None` if it does
            /// not support them.
            pub fn with_row_weights(self) -> Option<Self> {
                match self {
                    Self::Svgp(model) => Some(Self::Svgp(model.with_row_weights())),
                    _ => None,
                }
            }
        }

        impl Model for AnyModel {
            fn objective(
                &self,
                inputs: Tensor<2>,
                targets: Tensor<2>,
                data_count: usize,
            ) -> Result<Objective, NotPositiveDefinite> {
                match self {
                    $(Self::$name(model) => model.objective(inputs, targets, data_count),)*
                }
            }

            fn needs_all_data(&self) -> bool {
                match self {
                    $(Self::$name(model) => model.needs_all_data(),)*
                }
            }

            fn rows_per_datum(&self) -> usize {
                match self {
                    $(Self::$name(model) => model.rows_per_datum(),)*
                }
            }

            fn after_step(self) -> Self {
                match self {
                    $(Self::$name(model) => Self::$name(model.after_step()),)*
                }
            }

            fn in_unit_of(self, inputs: &Tensor<2>, targets: &Tensor<2>) -> Self {
                match self {
                    $(Self::$name(model) => Self::$name(model.in_unit_of(inputs, targets)),)*
                }
            }

            fn is_within_reach(&self, start: &Self) -> bool {
                match (self, start) {
                    $((Self::$name(model), Self::$name(start)) => model.is_within_reach(start),)*
                    _ => true,
                }
            }

            fn priors(&self) -> Priors {
                match self {
                    $(Self::$name(model) => model.priors(),)*
                }
            }

            fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
                match self {
                    $(Self::$name(model) => model.check_targets(targets),)*
                }
            }

            fn hyperparameters(&self) -> Vec<Hyperparameter> {
                match self {
                    $(Self::$name(model) => Model::hyperparameters(model),)*
                }
            }
        }
    };
}

models! {
    /// Exact regression.
    "exact" Exact(ExactConfig => AnyExact),
    /// Collapsed sparse regression.
    "sgpr" Sgpr(SgprConfig => AnySgpr),
    /// Collapsed sparse regression with orthogonal inducing points.
    "solve-collapsed" SolveCollapsed(SolveCollapsedConfig => AnySolveCollapsed),
    /// Computation-aware regression.
    "computation-aware" ComputationAware(ComputationAwareConfig => AnyComputationAware),
    /// Regression by conjugate gradients.
    "conjugate-gradients" ConjugateGradients(ConjugateGradientsConfig => AnyConjugateGradients),
    /// A sparse variational model.
    "svgp" Svgp(SvgpConfig => AnySvgp),
    /// A deep model or an image model.
    "deep-gp" DeepGp(DeepGpConfig => DeepGp),
    /// A deep basis kernel with full-batch inference.
    "dbk" Dbk(DbkConfig => AnyDbk),
    /// A deep basis kernel with a posterior over its weights.
    "svdbk" Svdbk(SvdbkConfig => AnySvdbk),
    /// A network with a Bayesian last layer.
    "last-layer" LastLayer(LastLayerConfig => AnyLastLayer),
    /// Exact deep kernel learning.
    "dkl" Dkl(DeepKernelConfig<ExactConfig> => AnyDkl),
    /// Deep kernel learning with inducing points, collapsed.
    "sdkl" Sdkl(DeepKernelConfig<SgprConfig> => AnySdkl),
    /// Deep kernel learning with inducing points, on mini-batches.
    "svdkl" Svdkl(DeepKernelConfig<SvgpConfig> => AnySvdkl),
}
