//! Experiments that are written in code instead of a study file.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_models::training::{TrainingData, matrix};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{CommonOptions, ExperimentFolder, RunSupervisor};
use crate::devices::ComputeTarget;
use crate::failure::Failure;

/// An experiment: its folder, its device, and the progress of its training.
pub struct Experiment {
    /// The folder.
    pub folder: ExperimentFolder,
    /// Progress and interruption.
    pub watch: RunSupervisor,
    /// The device, without autodiff.
    pub device: Device,
    /// The floating-point type.
    pub dtype: DType,
}

impl Experiment {
    /// Opens the folder of the experiment called `name`, and the device. All parts in the folder
    /// have the same `settings`, device and type.
    ///
    /// # Errors
    ///
    /// See [`ExperimentFolder::open`]. Also if the device is not available.
    pub fn open(
        name: &str,
        common: &CommonOptions,
        place: ComputeTarget,
        mut settings: Value,
    ) -> Result<Self, Failure> {
        let (device, dtype) = place.open()?;
        settings["dtype"] = serde_json::json!(place.dtype);
        settings["device"] = serde_json::json!(place.device);
        let folder = ExperimentFolder::open(name, common, &settings)?;
        Ok(Self {
            watch: RunSupervisor::new(&folder, common.quiet)?,
            folder,
            device,
            dtype,
        })
    }

    /// Reads the part called `name` if it exists; otherwise announces its title, computes and saves
    /// it.
    ///
    /// # Errors
    ///
    /// See [`ExperimentFolder::load_or_compute`].
    pub fn load_or_compute<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        title: &str,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.folder.load_or_compute(name, || {
            self.watch.announce(title);
            make()
        })
    }

    /// A matrix with this many columns, on the device.
    pub fn matrix(&self, values: &[f64], columns: usize) -> Tensor<2> {
        matrix(values, columns, &self.device, self.dtype)
    }

    /// Training rows with one target each, on the device with autodiff.
    pub fn data(&self, inputs: &[f64], targets: &[f64]) -> TrainingData {
        TrainingData::new(inputs, targets, &self.device.clone().autodiff(), self.dtype)
    }
}
