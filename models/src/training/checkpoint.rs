//! Checkpoints of trainers: their files and the errors about them.

use std::path::Path;

use burn::{
    module::Module,
    store::RecordError,
    tensor::{Bytes, DType, Device},
};

use super::TrainingError;
use crate::{CheckError, CheckedFolder, checked_folder::CHECKSUMS_FILE, record::module_from_bytes};

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

/// The content of a file to be written, or the reason why there is none.
type Content = Result<Bytes, String>;

/// The content of a burn record.
pub(super) fn record(bytes: Result<Bytes, RecordError>) -> Content {
    bytes.map_err(|reason| reason.to_string())
}

/// Writes the files of a checkpoint with their checksums.
pub(super) fn write_files<const N: usize>(
    folder: &Path,
    files: [(&str, Content); N],
) -> Result<(), TrainingError> {
    let mut checked = CheckedFolder::new(folder);
    for (file, content) in files {
        let written = content.and_then(|content| {
            checked
                .write(file, &content)
                .map_err(|reason| reason.to_string())
        });
        written.map_err(checkpoint_error(folder, file, "written"))?;
    }
    let error = checkpoint_error(folder, CHECKSUMS_FILE, "written");
    checked.seal().map_err(|reason| error(reason.to_string()))
}

/// Writes the model, the progress and the optimizer of a trainer.
pub(super) fn save_state<M: Module, P: serde::Serialize>(
    folder: &Path,
    model: &M,
    progress: &P,
    optimizer: Result<Bytes, RecordError>,
) -> Result<(), TrainingError> {
    let model = model.clone().into_record().into_bytes();
    let progress = serde_json::to_vec(progress).map(Bytes::from_bytes_vec);
    let files = [
        (files::MODEL, record(model)),
        (
            files::PROGRESS,
            progress.map_err(|reason| reason.to_string()),
        ),
        (files::OPTIMIZER, record(optimizer)),
    ];
    write_files(folder, files)
}

/// The files of a checkpoint.
pub(super) struct CheckpointFiles<'a> {
    folder: &'a Path,
    checked: CheckedFolder,
}

impl<'a> CheckpointFiles<'a> {
    /// Opens the checkpoint in a folder.
    pub fn open(folder: &'a Path) -> Result<Self, TrainingError> {
        let checked = CheckedFolder::open(folder).map_err(read_error)?;
        Ok(Self { folder, checked })
    }

    /// Whether there is a file of this name.
    pub fn has(&self, file: &str) -> bool {
        self.checked.has(file)
    }

    /// Restores something from the content of a file.
    pub fn restore<T, E: ToString>(
        &self,
        file: &str,
        restored: impl FnOnce(Vec<u8>) -> Result<T, E>,
    ) -> Result<T, TrainingError> {
        let error = checkpoint_error(self.folder, file, "read");
        let content = self.checked.read(file).map_err(read_error)?;
        restored(content).map_err(|reason| error(reason.to_string()))
    }

    /// The model of the checkpoint.
    pub fn model<M: Module>(&self, model: M) -> Result<M, TrainingError> {
        self.restore(files::MODEL, |content| module_from_bytes(model, content))
    }

    /// The progress of a trainer.
    pub fn progress<P: serde::de::DeserializeOwned>(&self) -> Result<P, TrainingError> {
        self.restore(files::PROGRESS, |content| serde_json::from_slice(&content))
    }
}

fn read_error(error: CheckError) -> TrainingError {
    TrainingError::Checkpoint {
        path: error.path,
        action: "read",
        reason: error.reason.to_string(),
    }
}

/// Fails if the default device, on which burn restores optimizers, does not have the type `dtype`.
pub(super) fn check_default_device(folder: &Path, dtype: DType) -> Result<(), TrainingError> {
    let device = Device::default();
    if device.supports_dtype(dtype) {
        return Ok(());
    }
    let error = checkpoint_error(folder, files::OPTIMIZER, "read");
    Err(error(format!(
        "the optimizer's state is {}, which the default device {device:?} does not support; set \
         another default device, for example with the environment variable BURN_DEVICE",
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
         device; set the default type before creating any tensor",
        dtype.name(),
        restored.name()
    )))
}
