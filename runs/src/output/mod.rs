//! The output folder of a run.

mod context;
mod destination;
mod files;
mod folder;
mod lock;
mod predictions;

pub use crate::replacement::synchronize;
pub use context::ModelContext;
pub use destination::Destination;
pub use files::{
    BACKTEST, CALIBRATION, COMPONENTS, COMPONENTS_PLOT, CONFUSION, DECISION_MAP, EXPERIMENT, FIT,
    FORECAST, FORECAST_PLOT, LEARNING_CURVE, LEARNING_CURVE_PLOT, LOSS, MAPS, METRICS, OUTPUTS,
    PARTS, PATCHES, PREDICTED_OBSERVED, PREDICTION_MAP, PREDICTIONS, RELIABILITY, RUNS,
    TRAINING_LOG, replace_file, write_predictions, write_text,
};
pub use folder::{OutputFolder, default_folder_name, names_in};
pub(crate) use folder::{remove_leftover, require_own, take_back};
pub use lock::FolderLock;
pub use predictions::{Draw, PredictionTable};
