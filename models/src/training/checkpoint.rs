//! Checkpoints of trainers: their files and the errors about them.

use std::path::Path;

use burn::{
    module::Module,
    tensor::{DType, Device},
};

use super::TrainingError;
use crate::record::load_module;

/// The names of a checkpoint's files.
pub(super) mod files {
    pub const MODEL: &str = "model.bpk";
    pub const OPTIMIZER: &str = "optimizer.bpk";
    pub const PROGRESS: &str = "progress.json";
    pub const SCHEDULER: &str = "scheduler.bpk";
}

/// An error about a file of a checkpoint.
pub(super) fn checkpoint_error(
    folder: &Path,
    file: &str,
    action: &'static str,
) -> impl Fn(String) -> TrainingError {
    let path = folder.join(file);
    move |reason| TrainingError::Checkpoint {
        path: path.clone(),
        action,
        reason,
    }
}

/// Writes the model and the progress of a trainer.
pub(super) fn save_state<M: Module, P: serde::Serialize>(
    folder: &Path,
    model: &M,
    progress: &P,
) -> Result<(), TrainingError> {
    let error = checkpoint_error(folder, files::MODEL, "written");
    (model.clone().save_file(folder.join(files::MODEL)))
        .map_err(|reason| error(reason.to_string()))?;
    let error = checkpoint_error(folder, files::PROGRESS, "written");
    let text = serde_json::to_string(progress).map_err(|reason| error(reason.to_string()))?;
    std::fs::write(folder.join(files::PROGRESS), text).map_err(|reason| error(reason.to_string()))
}

/// Fails if the default device, on which burn restores optimizers, does not have the type `dtype`.
pub(super) fn check_default_device(folder: &Path, dtype: DType) -> Result<(), TrainingError> {
    let device = Device::default();
    if device.supports_dtype(dtype) {
        return Ok(());
    }
    let error = checkpoint_error(folder, files::OPTIMIZER, "read");
    Err(error(format!(
        "the optimizer's state is {}, which the default device {device:?} does not have; make \
         another device the default, for example by the environment variable BURN_DEVICE",
        dtype.name(),
    )))
}

/// Fails if burn would restore the state of L-BFGS in a type other than `dtype`.
pub(super) fn check_default_type(folder: &Path, dtype: DType) -> Result<(), TrainingError> {
    let restored: DType = Device::default().settings().float_dtype.into();
    if restored == dtype {
        return Ok(());
    }
    let error = checkpoint_error(folder, files::OPTIMIZER, "read");
    Err(error(format!(
        "the state of L-BFGS is {}, but burn restores it in {}, the default type of the default \
         device; configure that type before any tensor is made",
        dtype.name(),
        restored.name()
    )))
}

/// Reads the model of a checkpoint.
pub(super) fn restore_model<M: Module>(folder: &Path, model: M) -> Result<M, TrainingError> {
    let error = checkpoint_error(folder, files::MODEL, "read");
    load_module(model, &folder.join(files::MODEL)).map_err(|reason| error(reason.to_string()))
}

/// Reads the progress of a trainer.
pub(super) fn restore_progress<P: serde::de::DeserializeOwned>(
    folder: &Path,
) -> Result<P, TrainingError> {
    let error = checkpoint_error(folder, files::PROGRESS, "read");
    let text = std::fs::read_to_string(folder.join(files::PROGRESS))
        .map_err(|reason| error(reason.to_string()))?;
    serde_json::from_str(&text).map_err(|reason| error(reason.to_string()))
}
