//! Ready-made Gaussian-process models on [`burn_gp`]: configuration, training, prediction, saving.

mod config;
mod prediction;
mod solve_collapsed;
mod svgp;
mod trained;
pub mod training;

pub use config::{
    AnyExact, AnySgpr, AnySvgp, CoregionalisationConfig, ExactConfig, InducingConfig, InitError,
    ModelConfig, SgprConfig, SvgpConfig,
};
pub use prediction::{Predictions, Predictor};
pub use solve_collapsed::{AnySolveCollapsed, SolveCollapsedConfig};
pub use svgp::Svgp;
pub use trained::{
    AnyProcess, ExactModel, FORMAT_VERSION, MODEL_FILE, Precision, SavedModel, SavedModelError,
    Summary, TrainedModel, WEIGHTS_FILE,
};

/// The README's example, compiled and run with the documentation tests.
#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;
