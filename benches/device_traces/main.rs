//! Compares the losses of training on a GPU with those of the same training on the CPU, both in single
//! precision, and counts how often a step waits to read from the GPU.
//!
//! `BURN_GP_DATA=… cargo bench --features wgpu --bench device_traces [-- --steps N]
//! [--only MODEL]`
//!
//! trains SOLVE-GP, the inverse-free posterior, SVGP with natural gradients and a deep GP of three layers
//! on the training rows of the first split of elevators, and a convolutional GP on 2000 images of MNIST:
//! 500 steps from the same initial parameters on the same batches. A row is a step: the loss per datum on the
//! CPU, and the difference on the GPU. Reads are counted in the steps after the first, and separately when
//! losses are read, every 32 steps.
//!
//! Rounding alone changes a trace, because Adam and natural gradients propagate every difference. To measure
//! how much, a second run on the CPU has inputs that differ in the last bit (`x·(1 + 2⁻²³)`). The GPU, which
//! sums in a different order, may differ eight times as much, and by at least 10⁻⁴. The program exits with
//! status 1 if it differs more, or if a step reads.

#[path = "../../cli/src/allocator.rs"]
mod allocator;
mod cases;

use std::{error::Error, process::ExitCode};

use burn::{
    module::Module,
    tensor::{DType, Device, DeviceKind},
};
use burn_gp_core::ops::device_reads;
use burn_gp_datasets::{DataSource, Standardizer};
use burn_gp_models::{
    AnyModel,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData, TrainingError},
};

use cases::{Case, Set, cases};

/// Number of MNIST images to train on.
const IMAGES: usize = 2000;

/// How much the GPU may change a trace: this many times as much as rounding on the CPU, and at least
/// [`LEAST`].
const TIMES_ROUNDING: f64 = 8.0;
const LEAST: f64 = 1e-4;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    allocator::keep_freed_pages();
    if std::env::var_os("BURN_GP_DATA").is_none() {
        println!("skipped: set BURN_GP_DATA to the folder with elevators and MNIST");
        return Ok(ExitCode::SUCCESS);
    }
    let (mut steps, mut only) = (500, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--steps" => steps = words.next().ok_or("--steps needs a number")?.parse()?,
            "--only" => only = Some(words.next().ok_or("--only needs a model")?),
            "--bench" => {} // cargo says so
            other => return Err(format!("unknown option {other:?}").into()),
        }
    }
    let gpu = Device::wgpu(DeviceKind::DefaultDevice);
    let mut passes = true;
    for case in cases() {
        if only.as_ref().is_none_or(|only| only == case.name) {
            passes &= compare(&case, &gpu, steps)?;
        }
    }
    Ok(ExitCode::from(u8::from(!passes)))
}

/// Rows in the form that a model takes.
struct Rows {
    inputs: Vec<f64>,
    targets: Vec<f64>,
}

impl Rows {
    /// Training rows of the first split: standardized values, or images with their labels.
    fn of(set: Set) -> Result<Self, Box<dyn Error>> {
        let folder = std::env::var_os("BURN_GP_DATA").map(std::path::PathBuf::from);
        let name = match set {
            Set::Elevators => "elevators",
            Set::Mnist => "mnist",
        };
        let source = DataSource::resolve(name, folder.as_deref())?;
        let dataset = source.load(None)?;
        let mut split = source.mask(dataset.rows())?.split(0)?;
        if set == Set::Mnist {
            split.train.truncate(IMAGES);
            let train = dataset.select(&split.train);
            return Ok(Self {
                inputs: train.inputs.values().to_vec(),
                targets: train.targets,
            });
        }
        let standardizer = Standardizer::fit(&dataset, &split.train);
        let train = dataset.select(&split.train);
        Ok(Self {
            inputs: (standardizer.transform_inputs(&train.inputs).values()).to_vec(),
            targets: standardizer.transform_targets(&train.targets),
        })
    }

    fn on(&self, device: &Device, factor: f64) -> TrainingData {
        let inputs: Vec<f64> = self.inputs.iter().map(|x| x * factor).collect();
        let device = device.clone().autodiff();
        TrainingData::new(&inputs, &self.targets, &device, DType::F32)
    }
}

/// Prints the traces of a model. Returns whether they are as close as rounding allows and no step
/// reads.
fn compare(case: &Case, gpu: &Device, steps: usize) -> Result<bool, Box<dyn Error>> {
    let (cpu, rows) = (Device::flex(), Rows::of(case.set)?);
    let data = rows.on(&cpu, 1.0);
    let model = case.config.init(&data)?;
    let training = case.training(steps);
    let on_cpu = Trace::of(model.clone(), data, &training)?.losses;
    let last_bit = rows.on(&cpu, 1.0 + f64::from(f32::EPSILON));
    let rounded = Trace::of(model.clone(), last_bit, &training)?.losses;
    let moved = model.valid().to_device(gpu).train();
    let trace = Trace::of(moved, rows.on(gpu, 1.0), &training)?;
    let difference = |other: &[f64]| -> Vec<f64> {
        let pairs = on_cpu.iter().zip(other);
        pairs.map(|(ours, other)| other - ours).collect()
    };
    let (rounding, gpu) = (difference(&rounded), difference(&trace.losses));
    println!("{}, {steps} steps:", case.name);
    println!("  step       flex       wgpu − flex   last bit of inputs");
    let shown = (0..steps).filter(|step| *step == 0 || (step + 1) % (steps / 10).max(1) == 0);
    for step in shown {
        println!(
            "  {:>4} {:>12.7} {:>14.1e} {:>20.1e}",
            step + 1,
            on_cpu[step],
            gpu[step],
            rounding[step]
        );
    }
    let largest = |values: &[f64]| {
        values
            .iter()
            .fold(0.0, |most: f64, each| most.max(each.abs()))
    };
    let allowed = LEAST.max(TIMES_ROUNDING * largest(&rounding));
    // NaN is not close.
    let is_close = largest(&gpu) <= allowed && gpu.iter().all(|each| each.is_finite());
    println!(
        "  largest difference {:.1e} of {allowed:.1e} allowed: {}",
        largest(&gpu),
        if is_close { "close" } else { "NOT CLOSE" }
    );
    println!(
        "  reads from the GPU: {} in the steps after the first, {} for losses",
        trace.reads_of_steps, trace.reads_of_losses
    );
    Ok(is_close && trace.reads_of_steps == 0)
}

/// The losses of a training run, and its reads from the GPU.
#[derive(Default)]
struct Trace {
    /// The loss of every step.
    losses: Vec<f64>,
    /// Reads from the GPU during steps, except the first, which prepares the others.
    reads_of_steps: u64,
    /// Reads from the GPU between steps.
    reads_of_losses: u64,
}

impl Trace {
    fn of(
        model: AnyModel,
        data: TrainingData,
        training: &MiniBatchTraining,
    ) -> Result<Self, TrainingError> {
        let mut trainer = MiniBatchTrainer::new(model, data, training.clone());
        let mut trace = Self::default();
        while !trainer.is_finished() {
            let (is_first, before) = (trainer.steps_made() == 0, device_reads());
            let report = trainer.advance()?;
            let between = device_reads();
            trace.losses.extend(report.map(|report| report.loss));
            if trainer.are_reports_due() {
                let reports = trainer.read_reports()?;
                trace
                    .losses
                    .extend(reports.iter().map(|report| report.loss));
            }
            if !is_first {
                trace.reads_of_steps += between - before;
            }
            trace.reads_of_losses += device_reads() - between;
        }
        Ok(trace)
    }
}
