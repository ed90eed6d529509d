//! Ready-made Gaussian-process models on [`burn_gp`]: configuration, training, prediction, saving.

mod config;
mod deep_basis;
mod deep_gp;
mod prediction;
mod solve_collapsed;
mod svgp;
mod trained;
pub mod training;
mod variational;

pub use config::{
    AnyExact, AnySgpr, AnySvgp, CoregionalisationConfig, ExactConfig, InducingConfig, InitError,
    ModelConfig, SgprConfig, SvgpConfig,
};
pub use deep_basis::{AnyDbk, AnySvdbk, BasisConfig, DbkConfig, SvdbkConfig};
pub use deep_gp::{AnyDeepGp, DeepGp, DeepGpConfig, HiddenLayerConfig, LayerConfig, LayerForm};
pub use prediction::{Predictions, Predictor, inputs_at_once};
pub use solve_collapsed::{AnySolveCollapsed, SolveCollapsedConfig};
pub use svgp::Svgp;
pub use trained::{
    AnyBasisProcess, AnyPredictive, AnyProcess, ExactModel, FORMAT_VERSION, MODEL_FILE, Precision,
    SavedModel, SavedModelError, Summary, TrainedModel, WEIGHTS_FILE,
};
pub use variational::AnyVariational;

/// The README's example, compiled and run with the documentation tests.
#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;
