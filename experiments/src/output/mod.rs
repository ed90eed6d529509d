//! The folder that a run writes.

mod context;
mod files;
mod folder;
mod predictions;
mod replacement;

pub use context::ModelContext;
pub use files::{
    CALIBRATION, COMPARISON_CSV, COMPARISON_JSON, COMPARISON_PICTURE, COMPARISON_PLAN, CONFIG,
    CONFUSION, DECISION_MAP, FIT, LOSS, MAPS, METRICS, PATCHES, PREDICTED_OBSERVED, PREDICTIONS,
    RELIABILITY, TRAINING_LOG, write_predictions, write_text,
};
pub use folder::{OutputFolder, names_in};
pub use predictions::class_table;
pub use replacement::replace_file;
