//! Comparison of a device with the CPU: every operation, kernel, mean, likelihood, posterior and
//! model, with gradients, and the errors for data without a valid result.
//!
//! A [`Case`] is one small computation. It runs on a device in single or double precision, and in
//! double precision on flex, from the same inputs and parameters.
//!
//! # Allowed error
//!
//! The allowed error of a quantity follows from the computation. Flex runs the case for a few
//! nearby inputs in both precisions; the largest difference measures how the computation amplifies
//! rounding errors, including those of a factored matrix, which grow with its condition number.
//! With the machine epsilon ε of the device's type, the longest axis n of the inputs, which bounds
//! the terms of a sum, and the largest entry `|q|` of the quantity,
//!
//! `allowed = n·ε·|q| + 8·(ε/ε₃₂)·max |q₃₂ − q₆₄|`.
//!
//! The factor of eight, the same for all cases, allows for a different order of sums and different
//! elementary functions.
//!
//! ```no_run
//! use burn::tensor::{DType, Device};
//! use burn_gp_device_checks::parity;
//!
//! for case in parity::cases() {
//!     let outcome = case.run(&Device::default(), DType::F32);
//!     println!("{}: {}", case.name(), if outcome.passed() { "passed" } else { "failed" });
//! }
//! ```

mod comparison;
mod failures;
mod harness;
mod kernels;
mod likelihoods;
mod means;
mod models;
mod operations;
mod posteriors;

use std::{error::Error, fmt, time::Instant};

use burn::tensor::{DType, Device};

pub use comparison::Comparison;
use comparison::compared;
use harness::Harness;

use crate::caught::caught;

/// Why a computation or a check failed.
type Reason = Box<dyn Error + Send + Sync>;

/// A computation, which records its quantities.
type Compute = Box<dyn Fn(&mut Harness) -> Result<(), Reason> + Send + Sync>;

/// A computation that must end with a typed error.
type Fail = Box<dyn Fn(&Device, DType) -> Result<(), Reason> + Send + Sync>;

/// What a case tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// An operation of [`burn_gp_core::ops`].
    Operation,
    /// A kernel.
    Kernel,
    /// A mean function.
    Mean,
    /// A likelihood.
    Likelihood,
    /// A posterior.
    Posterior,
    /// A ready-made model.
    Model,
    /// Data without a valid result, which must cause an error.
    Failure,
}

impl fmt::Display for Group {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Operation => "operation",
            Self::Kernel => "kernel",
            Self::Mean => "mean",
            Self::Likelihood => "likelihood",
            Self::Posterior => "posterior",
            Self::Model => "model",
            Self::Failure => "failure",
        })
    }
}

/// One small computation that is compared.
pub struct Case {
    group: Group,
    name: String,
    test: Test,
}

enum Test {
    Compare(Compute),
    Fail(Fail),
}

/// The result of a case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The quantities that were compared, or why there are none.
    pub result: Result<Vec<Comparison>, String>,
    /// The time on the device, including compilation.
    pub seconds: f64,
}

impl Outcome {
    /// Whether every error is allowed.
    pub fn passed(&self) -> bool {
        (self.result.as_ref()).is_ok_and(|all| all.iter().all(Comparison::passed))
    }

    /// The quantity whose error is the largest share of the allowed error.
    pub fn worst(&self) -> Option<&Comparison> {
        let all = self.result.as_ref().ok()?;
        all.iter().max_by(|a, b| a.share().total_cmp(&b.share()))
    }
}

impl Case {
    fn compare(
        group: Group,
        name: impl Into<String>,
        compute: impl Fn(&mut Harness) -> Result<(), Reason> + Send + Sync + 'static,
    ) -> Self {
        Self {
            group,
            name: name.into(),
            test: Test::Compare(Box::new(compute)),
        }
    }

    /// What the case tests.
    pub fn group(&self) -> Group {
        self.group
    }

    /// The name, which begins with the group.
    pub fn name(&self) -> String {
        format!("{} {}", self.group, self.name)
    }

    /// Runs the case on a device, with or without autodiff. If the device fails, the outcome has
    /// the reason.
    pub fn run(&self, device: &Device, dtype: DType) -> Outcome {
        let device = device.clone().inner();
        let mut seconds = 0.0;
        let result = match &self.test {
            Test::Compare(compute) => {
                compared(&self.name(), compute, (&device, dtype), &mut seconds)
            }
            Test::Fail(fail) => {
                let start = Instant::now();
                let result = caught(|| fail(&device.autodiff(), dtype));
                seconds = start.elapsed().as_secs_f64();
                result.map(|()| Vec::new())
            }
        };
        Outcome { result, seconds }
    }
}

/// Every case, from operations up to models.
pub fn cases() -> Vec<Case> {
    let groups = [
        operations::cases(),
        kernels::cases(),
        means::cases(),
        likelihoods::cases(),
        posteriors::cases(),
        models::cases(),
        failures::cases(),
    ];
    groups.into_iter().flatten().collect()
}
