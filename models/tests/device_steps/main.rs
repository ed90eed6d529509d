//! Training steps on GPUs: nothing is read from the device, losses are those of the CPU, and failures
//! are the same errors, some steps later. Without a GPU in the build there is nothing to test.
//!
//! The counter of reads is one for the process, so that these tests are a program of their own, and
//! only one of them runs at a time.

mod failures;
mod models;
mod parameters;
mod platforms;

use std::sync::{Mutex, MutexGuard, PoisonError};

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::ops::{Launches, device_reads, launches};
use burn_gp_models::{
    AnyModel, ModelConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData},
};

use models::{Case, cases};
use parameters::with_parameters;
use platforms::gpus;

/// Steps of each model.
const STEPS: usize = 6;

/// Keeps other tests from reading.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The model of a configuration with the parameters of `like`, in single precision.
fn model_like(config: &ModelConfig, like: &AnyModel, data: TrainingData) -> AnyModel {
    let model = config.init(&config.arranged(data)).expect("a model");
    with_parameters(model, like, DType::F32)
}

/// The losses of a trainer that reads every one.
fn losses_one_by_one(mut trainer: MiniBatchTrainer<AnyModel>) -> Vec<f64> {
    let step = |_| trainer.step().expect("a step").loss;
    (0..STEPS).map(step).collect()
}

/// The losses of a trainer that reads them at the end, and the reads of the steps after the first.
fn losses_together(mut trainer: MiniBatchTrainer<AnyModel>) -> (Vec<f64>, u64) {
    trainer.advance().expect("a step");
    let before = device_reads();
    for _ in 1..STEPS {
        assert_eq!(trainer.advance().expect("a step"), None);
    }
    let reads = device_reads() - before;
    let reports = trainer.read_reports().expect("sound steps");
    assert_eq!(trainer.skipped_steps(), 0);
    (reports.iter().map(|report| report.loss).collect(), reads)
}

/// Every model makes its steps without a read, with the losses of the same steps on the CPU in double
/// precision. Adam's first steps depend on the signs of gradients alone; the tolerance is that of
/// single precision with covariances of condition numbers around 10³.
#[test]
fn steps_read_nothing_and_have_the_losses_of_the_cpu() {
    let _alone = alone();
    let cpu = Device::flex().autodiff();
    let mut failures = Vec::new();
    for gpu in gpus() {
        for Case {
            name,
            config,
            training,
            rows,
        } in cases()
        {
            let data = |device: &Device, dtype| rows.on(&device.clone().autodiff(), dtype);
            let cpu_data = config.arranged(data(&cpu, DType::F64));
            let model = config.init(&cpu_data).expect("a model");
            let gpu_data = data(&gpu, DType::F32);
            let on_gpu = model_like(&config, &model, gpu_data.clone());
            let expected =
                losses_one_by_one(MiniBatchTrainer::new(model, cpu_data, training.clone()));
            let trainer = MiniBatchTrainer::new(on_gpu, gpu_data, training);
            let (losses, reads) = losses_together(trainer);
            let error = (losses.iter().zip(&expected))
                .map(|(ours, expected)| (ours - expected).abs() / expected.abs().max(1.0))
                .fold(0.0, f64::max);
            println!(
                "{name}: {reads} reads in {} steps, error {error:.1e}",
                STEPS - 1
            );
            let is_close = losses.len() == STEPS && error < 1e-3;
            if reads > 0 || !is_close {
                failures.push(format!(
                    "{name}: {reads} reads, {losses:?}, expected {expected:?}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A GPU reports the same losses when it reads every one.
#[test]
fn losses_do_not_depend_on_when_they_are_read() {
    let _alone = alone();
    for gpu in gpus() {
        let Case { config, rows, .. } = cases().remove(0);
        let training = MiniBatchTraining {
            batch_size: 10,
            ..MiniBatchTraining::new(STEPS)
        };
        let data = config.arranged(rows.on(&gpu.autodiff(), DType::F32));
        let model = config.init(&data).expect("a model");
        let trainer = || MiniBatchTrainer::new(model.clone(), data.clone(), training.clone());
        assert_eq!(losses_one_by_one(trainer()), losses_together(trainer()).0);
    }
}

/// How many of the launches are products by burn's kernels, whose strategy may be TF32. Ours is
/// `Gemm`, which multiplies and adds in the precision of its elements.
fn inexact_products(launches: &Launches) -> usize {
    let kernels = launches.kernels.iter();
    let products = kernels.filter(|(name, _)| name.to_lowercase().contains("matmul"));
    products.map(|(_, count)| count).sum()
}

/// Networks as well: their products are exact. The first product shows that the name of burn's kernels is
/// known.
#[test]
fn no_model_multiplies_by_kernels_of_burn() {
    let _alone = alone();
    for gpu in gpus() {
        let square = Tensor::<2>::ones([32, 32], &gpu);
        let (_, of_burn) = launches(|| square.clone().matmul(square).into_data());
        assert!(inexact_products(&of_burn) > 0, "{:?}", of_burn.kernels);
        for case in cases() {
            let data = (case.config).arranged(case.rows.on(&gpu.clone().autodiff(), DType::F32));
            let model = case.config.init(&data).expect("a model");
            let mut trainer = MiniBatchTrainer::new(model, data, case.training);
            let (_, launches) = launches(|| {
                trainer.advance().expect("a step");
                trainer.read_reports().expect("a sound step")
            });
            assert_eq!(inexact_products(&launches), 0, "{}", case.name);
        }
    }
}
