//! Ready-made Gaussian-process models based on [`burn_gp`]: configuration, training, prediction and
//! saving.

mod computation_aware;
mod config;
mod conjugate_gradients;
mod deep_basis;
mod deep_gp;
mod deep_kernel;
mod init_error;
mod last_layer;
mod malformed;
mod network_model;
mod prediction;
mod prediction_error;
mod record;
mod saved_model;
mod solve_collapsed;
mod svgp;
mod trained;
pub mod training;
mod variational;

pub use computation_aware::{
    ActionRows, ActionsConfig, AnyComputationAware, ComputationAwareConfig,
};
pub use config::{
    AnyExact, AnySgpr, AnySvgp, CoregionalizationConfig, ExactConfig, InducingConfig, ModelConfig,
    SgprConfig, SvgpConfig,
};
pub use conjugate_gradients::{AnyConjugateGradients, ConjugateGradientsConfig};
pub use deep_basis::{AnyDbk, AnySvdbk, BasisConfig, DbkConfig, SvdbkConfig};
pub use deep_gp::{AnyDeepGp, DeepGp, DeepGpConfig, HiddenLayerConfig, LayerConfig, LayerForm};
pub use deep_kernel::{AnyDkl, AnySdkl, AnySvdkl, DeepKernelConfig, FeatureProcess, OnFeatures};
pub use init_error::InitError;
pub use last_layer::{AnyLastLayer, LastLayerConfig};
pub use malformed::explained;
pub use network_model::{AnyMiniBatch, NetworkModel, NetworkModelConfig};
pub use prediction::{Predictions, Predictor, inputs_at_once};
pub use prediction_error::PredictionError;
pub use record::{LoadError, load_module};
pub use saved_model::{
    FORMAT_VERSION, MODEL_FILE, Precision, SavedModel, SavedModelError, Summary, WEIGHTS_FILE,
};
pub use solve_collapsed::{AnySolveCollapsed, SolveCollapsedConfig};
pub use svgp::Svgp;
pub use trained::{AnyBasisProcess, AnyPredictive, AnyProcess, OnData, TrainedModel};
pub use variational::AnyVariational;

/// The README's example, compiled and run with the documentation tests.
#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;
