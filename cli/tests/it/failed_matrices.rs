//! A covariance matrix that cannot be factored in the middle of training: on GPUs the step is skipped
//! and said once, and if no later step succeeds, training ends with the error and the last checkpoint.
//! The CPU reports the failure at its step.
//!
//! The matrices come from a kernel of another crate, as this test is one. The program with that kernel
//! is this test program, which starts itself.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
};

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    kernels::{
        AnyKernel, Kernel, KernelDefinition, KernelInputs, StationaryConfig, StationaryKernel,
    },
    ops::Stationary,
};
use serde::{Deserialize, Serialize};

use crate::support::{read, write_regression};

/// A Matérn kernel whose matrix of the inducing points is `K − shift·I` in the steps `at` to
/// `at + times − 1`. The matrix of all functions at once is the only square one here.
#[derive(Module, Debug)]
struct Failing {
    matern: StationaryKernel,
    #[module(skip)]
    config: FailingConfig,
}

/// Training steps of this process so far. Only steps of training have autodiff.
static STEPS: AtomicUsize = AtomicUsize::new(0);

impl Failing {
    fn fails(&self, is_training: bool) -> bool {
        let FailingConfig { at, times, .. } = self.config;
        let step = match is_training {
            true => STEPS.fetch_add(1, Ordering::Relaxed) + 1,
            false => STEPS.load(Ordering::Relaxed),
        };
        (at..at.saturating_add(times)).contains(&step)
    }
}

impl Kernel for Failing {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let ([_, rows, _], [_, columns, _]) = (x1.dims(), x2.dims());
        let device = x1.device();
        let identity = Tensor::<2>::eye(rows, &device).cast(x1.dtype());
        let covariance = self.matern.covariance(x1, x2);
        if rows != columns || !self.fails(device.is_autodiff()) {
            return covariance;
        }
        covariance - identity.unsqueeze() * self.config.shift
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        self.matern.diagonal(x)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailingConfig {
    at: usize,
    times: usize,
    shift: f64,
}

impl KernelDefinition for FailingConfig {
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let failing = Failing {
            matern: StationaryConfig::new(Stationary::Matern52).init(inputs.columns(), options),
            config: self.clone(),
        };
        failing.boxed()
    }
}

burn_gp_core::register!(
    Kernel,
    "failing",
    FailingConfig,
    "A kernel with matrices that cannot be factored"
);

/// The variable with the command line of the program, a word a line.
const COMMAND_LINE: &str = "BURN_GP_TEST_COMMAND_LINE";

/// The program with the failing kernel, if this process was started as it.
#[test]
fn program() {
    if let Ok(words) = std::env::var(COMMAND_LINE) {
        let code = burn_gp_cli::run(words.lines().map(Into::into));
        std::process::exit(code.into());
    }
}

/// Trains on `device` in `folder`, with a kernel that fails.
fn train(folder: &Path, device: &str, kernel: &str) -> Output {
    write_regression(&folder.join("data.csv"), 120);
    let line = format!(
        "burn-gp train --data data.csv --out run --quiet --device {device} --dtype f32 --steps 160 \
         --inducing 12 --batch-size 32 --checkpoint-every 50 --kernel failing({kernel})"
    );
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .current_dir(folder)
        .env_remove("BURN_GP_DATA")
        .env("BURN_DEVICE", "flex")
        .env(COMMAND_LINE, line.replace(' ', "\n"))
        .args(["failed_matrices::program", "--exact", "--nocapture"]);
    command.output().expect("the program starts")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn gpus() -> &'static [&'static str] {
    match cfg!(feature = "wgpu") {
        true => &["wgpu"],
        false => {
            println!("skipped: no GPU in this build");
            &[]
        }
    }
}

/// The checkpoints of a run.
fn checkpoints(run: &Path) -> Vec<String> {
    let entries = fs::read_dir(run.join("checkpoint")).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut steps: Vec<_> = names.filter(|name| name.starts_with("step-")).collect();
    steps.sort();
    steps
}

/// Eigenvalues that are a little below zero are mended by more jitter within the step.
#[test]
fn a_matrix_that_needs_more_jitter_costs_no_step() {
    for device in ["flex"].iter().chain(gpus()) {
        let folder = temp_dir::TempDir::new().unwrap();
        let output = train(folder.path(), device, "at=137,times=1,shift=1e-4");
        assert_eq!(
            output.status.code(),
            Some(0),
            "{device}: {}",
            errors(&output)
        );
        assert!(!errors(&output).contains("skipped"), "{}", errors(&output));
        let metrics = read(&folder.path().join("run/metrics.json"));
        assert!(!metrics.contains("skipped"), "{metrics}");
    }
}

#[test]
fn a_matrix_that_fails_once_costs_one_step_on_a_gpu() {
    for device in gpus() {
        let folder = temp_dir::TempDir::new().unwrap();
        let output = train(folder.path(), device, "at=137,times=1,shift=10");
        assert_eq!(
            output.status.code(),
            Some(0),
            "{device}: {}",
            errors(&output)
        );
        let said = "1 step was skipped, because the loss was not finite";
        assert_eq!(
            errors(&output).matches(said).count(),
            1,
            "{}",
            errors(&output)
        );
        let metrics = read(&folder.path().join("run/metrics.json"));
        assert_eq!(metrics.matches(said).count(), 1, "{metrics}");
        let log = read(&folder.path().join("run/training_log.csv"));
        let line = |step: usize| log.lines().nth(step).unwrap_or_default().to_owned();
        let is_finite = |step| {
            let fields: Vec<String> = line(step).split(',').map(str::to_owned).collect();
            assert_eq!(fields[0], step.to_string(), "{fields:?}");
            fields[2].parse().is_ok_and(f64::is_finite)
        };
        assert!(
            is_finite(136) && !is_finite(137) && is_finite(138),
            "{}",
            line(137)
        );
    }
}

#[test]
fn a_matrix_that_never_has_a_factor_again_ends_training_with_a_checkpoint() {
    for device in ["flex"].iter().chain(gpus()) {
        let folder = temp_dir::TempDir::new().unwrap();
        let output = train(folder.path(), device, "at=137,times=1000000,shift=10");
        assert_eq!(
            output.status.code(),
            Some(1),
            "{device}: {}",
            errors(&output)
        );
        let message = errors(&output);
        assert!(
            message.contains("error: training stopped at step 137: ")
                && message.contains("is not positive definite"),
            "{device}: {message}"
        );
        let run = folder.path().join("run");
        assert!(!run.join("metrics.json").exists());
        assert_eq!(checkpoints(&run), ["step-100"], "{device}: {message}");
    }
}
