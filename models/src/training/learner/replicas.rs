//! Replicas of a model on several devices, which sum their gradients.

use std::sync::{Arc, Mutex};

#[cfg(feature = "cuda")]
use burn::backend::{CubeDevice, DispatchDevice};
use burn::{
    module::{Module, ModuleMapper, Param},
    tensor::{Device, Tensor},
};

use super::learned_model::lock;
use crate::training::{
    Batch, Model, TrainingError,
    mini_batch_step::{Differentiate, MiniBatchStep},
};

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

/// Differentiates parts of batches of `rows` rows. The devices wait for each other in their backward
/// passes, before which the last of them reports the loss of the batch to the learning rates.
pub(super) fn parts_of_batches<M: Module + Model>(parts: usize, rows: usize) -> Differentiate<M> {
    let losses = Mutex::new(Vec::new());
    Arc::new(move |computation: &MiniBatchStep, model: &M, part: Batch| {
        let trains_inducing = computation.trains_inducing(part.step);
        computation.differentiate_part(model, part, rows, |share| {
            let mut losses = lock(&losses);
            losses.push(share);
            if losses.len() == parts {
                // The sum does not depend on which device was faster.
                losses.sort_by(f64::total_cmp);
                (computation.rates).observe(losses.drain(..).sum(), trains_inducing);
            }
        })
    })
}

/// The model with a mark on the parameters whose gradients burn sums over the devices. Natural gradients
/// and the updates after a step create new tensors without it.
pub(super) fn marked_for_sums<M: Module>(model: M) -> M {
    struct Mark;
    impl ModuleMapper for Mark {
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
            let id = param.id;
            param.map(|value| match value.is_require_grad() {
                true => value.set_distributed(id),
                false => value,
            })
        }
    }
    model.map(&mut Mark)
}
