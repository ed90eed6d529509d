//! The arguments of the benchmark.

use std::error::Error;

use burn::tensor::DType;
use burn_gp_device_checks::device_step::StepSizes;

use crate::argument_values::{dtype, number};

/// The arguments after `--`.
pub struct Arguments {
    pub device: Option<String>,
    pub dtype: DType,
    pub only: Option<String>,
    pub steps: usize,
    pub kernels: bool,
    /// Seconds.
    pub latency: f64,
    small: bool,
    inducing: Option<usize>,
    batch: Option<usize>,
}

impl Arguments {
    pub fn parse() -> Result<Self, Box<dyn Error>> {
        let mut found = Self {
            device: None,
            dtype: DType::F32,
            only: None,
            steps: 10,
            kernels: false,
            latency: 5e-6,
            small: false,
            inducing: None,
            batch: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--device" => found.device = Some(value()?),
                "--dtype" => found.dtype = dtype(&value()?)?,
                "--only" => found.only = Some(value()?),
                "--steps" => found.steps = number(&value()?)?,
                "--inducing" => found.inducing = Some(number(&value()?)?),
                "--batch" => found.batch = Some(number(&value()?)?),
                "--latency" => found.latency = 1e-6 * number::<f64>(&value()?)?,
                "--kernels" => found.kernels = true,
                "--small" => found.small = true,
                "--bench" => {} // cargo says so
                other => return Err(format!("unknown option {other:?}").into()),
            }
        }
        Ok(found)
    }

    pub fn sizes(&self) -> StepSizes {
        let sizes = match self.small {
            true => StepSizes::SMALL,
            false => StepSizes::LARGE,
        };
        StepSizes {
            inducing: self.inducing.unwrap_or(sizes.inducing),
            batch: self.batch.unwrap_or(sizes.batch),
            ..sizes
        }
    }
}
