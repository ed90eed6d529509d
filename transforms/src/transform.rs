//! Monotone transformations and their inverses.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    TransformName,
    power::{MOST_POWER, logarithm_of, power_of},
    quantiles::{interpolated, slope},
};

/// A monotone transformation of the values of a column.
///
/// | transformation | value | possible values |
/// |---|---|---|
/// | logarithm | `log y` | `y > 0` |
/// | Box-Cox | `(y^λ − 1)/λ`; `log y` for `λ = 0` | `y > 0` |
/// | Yeo-Johnson | Box-Cox of `1 + y` for `y ≥ 0`, `−((1 − y)^{2−λ} − 1)/(2 − λ)` below | all |
/// | quantile | the share of the training rows with a smaller value, linear between up to 1000 of them and beyond the ends | all |
///
/// Box and Cox, *An analysis of transformations*, 1964; Yeo and Johnson, *A new family of power transformations to
/// improve normality or symmetry*, 2000, equation 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Transform {
    /// The logarithm.
    Log,
    /// Box-Cox.
    BoxCox {
        /// λ, from 0 to 2.
        power: f64,
    },
    /// Yeo-Johnson.
    YeoJohnson {
        /// λ, from 0 to 2.
        power: f64,
    },
    /// The share of the training rows with a smaller value.
    Quantile {
        /// Values in ascending order.
        values: Vec<f64>,
        /// Their shares, in ascending order.
        shares: Vec<f64>,
    },
}

impl Transform {
    /// The name.
    pub fn name(&self) -> TransformName {
        match self {
            Self::Log => TransformName::Log,
            Self::BoxCox { .. } => TransformName::BoxCox,
            Self::YeoJohnson { .. } => TransformName::YeoJohnson,
            Self::Quantile { .. } => TransformName::Quantile,
        }
    }

    /// The transformed value `g(y)`; NaN for NaN and for values that the transformation does not take.
    pub fn apply(&self, value: f64) -> f64 {
        match self {
            _ if !self.name().takes(value) => f64::NAN,
            Self::Log => value.ln(),
            Self::BoxCox { power } => power_of(value.ln(), *power),
            Self::YeoJohnson { power } if value < 0.0 => -power_of((-value).ln_1p(), 2.0 - power),
            Self::YeoJohnson { power } => power_of(value.ln_1p(), *power),
            Self::Quantile { values, shares } => interpolated(values, shares, value),
        }
    }

    /// The lowest limit of transformed values, at the lower end of possible values: `−1/λ` for Box-Cox with λ > 0, else −∞.
    pub fn lowest(&self) -> f64 {
        match self {
            Self::BoxCox { power } if *power > 0.0 => -power.recip(),
            _ => f64::NEG_INFINITY,
        }
    }

    /// The transformed value; for values that the transformation does not take its limit at zero, and −∞ below. With it,
    /// `P(y ≤ t) = P(g(y) ≤ g(t))` for every number t. NaN for NaN.
    pub fn apply_or_limit(&self, value: f64) -> f64 {
        match self.name().takes(value) || value.is_nan() {
            true => self.apply(value),
            false if value == 0.0 => self.lowest(),
            false => f64::NEG_INFINITY,
        }
    }

    /// The value `g⁻¹(z)` of a transformed value. Below the range of Box-Cox it is 0.
    pub fn invert(&self, transformed: f64) -> f64 {
        match self {
            Self::Log => transformed.exp(),
            Self::BoxCox { power } => logarithm_of(transformed, *power).exp(),
            Self::YeoJohnson { power } if transformed < 0.0 => {
                -logarithm_of(-transformed, 2.0 - power).exp_m1()
            }
            Self::YeoJohnson { power } => logarithm_of(transformed, *power).exp_m1(),
            Self::Quantile { values, shares } => interpolated(shares, values, transformed),
        }
    }

    /// `log g′(y)`: what the log density of a value has in addition to that of the transformed value.
    pub fn log_slope(&self, value: f64) -> f64 {
        match self {
            Self::Log => -value.ln(),
            Self::BoxCox { power } => (power - 1.0) * value.ln(),
            Self::YeoJohnson { power } => (power - 1.0) * value.signum() * value.abs().ln_1p(),
            Self::Quantile { values, shares } => slope(values, shares, value).ln(),
        }
    }

    /// Whether the numbers of the transformation are possible: a power from 0 to 2, or finite and ascending values with as
    /// many ascending shares.
    pub fn is_possible(&self) -> bool {
        let ascends = |numbers: &[f64]| {
            let is_finite = numbers.iter().all(|number| number.is_finite());
            is_finite && numbers.is_sorted_by(|first, second| first < second)
        };
        match self {
            Self::Log => true,
            Self::BoxCox { power } | Self::YeoJohnson { power } => {
                (0.0..=MOST_POWER).contains(power)
            }
            Self::Quantile { values, shares } => {
                !values.is_empty()
                    && values.len() == shares.len()
                    && ascends(values)
                    && ascends(shares)
            }
        }
    }
}

impl fmt::Display for Transform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoxCox { power } | Self::YeoJohnson { power } => {
                write!(formatter, "{} with power {power:.3}", self.name())
            }
            Self::Log | Self::Quantile { .. } => self.name().fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests;
