//! Ten classes of images (Section 4.4, Table 2).
//!
//! As in the paper: the 60 000 digits to train on and the 10 000 to test on, robust-max likelihood,
//! 750 inducing variables, 450 000 steps of Adam with learning rate 0.001 and batches of 200; R-SVGP
//! with log-linear step sizes down to a residual of 1e-6 and exact traces. Either a
//! squared-exponential kernel of whole images with a lengthscale for each of the 784 pixels and
//! inducing points that start at random digits, or the weighted convolutional kernel: a
//! squared-exponential kernel with one lengthscale of patches of 5 by 5 pixels, a weight for each
//! place, inducing patches that start at random patches, and a learning rate that goes down to
//! 10^(−1/3) of itself 15 times.
//!
//! Where the paper is silent, lengthscales start at 10 for images, which is about the distance of two
//! digits, and at 1 for patches.

use std::path::PathBuf;

use burn_gp::ops::Stationary;
use burn_gp_datasets::DataSource;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::method::{Method, Relaxed};
use super::mnist_table;
use crate::arguments::{
    InitializerName, InversionName, LayerOptions, LikelihoodName, MeanName, ModelName,
    PosteriorName, RunOptions, ScheduleName, name_of,
};
use crate::experiment::{
    CommonOptions, ExperimentFolder,
    options::Place,
    watch::{Watch, all_made},
};
use crate::failure::Failure;
use crate::kernel_expression::KernelExpression;
use crate::likelihood::ROBUST_MAX_ERRORS;
use crate::parameter_options::ValuesOption;
use crate::training_run::TrainingRun;

const DATA: &str = "mnist";

/// Of the paper.
const BATCH: usize = 200;
const STEPS: usize = 450_000;
const INDUCING: usize = 750;
const STAGES: usize = 15;

const RELAXED: Relaxed = Relaxed {
    inversion: InversionName::LogLinear,
    tolerance: 1e-6,
    probes: None,
    damping: None,
};

/// The kernels of Table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DigitKernel {
    /// Of patches, with weights
    Conv,
    /// Of whole images
    Rbf,
}

/// What `experiment inverse-free-mnist` takes.
#[derive(Args, Clone, Debug)]
pub struct MnistOptions {
    /// Models [default: all]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    models: Vec<Method>,
    /// Inducing points or patches M [default: 750; quick: 100]
    #[arg(long, value_name = "M")]
    inducing: Option<usize>,
    /// Seeds, the first one and those after it [default: 5; quick: 1]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// Optimizer steps [default: 450000; quick: 300]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// Images in a batch [default: 200]
    #[arg(long, value_name = "B")]
    batch_size: Option<usize>,
    /// Adam's learning rate [default: 0.001; quick: 0.01]
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// What `experiment conv-mnist` takes.
#[derive(Args, Clone, Debug)]
pub struct ConvMnistOptions {
    /// Kernels [default: all]
    #[arg(long, value_name = "KERNELS", value_delimiter = ',')]
    kernels: Vec<DigitKernel>,
    /// What both kernels take.
    #[command(flatten)]
    mnist: MnistOptions,
}

/// Runs `burn-gp experiment inverse-free-mnist`.
///
/// # Errors
///
/// [`Failure`], which says what to do; runs that break off are named and left out.
pub(in crate::experiment) fn mnist(options: &MnistOptions) -> Result<(), Failure> {
    options.run("inverse-free-mnist", &[DigitKernel::Rbf])
}

/// Runs `burn-gp experiment conv-mnist`.
///
/// # Errors
///
/// As [`mnist`].
pub(in crate::experiment) fn conv_mnist(options: &ConvMnistOptions) -> Result<(), Failure> {
    let kernels = match options.kernels.as_slice() {
        [] => DigitKernel::value_variants(),
        kernels => kernels,
    };
    options.mnist.run("conv-mnist", kernels)
}

impl MnistOptions {
    /// The experiment called `name`.
    fn run(&self, name: &str, kernels: &[DigitKernel]) -> Result<(), Failure> {
        let common = &self.common;
        let place = common.place()?;
        place.open()?;
        DataSource::resolve(DATA, common.data_dir().as_deref())?;
        let shared = self.shared(place);
        let settings = json!({
            "inducing": shared.inducing,
            "steps": shared.steps,
            "batch_size": shared.batch_size,
            "learning_rate": shared.learning_rate,
            "dtype": place.dtype,
            "device": place.device,
        });
        let folder = ExperimentFolder::open(name, common, &settings)?;
        let watch = Watch::new(&folder, common.quiet)?;
        let methods = match self.models.as_slice() {
            [] => Method::value_variants(),
            models => models,
        };
        let seeds = self.seeds.unwrap_or(common.by_scale(1, 5));
        let mut broken = Vec::new();
        for seed in common.seed..common.seed + seeds {
            for &kernel in kernels {
                for &method in methods {
                    let title = format!("{}, {}, seed {seed}", kernel.title(), method.title());
                    let run = TrainingRun {
                        folder: runs_of(&folder, kernel, method).join(format!("seed-{seed}")),
                        options: RunOptions {
                            seed: Some(seed),
                            ..self.told(kernel, method, place)
                        },
                    };
                    if !watch.run(&run, &title)? {
                        broken.push(title);
                    }
                }
            }
        }
        let paper = self.as_in_paper();
        let in_paper = |kernel, method| paper.told(kernel, method, place);
        mnist_table::report(in_paper, &folder)?;
        all_made(broken)
    }

    /// The same as in the paper.
    fn as_in_paper(&self) -> Self {
        Self {
            models: Vec::new(),
            inducing: None,
            seeds: None,
            steps: None,
            batch_size: None,
            learning_rate: None,
            common: self.common.as_in_paper(),
        }
    }

    /// What a run is told, but for its seed.
    fn told(&self, kernel: DigitKernel, method: Method, place: Place) -> RunOptions {
        let options = method.with_model(self.shared(place), &RELAXED);
        kernel.with_kernel(options, &self.common)
    }

    /// What all runs have in common.
    fn shared(&self, place: Place) -> RunOptions {
        let common = &self.common;
        RunOptions {
            data: Some(DATA.into()),
            data_dir: common.data_dir(),
            split: Some(0),
            kernel: Some(KernelExpression::of_unit_lengthscale(
                Stationary::SquaredExponential,
            )),
            mean: Some(MeanName::Zero),
            likelihood: Some(LikelihoodName::RobustMax),
            fix: Some(vec![ROBUST_MAX_ERRORS.into()]),
            inducing: Some(self.inducing.unwrap_or(common.by_scale(100, INDUCING))),
            initializer: Some(InitializerName::Subset),
            steps: Some(self.steps.unwrap_or(common.by_scale(300, STEPS))),
            batch_size: Some(self.batch_size.unwrap_or(BATCH)),
            learning_rate: Some(self.learning_rate.unwrap_or(common.by_scale(1e-2, 1e-3))),
            dtype: Some(place.dtype),
            device: Some(place.device),
            ..RunOptions::default()
        }
    }
}

impl DigitKernel {
    /// Its name in the paper.
    pub fn title(self) -> &'static str {
        match self {
            Self::Conv => "weighted conv",
            Self::Rbf => "RBF",
        }
    }

    /// `options`, of a model of one layer, with the kernel.
    fn with_kernel(self, options: RunOptions, common: &CommonOptions) -> RunOptions {
        let starting_at = |path: &str, value| {
            Some(vec![ValuesOption {
                path: path.into(),
                values: vec![value],
            }])
        };
        match self {
            Self::Rbf => RunOptions {
                isotropic: Some(false),
                set: starting_at("kernel.lengthscale", 10.0),
                schedule: Some(ScheduleName::Constant),
                ..options
            },
            Self::Conv => RunOptions {
                layers: LayerOptions {
                    posterior: options.model.and_then(PosteriorName::of),
                    patch: Some(vec![5]),
                    stride: Some(vec![1]),
                    located: Some(false),
                    ..LayerOptions::default()
                },
                model: Some(ModelName::ConvGp),
                isotropic: Some(true),
                set: starting_at("layers.output.kernel.base.lengthscale", 1.0),
                ..staged(options, common)
            },
        }
    }
}

/// `options` with the paper's stages of the learning rate. In a few hundred steps these would end
/// before the model has moved: at quick scale it stays as it is.
fn staged(options: RunOptions, common: &CommonOptions) -> RunOptions {
    RunOptions {
        schedule: Some(common.by_scale(ScheduleName::Constant, ScheduleName::Stairs)),
        stages: common.by_scale(None, Some(STAGES)),
        stage_factor: common.by_scale(None, Some(10f64.powf(-1.0 / 3.0))),
        ..options
    }
}

/// The folder of the runs of a model with a kernel.
pub(super) fn runs_of(folder: &ExperimentFolder, kernel: DigitKernel, method: Method) -> PathBuf {
    folder.runs().join(name_of(kernel)).join(name_of(method))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::departures::testing::{departures_between, typed};

    #[test]
    fn other_rates_and_stages_are_departures_from_the_paper() {
        let departures = |line: &str, kernel| {
            let options: MnistOptions = typed(line);
            let place = options.common.place().unwrap();
            let here = options.told(kernel, Method::R, place);
            departures_between(here, options.as_in_paper().told(kernel, Method::R, place))
        };
        for kernel in [DigitKernel::Conv, DigitKernel::Rbf] {
            assert_eq!(departures("--scale paper", kernel), "");
        }
        let rate = "learning-rate 0.1 instead of 0.001";
        let line = "--scale paper --learning-rate 0.1";
        assert_eq!(departures(line, DigitKernel::Rbf), rate);
        // All sizes are the paper's, but not the stages of the rate.
        let sizes = "--steps 450000 --inducing 750 --learning-rate 0.001";
        assert_eq!(departures(sizes, DigitKernel::Rbf), "");
        let stages = departures(sizes, DigitKernel::Conv);
        assert!(
            stages.contains("schedule constant instead of stairs"),
            "{stages}"
        );
    }
}
