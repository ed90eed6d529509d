//! Transformations of the values of a series.

use core::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::{ForecastError, Series};

/// A monotone transformation of the values before the model sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The values as they are.
    #[default]
    None,
    /// Their logarithms: effects multiply, and forecasts are positive.
    Log,
}

impl Display for Transform {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::Log => "log",
        })
    }
}

impl Transform {
    /// The transformed value.
    pub fn apply(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Log => value.ln(),
        }
    }

    /// The value with this transformed value.
    pub fn invert(self, transformed: f64) -> f64 {
        match self {
            Self::None => transformed,
            Self::Log => transformed.exp(),
        }
    }

    /// The sum of the logarithms of the derivatives at values: what the log density of the values has in addition to
    /// that of the transformed values.
    pub(super) fn log_slopes(self, values: &[f64]) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Log => -values.iter().map(|value| value.ln()).sum::<f64>(),
        }
    }

    /// The mean and the standard deviation of a value whose transformed value is normal with these.
    pub(super) fn moments(self, mean: f64, deviation: f64) -> (f64, f64) {
        match self {
            Self::None => (mean, deviation),
            // exp(m + v/2), √(e^v − 1) times the mean
            Self::Log => {
                let variance = deviation * deviation;
                let mean = (mean + 0.5 * variance).exp();
                (mean, mean * variance.exp_m1().sqrt())
            }
        }
    }

    /// # Errors
    ///
    /// If a value has no logarithm.
    pub(super) fn check(self, series: &Series) -> Result<(), ForecastError> {
        let fails = |value: &&f64| self == Self::Log && **value <= 0.0;
        match series.values().iter().find(fails) {
            Some(&value) => Err(ForecastError::NotPositive { value }),
            None => Ok(()),
        }
    }
}
