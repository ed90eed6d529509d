//! Divides batches among devices, which burn's workers differentiate.

use std::sync::{Arc, Mutex};

use burn::{
    data::dataloader::split::split_dataloader,
    module::{Module, ModuleDisplay},
    optim::GradientsAccumulator,
    tensor::Device,
    train::{Interrupter, train::MultiDevicesTrainStep},
};

use super::{
    learned_model::{LearnedModel, TrainingState, lock},
    loader::{Loader, Part},
};
use crate::training::{
    Batch, Model,
    mini_batch_step::{Differentiate, MiniBatchStep},
};

/// Differentiates batches of `rows` rows on several devices at the same time, each in its own thread.
/// The gradients are on the first device.
///
/// # Panics
///
/// If a batch has fewer rows than there are devices. The function panics when a device fails.
#[track_caller]
pub(in crate::training) fn on_several_devices<M: Module + ModuleDisplay + Model>(
    devices: &[Device],
    rows: usize,
) -> Differentiate<M> {
    check_parts(devices, rows);
    let (devices, workers) = (devices.to_vec(), MultiDevicesTrainStep::new(devices));
    let workers = Mutex::new(workers);
    let part: Differentiate<M> = Arc::new(move |computation: &MiniBatchStep, model: &M, part| {
        let mut loss = 0.0;
        let report = |share| loss = share;
        let (_, gradients) = computation.differentiate_part(model, part, rows, report)?;
        Ok((loss, gradients))
    });
    Arc::new(
        move |computation: &MiniBatchStep, model: &M, batch: Batch| {
            let (made, parts) = (batch.step, devices.len());
            let state = Arc::new(TrainingState {
                computation: computation.clone(),
                differentiate: Arc::new(Arc::clone(&part)),
                made: Arc::default(),
                interrupter: Interrupter::new(),
                replicates: false,
                failure: Mutex::new(None),
            });
            let loader = Loader {
                made: Arc::default(),
                steps: 1,
                parts,
                part: None,
                next: Arc::new(move |_, _, part: Option<&Part>| {
                    Some(batch.clone().part(part, parts))
                }),
            };
            let loaders = split_dataloader(Arc::new(loader), &devices);
            let mut rounds: Vec<_> = loaders.iter().map(|loader| loader.iter()).collect();
            let learned = LearnedModel {
                model: model.clone(),
                made,
                state: Arc::clone(&state),
            };
            let outputs = lock(&workers).step(&mut rounds, &learned);
            let (mut outputs, _progress) = outputs.unwrap_or_else(|error| panic!("{error}"));
            if let Some(failure) = lock(&state.failure).take() {
                return Err(failure);
            }
            // The last digits of the sums must not depend on which device was faster.
            outputs
                .sort_by(|one, other| (one.output.item.value).total_cmp(&other.output.item.value));
            let (mut loss, mut sum) = (0.0, GradientsAccumulator::new());
            for part in outputs {
                loss += part.output.item.value;
                sum.accumulate(model, part.output.grads.to_device(&devices[0], model));
            }
            (computation.rates).observe(loss, computation.trains_inducing(made));
            Ok((loss, sum.grads()))
        },
    )
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
