//! The comparison of a device with the CPU, and its training steps.

use std::{fmt, time::Instant};

use burn::tensor::{DType, Device};
use burn_gp_device_checks::{
    device_step::{StepMeasurement, StepModel, StepSizes, measure_steps, step_models},
    parity::{self, Case, Outcome},
};
use clap::Args;

use super::{ComputeTarget, found::details, reports::without_reports};
use crate::arguments::{DeviceName, DtypeName, name_of};
use crate::failure::Failure;
use crate::option_error::OptionError;
use crate::progress::RowProgress;
use crate::standard_output::print;
use crate::text_table::aligned;

/// The number of worst errors in the summary.
const WORST: usize = 5;

/// The arguments of `devices check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Device: flex, ndarray, wgpu, vulkan, metal, cuda or rocm, or remote://HOST:PORT of a worker;
    /// `burn-gp devices` lists the devices and marks the default
    #[arg(long, value_name = "DEVICE")]
    device: Option<DeviceName>,
    /// Floating-point type [default: f64 on CPUs, f32 on GPUs]
    #[arg(long, value_name = "DTYPE")]
    dtype: Option<DtypeName>,
    /// Check only cases and time only models whose name contains this text
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Time training steps of sizes for a GPU (M = 1024, B = 8192) instead of small ones
    #[arg(long)]
    large: bool,
    /// Number of timed training steps
    #[arg(long, value_name = "N", default_value_t = 10)]
    steps: usize,
    /// Do not show progress
    #[arg(long)]
    quiet: bool,
}

/// Checks a device and prints the summary.
///
/// # Errors
///
/// [`Failure::DeviceCheck`] if a case fails.
pub fn check(arguments: &CheckArguments) -> Result<(), Failure> {
    let place = ComputeTarget::new(arguments.device.clone(), arguments.dtype)?;
    let (device, dtype) = place.open()?;
    let is_asked = |name: &str| (arguments.only.as_ref()).is_none_or(|only| name.contains(only));
    let cases: Vec<Case> = (parity::cases().into_iter())
        .filter(|case| is_asked(&case.name()))
        .collect();
    let sizes = match arguments.large {
        true => StepSizes::LARGE,
        false => StepSizes::SMALL,
    };
    let models: Vec<StepModel> = (step_models(&sizes).into_iter())
        .filter(|model| is_asked(model.name))
        .collect();
    if cases.is_empty() && models.is_empty() {
        return Err(OptionError::NoSuchCase(arguments.only.clone().unwrap_or_default()).into());
    }
    let start = Instant::now();
    let (outcomes, steps) = without_reports(|| {
        let outcomes = outcomes(&cases, &device, dtype, arguments.quiet);
        let mut progress = RowProgress::new("model", models.len(), arguments.quiet);
        let steps = models.iter().enumerate().map(|(index, model)| {
            progress.update(index);
            let steps = measure_steps(model, &device, dtype, arguments.steps);
            (model.name, steps)
        });
        (outcomes, steps.collect::<Vec<_>>())
    });
    let summary = Summary {
        description: details(&place.device, &device),
        place,
        seconds: start.elapsed().as_secs_f64(),
        outcomes,
        sizes,
        steps,
    };
    let printed = print(&summary.to_string());
    let failed = summary.failed();
    match failed {
        0 => printed,
        failed => Err(Failure::DeviceCheck {
            device: summary.place.device.to_string(),
            failed,
            count: summary.outcomes.len() + summary.steps.len(),
        }),
    }
}

fn outcomes(cases: &[Case], device: &Device, dtype: DType, quiet: bool) -> Vec<(String, Outcome)> {
    let mut progress = RowProgress::new("case", cases.len(), quiet);
    let outcomes = cases.iter().enumerate().map(|(index, case)| {
        progress.update(index);
        (case.name(), case.run(device, dtype))
    });
    outcomes.collect()
}

/// The results for a device, as text to paste into a report.
struct Summary {
    place: ComputeTarget,
    /// The description of the device by its driver.
    description: String,
    seconds: f64,
    outcomes: Vec<(String, Outcome)>,
    sizes: StepSizes,
    steps: Vec<(&'static str, Result<StepMeasurement, String>)>,
}

impl Summary {
    fn failed(&self) -> usize {
        let cases = self
            .outcomes
            .iter()
            .filter(|(_, outcome)| !outcome.passed());
        let steps = self.steps.iter().filter(|(_, steps)| steps.is_err());
        cases.count() + steps.count()
    }

    /// Writes the cases that failed, with the error or the reason.
    fn failures(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome) in &self.outcomes {
            match (&outcome.result, outcome.worst()) {
                (Err(reason), _) => {
                    writeln!(formatter, "FAILED  {name}: {}", first_line(reason))?;
                }
                (_, Some(worst)) if !worst.passed() => writeln!(
                    formatter,
                    "FAILED  {name}, {}: error {:.1e}, allowed {:.1e}",
                    worst.quantity, worst.error, worst.allowed
                )?,
                _ => (),
            }
        }
        Ok(())
    }

    /// Writes the largest errors of the cases that passed.
    fn worst(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = self.outcomes.iter().filter(|(_, outcome)| outcome.passed());
        let mut worst: Vec<_> = passed
            .filter_map(|(name, outcome)| Some((name, outcome.worst()?)))
            .collect();
        worst.sort_by(|(_, a), (_, b)| b.share().total_cmp(&a.share()));
        if !worst.is_empty() {
            writeln!(
                formatter,
                "largest errors as fractions of the allowed errors:"
            )?;
        }
        for (name, worst) in worst.iter().take(WORST) {
            writeln!(
                formatter,
                "{:8.2}  {name}, {}",
                worst.share(),
                worst.quantity
            )?;
        }
        Ok(())
    }

    fn steps(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return Ok(());
        }
        let StepSizes {
            inducing, batch, ..
        } = self.sizes;
        writeln!(formatter, "training steps, M = {inducing}, B = {batch}:")?;
        let head = ["model", "ms", "launches", "reads"].map(str::to_owned);
        let mut rows = vec![head.to_vec()];
        let measured = self.steps.iter().filter_map(|(name, steps)| {
            let steps = steps.as_ref().ok()?;
            Some(vec![
                (*name).to_owned(),
                format!("{:.2}", 1e3 * steps.seconds),
                steps.launches.count().to_string(),
                format!("{:.1}", steps.reads),
            ])
        });
        rows.extend(measured);
        for line in aligned(&rows) {
            writeln!(formatter, "  {line}")?;
        }
        for (name, steps) in &self.steps {
            if let Err(reason) = steps {
                writeln!(formatter, "FAILED  {name}: {}", first_line(reason))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "burn-gp {}", env!("CARGO_PKG_VERSION"))?;
        let (device, dtype) = (&self.place.device, name_of(self.place.dtype));
        writeln!(formatter, "device: {device}, {}, {dtype}", self.description)?;
        let count = self.outcomes.len();
        let passed = self.outcomes.iter().filter(|(_, outcome)| outcome.passed());
        let (passed, seconds) = (passed.count(), self.seconds);
        writeln!(
            formatter,
            "cases: {passed} of {count} passed in {seconds:.0} s"
        )?;
        self.failures(formatter)?;
        self.worst(formatter)?;
        self.steps(formatter)
    }
}

/// The first line of a reason, which may have a backtrace.
fn first_line(reason: &str) -> &str {
    reason.lines().next().unwrap_or_default()
}
