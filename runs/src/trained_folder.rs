//! Opening folders that `train` has written.

use std::path::Path;

use burn::tensor::Device;
use burn_gp_core::inference::ConditionError;
use burn_gp_datasets::counted;
use burn_gp_models::forecasting::FORECASTS_FILE;
use burn_gp_models::{MODEL_FILE, Predictor, SavedModel, SavedModelError, WEIGHTS_FILE};

use crate::arguments::DeviceName;
use crate::devices;
use crate::failure::{Failure, FolderError};
use crate::fitting::Checkpoints;
use crate::folder_of_models::FolderOfModels;
use crate::output::ModelContext;

/// Opens the saved model in a folder on a device. The default is the default device of the program.
///
/// # Errors
///
/// If there is no model, a file cannot be read, or the device lacks the precision of the model.
pub fn open_model(
    folder: &Path,
    device: Option<&DeviceName>,
) -> Result<SavedModel<ModelContext>, Failure> {
    require_model(folder)?;
    let name = match device {
        Some(device) => device.clone(),
        None => devices::default_device()?,
    };
    // The precision is only known after the file is read. Every device supports single precision.
    let device = devices::open(&name, burn::tensor::DType::F32)?;
    let saved = load_model(folder, &device)?;
    devices::open(&name, saved.summary.precision.dtype())?;
    Ok(saved)
}

/// Loads the saved model in a folder, and checks that its number of columns and its calibration suit the model.
///
/// # Errors
///
/// If a file cannot be read, the numbers of columns differ, or the calibration is for other targets.
pub fn load_model(
    folder: &Path,
    device: &Device,
) -> Result<SavedModel<ModelContext>, SavedModelError> {
    let saved: SavedModel<ModelContext> = SavedModel::load(folder, device)?;
    let ModelContext {
        schema,
        standardizer,
        ..
    } = &saved.context;
    let found = [schema.input_names.len(), standardizer.input_scale.len()];
    let expected = saved.summary.dimensions;
    let wrong = |reason: String| SavedModelError::Read {
        path: folder.join(MODEL_FILE),
        reason,
    };
    if let Some(found) = found.into_iter().find(|&found| found != expected) {
        let found = counted(found, "input");
        return Err(wrong(format!(
            "it describes {found}, but the model has {expected}"
        )));
    }
    let classes = saved.model.likelihood().description().classes;
    let calibration = saved.context.calibration.as_ref();
    match calibration.is_none_or(|own| own.suits(classes)) {
        true => Ok(saved),
        false => Err(wrong(
            "its calibration is not for the targets of the model".to_owned(),
        )),
    }
}

/// The predictions of a saved model, with its calibration.
///
/// # Errors
///
/// If a covariance matrix cannot be factored.
pub fn predictor_of(saved: &SavedModel<ModelContext>) -> Result<Predictor, ConditionError> {
    let predictor = saved.model.predictor()?;
    Ok(match &saved.context.calibration {
        None => predictor,
        Some(own) => predictor.calibrated(own.clone()),
    })
}

/// Requires a saved model in the folder.
///
/// # Errors
///
/// [`FolderError::OfModels`] if there is a model for each value of a column,
/// [`FolderError::UnfinishedModel`] if training was interrupted, [`FolderError::OfForecast`] if the folder has a
/// forecast, else [`FolderError::NoModel`].
pub fn require_model(folder: &Path) -> Result<(), FolderError> {
    // Opening a pipe in place of a file would block.
    let weights = folder.join(WEIGHTS_FILE);
    if folder.join(MODEL_FILE).is_file() && (weights.is_file() || !weights.exists()) {
        return Ok(());
    }
    FolderOfModels::refuse(folder)?;
    let path = folder.to_owned();
    Err(match Checkpoints::within(folder).latest() {
        Some(_) => FolderError::UnfinishedModel(path),
        None if folder.join(FORECASTS_FILE).exists() => FolderError::OfForecast(path),
        None => FolderError::NoModel(path),
    })
}
