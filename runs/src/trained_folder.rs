//! A folder that `train` wrote, as other commands take it.

use std::path::Path;

use burn_gp_models::MODEL_FILE;

use crate::failure::FolderError;
use crate::fitting::Checkpoints;

/// Requires a saved model in the folder.
///
/// # Errors
///
/// [`FolderError::UnfinishedModel`] if training was interrupted, else [`FolderError::NoModel`].
pub fn require_model(folder: &Path) -> Result<(), FolderError> {
    if folder.join(MODEL_FILE).is_file() {
        return Ok(());
    }
    let path = folder.to_owned();
    Err(match Checkpoints::within(folder).latest() {
        Some(_) => FolderError::UnfinishedModel { path },
        None => FolderError::NoModel { path },
    })
}
