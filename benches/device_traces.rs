//! The losses of training on a GPU beside those of the same training on the CPU, both in single
//! precision.
//!
//! `BURN_GP_DATA=… cargo bench -p burn-gp-models --features wgpu --bench device_traces [-- --steps N]
//! [--only MODEL]`
//!
//! trains SOLVE-GP, the inverse-free posterior, and SVGP with natural gradients on the training rows of
//! the first split of elevators, 500 steps on batches of 128 with 64 inducing points (32 in each of the
//! two sets of SOLVE-GP), from the same first parameters on the same batches. A row is a step: the loss
//! per datum on the CPU, and the difference on the GPU.
//!
//! Rounding alone moves a trace, because Adam and natural gradients carry every difference on. How far
//! it does so is measured: a second run on the CPU has inputs that differ in the last bit
//! (`x·(1 + 2⁻²³)`). The GPU, whose sums have another order, may differ eight times as much, and by at
//! least 10⁻⁴. The program ends with 1 if it differs more.

use std::{error::Error, process::ExitCode};

use burn::{
    module::Module,
    tensor::{DType, Device, DeviceKind},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    likelihoods::GaussianConfig,
    ops::Stationary,
    optim::NaturalGradient,
    variational::{InverseFreeConfig, OrthogonalConfig, PosteriorConfig, WhitenedConfig},
};
use burn_gp_datasets::{DataSource, Standardizer};
use burn_gp_models::{
    AnySvgp, SvgpConfig,
    training::{MiniBatchTrainer, MiniBatchTraining, Trainer, TrainingData, TrainingError},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const BATCH: usize = 128;

/// How many times as far as rounding on the CPU the GPU may move a trace, and the least allowance.
const TIMES_ROUNDING: f64 = 8.0;
const LEAST: f64 = 1e-4;

/// A model with its training.
struct Case {
    name: &'static str,
    posterior: PosteriorConfig,
    /// The numbers of inducing points in the two sets.
    inducing: (usize, usize),
    natural_gradient: Option<NaturalGradient>,
}

fn cases() -> [Case; 3] {
    [
        Case {
            name: "solve",
            posterior: OrthogonalConfig::default().into(),
            inducing: (32, 32),
            natural_gradient: None,
        },
        Case {
            name: "inverse-free",
            posterior: InverseFreeConfig::default().into(),
            inducing: (64, 0),
            natural_gradient: None,
        },
        Case {
            name: "natural-gradients",
            posterior: WhitenedConfig::default().into(),
            inducing: (64, 0),
            natural_gradient: Some(NaturalGradient::new(0.1).with_warm_up(1e-4, 10)),
        },
    ]
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    if std::env::var_os("BURN_GP_DATA").is_none() {
        println!("skipped: BURN_GP_DATA does not name the folder with elevators");
        return Ok(ExitCode::SUCCESS);
    }
    let (mut steps, mut only) = (500, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--steps" => steps = words.next().ok_or("--steps needs a number")?.parse()?,
            "--only" => only = Some(words.next().ok_or("--only needs a model")?),
            "--bench" => {} // cargo says so
            other => return Err(format!("{other:?} is no option of this benchmark").into()),
        }
    }
    let (gpu, rows) = (Device::wgpu(DeviceKind::DefaultDevice), Rows::elevators()?);
    let mut is_close = true;
    for case in cases() {
        if only.as_ref().is_none_or(|only| only == case.name) {
            is_close &= compare(&case, &rows, &gpu, steps)?;
        }
    }
    Ok(ExitCode::from(u8::from(!is_close)))
}

/// Standardized rows.
struct Rows {
    inputs: Vec<f64>,
    targets: Vec<f64>,
}

impl Rows {
    /// The training rows of the first split.
    fn elevators() -> Result<Self, Box<dyn Error>> {
        let folder = std::env::var_os("BURN_GP_DATA").map(std::path::PathBuf::from);
        let source = DataSource::resolve("elevators", folder.as_deref())?;
        let dataset = source.load(None)?;
        let split = source.mask(dataset.rows())?.split(0)?;
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

/// Prints the traces of a model. Returns whether they are as close as rounding allows.
fn compare(case: &Case, rows: &Rows, gpu: &Device, steps: usize) -> Result<bool, Box<dyn Error>> {
    let cpu = Device::flex();
    let data = rows.on(&cpu, 1.0);
    let kernel = StationaryConfig::new(Stationary::Matern52);
    let (first, second) = case.inducing;
    let model = SvgpConfig::new(kernel, GaussianConfig { noise: 0.1 })
        .with_inducing(first)
        .with_orthogonal(second)
        .with_posterior(case.posterior.clone())
        .init(&data)?;
    let training = MiniBatchTraining {
        batch_size: BATCH,
        natural_gradient: case.natural_gradient,
        ..MiniBatchTraining::new(steps)
    };
    let on_cpu = losses(model.clone(), data, &training)?;
    let last_bit = rows.on(&cpu, 1.0 + f64::from(f32::EPSILON));
    let rounded = losses(model.clone(), last_bit, &training)?;
    let moved = model.valid().to_device(gpu).train();
    let on_gpu = losses(moved, rows.on(gpu, 1.0), &training)?;
    let difference = |other: &[f64]| -> Vec<f64> {
        let pairs = on_cpu.iter().zip(other);
        pairs.map(|(ours, other)| other - ours).collect()
    };
    let (rounding, gpu) = (difference(&rounded), difference(&on_gpu));
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
    Ok(is_close)
}

/// The loss of every step.
fn losses(
    model: AnySvgp,
    data: TrainingData,
    training: &MiniBatchTraining,
) -> Result<Vec<f64>, TrainingError> {
    let mut trainer = MiniBatchTrainer::new(model, data, training.clone());
    let mut losses = Vec::new();
    while !trainer.is_finished() {
        losses.extend(trainer.advance()?.map(|report| report.loss));
        if trainer.are_reports_due() {
            losses.extend(trainer.read_reports()?.iter().map(|report| report.loss));
        }
    }
    Ok(losses)
}
