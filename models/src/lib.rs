//! Ready-made Gaussian-process models based on [`burn_gp_core`]: configuration, training, prediction and
//! saving.
//!
//! # Features
//!
//! | feature | content |
//! |---|---|
//! | `flex` (default) | the CPU, in single and double precision |
//! | `ndarray` | the CPU, with another backend of burn |
//! | `wgpu`, `vulkan`, `metal` | GPUs through WGSL, SPIR-V and Metal, in single precision |
//! | `arrays` | arrays of `ndarray` as inputs and targets |
//! | `learner` | `MiniBatchLearner`: mini-batch training in the learner of burn-train |
//! | `cuda`, `rocm` | GPUs through CUDA and HIP |
//! | `fusion`, `autotune` | burn's features of these names; needed if your crate enables burn's |
//!
//! Several backends can be compiled in together. The device of the data decides where a computation
//! runs.

#![deny(missing_docs)]

mod calibration;
mod caught;
mod checked_folder;
mod chunks;
mod computation_aware;
mod conditioned;
mod config;
pub mod conformal;
mod conjugate_gradients;
mod data;
mod deep_basis;
mod deep_gp;
mod deep_kernel;
mod default_priors;
mod definition;
mod exact;
mod exact_outputs;
mod first_coregionalization;
mod first_periods;
mod fit;
pub mod forecasting;
mod gplvm;
mod init_error;
mod initial_scale;
mod input_errors;
mod jackknife_plus;
mod last_layer;
mod level_codes;
mod malformed;
mod markov;
mod markov_variational;
mod model;
mod model_config;
mod one_function;
mod parts;
mod prediction;
mod prediction_error;
mod predictions;
mod record;
mod restarts;
mod row_columns;
mod row_order;
mod saved_model;
mod sgpr;
mod side_by_side;
mod solve_collapsed;
mod svgp;
mod svgp_config;
mod trained;
pub mod training;
mod vecchia;
mod vecchia_laplace;
mod vif;
mod vnngp;

pub use burn_gp_core::{inducing::InducingConfig, variational::CoregionalizationConfig};
pub use calibration::{Calibration, CalibrationError, Temperature};
pub use caught::panic_message;
pub use checked_folder::{CHECKSUMS_FILE, CheckError, CheckFailure, CheckedFolder};
pub use chunks::inputs_at_once;
pub use computation_aware::{
    ActionRows, ActionsConfig, AnyComputationAware, ComputationAwareConfig,
};
pub use conditioned::{Conditioned, KeepsData};
pub use conjugate_gradients::{AnyConjugateGradients, ConjugateGradientsConfig};
pub use data::DataShape;
pub use deep_basis::{AnyDbk, AnySvdbk, BasisConfig, DbkConfig, SvdbkConfig};
pub use deep_gp::{
    ConvolutionalForm, DeepGp, DeepGpConfig, DenseForm, HiddenLayerConfig, LayerConfig,
    LayerDefinition, LayerForm, LayerInputs, LayerPlan, PatchForm,
};
pub use deep_kernel::{DeepKernelConfig, DeepKernelModel};
pub use definition::{ModelConfig, ModelDefinition, ModelName};
pub use exact::{AnyExact, ExactConfig};
pub use exact_outputs::AnyExactOutputs;
pub use first_periods::{FirstValues, first_periods};
pub use fit::{Error, Fit, FitModel, Fitted, FittedPredictions, Matrix, Number, Scaling, fit_each};
pub use gplvm::{FittedGplvm, GPLVM_FILE, GplvmConfig, RowMoments};
pub use init_error::InitError;
pub use input_errors::{InputErrors, InputNoise};
pub use jackknife_plus::JackknifePlus;
pub use last_layer::{AnyLastLayer, LastLayerConfig};
pub use level_codes::{ImpossibleCode, impossible_code};
pub use malformed::explained;
pub use markov::{AnyMarkov, MarkovConfig};
pub use markov_variational::{AnyMarkovVariational, MarkovVariationalConfig};
pub use model::AnyModel;
pub use parts::FunctionPart;
pub use prediction::Predictor;
pub use prediction_error::PredictionError;
pub use predictions::Predictions;
pub use record::{LoadError, load_module, module_from_bytes};
pub use restarts::{Restarts, restarts};
pub use saved_model::{
    FORMAT_VERSION, MODEL_FILE, Precision, SavedModel, SavedModelError, Summary, WEIGHTS_FILE,
};
pub use sgpr::{AnySgpr, SgprConfig};
pub use solve_collapsed::{AnySolveCollapsed, SolveCollapsedConfig};
pub use svgp::Svgp;
pub use svgp_config::{AnySvgp, SvgpConfig};
pub use trained::{AnyTrained, Trained};
pub use vecchia::{AnyVecchia, VecchiaConfig};
pub use vecchia_laplace::{AnyVecchiaLaplace, VecchiaLaplaceConfig};
pub use vif::{AnyVif, VifConfig};
pub use vnngp::{AnyVnngp, VnngpConfig};
