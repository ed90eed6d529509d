//! Divides batches among devices outside of burn's learner, with burn's workers.

use std::sync::Arc;

#[cfg(feature = "cuda")]
use burn::backend::{CubeDevice, DispatchDevice};
use burn::{
    data::{
        dataloader::{DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    module::{Module, ModuleDisplay},
    optim::{GradientsAccumulator, GradientsParams},
    tensor::Device,
    train::{Interrupter, train::MultiDevicesTrainStep},
};

use super::{Division, LearnedModel, TrainingState};
use crate::training::{Batch, Model, TrainingError, mini_batch_step::MiniBatchStep};

/// Devices that differentiate parts of a batch at the same time, each in its own thread.
pub(in crate::training) struct SeveralDevices<M: Module + ModuleDisplay + Model> {
    devices: Vec<Device>,
    workers: MultiDevicesTrainStep<LearnedModel<M>>,
    state: Arc<TrainingState>,
}

impl<M: Module + ModuleDisplay + Model> SeveralDevices<M> {
    /// Devices for batches of `rows` rows. The optimizer runs on the first.
    ///
    /// # Panics
    ///
    /// If a batch has fewer rows than there are devices.
    #[track_caller]
    pub fn new(devices: &[Device], computation: MiniBatchStep, rows: usize) -> Self {
        check_parts(devices, rows);
        let division = Division::new(devices.len(), rows);
        let state = TrainingState::new(
            computation,
            Arc::default(),
            Interrupter::new(),
            Some(division),
            false,
        );
        Self {
            devices: devices.to_vec(),
            workers: MultiDevicesTrainStep::new(devices),
            state: Arc::new(state),
        }
    }

    /// The negative objective per data point of a batch, and its gradients on the first device.
    ///
    /// # Errors
    ///
    /// When a part of the objective cannot be computed or is not finite.
    ///
    /// # Panics
    ///
    /// When a device fails.
    pub fn differentiate(
        &self,
        model: &M,
        batch: Batch,
    ) -> Result<(f64, GradientsParams), TrainingError> {
        let count = self.devices.len();
        let parts = self.devices.iter().enumerate().map(|(index, device)| {
            let part = batch.clone().part(index, count, device);
            Box::new(OnePart(Some(part))) as Box<dyn DataLoaderIterator<Batch>>
        });
        let mut parts: Vec<_> = parts.collect();
        let learned = LearnedModel::new(model.clone(), Arc::clone(&self.state));
        let (mut outputs, _) = match self.workers.step(&mut parts, &learned) {
            Ok(outputs) => outputs,
            Err(error) => panic!("{error}"),
        };
        if let Some(failure) = self.state.take_failure() {
            if let Some(division) = &self.state.division {
                division.clear();
            }
            return Err(failure);
        }
        // The last digits of the sum must not depend on which device was faster.
        outputs.sort_by(|one, other| one.output.item.loss.total_cmp(&other.output.item.loss));
        let mut sum = GradientsAccumulator::new();
        for part in outputs {
            sum.accumulate(model, part.output.grads.to_device(&self.devices[0], model));
        }
        let loss = self
            .state
            .division
            .as_ref()
            .map_or(f64::NAN, Division::loss);
        Ok((loss, sum.grads()))
    }
}

/// Panics unless every device gets a row of a batch.
#[track_caller]
pub(super) fn check_parts(devices: &[Device], rows: usize) {
    assert!(
        devices.len() <= rows,
        "a batch of {rows} rows cannot be divided among {} devices",
        devices.len()
    );
}

/// Checks that every device can have a replica of a model.
///
/// # Errors
///
/// When a device has no collective operations.
///
/// # Panics
///
/// If a device is named twice.
#[track_caller]
pub(super) fn check_replicas(devices: &[Device]) -> Result<(), TrainingError> {
    for (index, device) in devices.iter().enumerate() {
        if !has_collectives(device) {
            let device = format!("{:?}", device.clone().without_autodiff().as_dispatch());
            return Err(TrainingError::NoCollectives { device });
        }
        assert!(
            !devices[..index].contains(device),
            "{device:?} cannot have two replicas of a model"
        );
    }
    Ok(())
}

/// Whether tensors on this device can be summed with those of other devices. cubecl supports that for
/// CUDA only; the devices of workers may belong to different processes.
fn has_collectives(device: &Device) -> bool {
    match device.clone().without_autodiff().as_dispatch() {
        #[cfg(feature = "cuda")]
        DispatchDevice::Cube(CubeDevice::Cuda(_)) => true,
        _ => false,
    }
}

/// The part of a batch for one device, in the form that burn's workers take.
struct OnePart(Option<Batch>);

impl Iterator for OnePart {
    type Item = Result<Batch, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl DataLoaderIterator<Batch> for OnePart {
    fn progress(&self) -> Progress {
        super::loaders::progress(usize::from(self.0.is_none()), 1, "parts")
    }
}
