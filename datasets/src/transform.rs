//! Monotone transformations of columns.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::column_value::{ColumnValue, OfColumn};

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

/// The transformation of a target, and the statistics of its values before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetTransform {
    /// The transformation.
    pub transform: Transform,
    /// The mean of the training rows, in the units of the data.
    pub data_mean: f64,
    /// The standard deviation of the training rows, in the units of the data.
    pub data_scale: f64,
}

/// The name of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransformName {
    /// None: the column stays as it is, whatever a program would choose.
    None,
    /// The logarithm.
    Log,
    /// Box-Cox, with the power of the highest likelihood.
    BoxCox,
    /// Yeo-Johnson, with the power of the highest likelihood.
    YeoJohnson,
    /// Shares of the training rows.
    Quantile,
}

/// The most values that a quantile transformation keeps.
const MOST_KNOTS: usize = 1000;

/// The largest power. Beyond 0 and 2, the range of a power transformation ends inside that of a normal distribution.
const MOST_POWER: f64 = 2.0;

/// The steps of the search for the power before it narrows.
const POWER_STEPS: usize = 20;

/// The number of times that the search for the power narrows its interval, by the golden ratio.
const NARROWINGS: usize = 40;

impl TransformName {
    /// All names.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Log,
        Self::BoxCox,
        Self::YeoJohnson,
        Self::Quantile,
    ];

    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Log => "log",
            Self::BoxCox => "box-cox",
            Self::YeoJohnson => "yeo-johnson",
            Self::Quantile => "quantile",
        }
    }

    /// Whether the transformation takes a value.
    pub fn takes(self, value: f64) -> bool {
        match self {
            Self::Log | Self::BoxCox => value > 0.0,
            Self::None | Self::YeoJohnson | Self::Quantile => true,
        }
    }

    /// The transformation for these values. A power has the highest likelihood
    /// `−½N log Var[g_λ(y)] + Σ_n log g_λ′(y_n)` among 0 to 2, which is that of a normal distribution of the transformed
    /// values.
    ///
    /// # Panics
    ///
    /// If there are no values, or one that the transformation does not take.
    pub fn fit(self, values: &[f64]) -> Transform {
        assert!(
            !values.is_empty() && values.iter().all(|&value| self.takes(value)),
            "{self} of {} values, not all of which it takes",
            values.len()
        );
        match self {
            // A power of one changes nothing.
            Self::None => Transform::YeoJohnson { power: 1.0 },
            Self::Log => Transform::Log,
            Self::BoxCox => most_likely(values, |power| Transform::BoxCox { power }),
            Self::YeoJohnson => most_likely(values, |power| Transform::YeoJohnson { power }),
            Self::Quantile => quantiles(values),
        }
    }
}

/// The transformation of a column, `price=log`.
pub type TransformOfColumn = ColumnValue<TransformName>;

impl OfColumn for TransformName {
    const FORM: &'static str = "COLUMN=TRANSFORM, such as price=log";
}

/// The error for a text that is not the name of a transformation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a transformation; choose log, box-cox, yeo-johnson, quantile or none")]
pub struct UnknownTransform(pub String);

impl FromStr for TransformName {
    type Err = UnknownTransform;

    fn from_str(text: &str) -> Result<Self, UnknownTransform> {
        let mut names = Self::ALL.into_iter();
        let found = names.find(|name| name.name() == text);
        found.ok_or_else(|| UnknownTransform(text.to_owned()))
    }
}

impl fmt::Display for TransformName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// `(e^{λl} − 1)/λ` of a logarithm l; l for λ = 0.
fn power_of(logarithm: f64, power: f64) -> f64 {
    match power == 0.0 {
        true => logarithm,
        false => (power * logarithm).exp_m1() / power,
    }
}

/// The logarithm whose [`power_of`] is z: `log(1 + λz)/λ`; −∞ where there is none.
fn logarithm_of(z: f64, power: f64) -> f64 {
    match power == 0.0 {
        true => z,
        false => (power * z).max(-1.0).ln_1p() / power,
    }
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

    /// Whether the numbers of the transformation are possible.
    pub(crate) fn is_possible(&self) -> bool {
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

/// The last segment that begins at or before x, among the ascending `from`; the first before all.
fn segment(from: &[f64], x: f64) -> usize {
    let after = from.partition_point(|&knot| knot <= x);
    after.clamp(1, from.len() - 1) - 1
}

/// The slope of the line through the points around x; 1 for a single point.
fn slope(from: &[f64], to: &[f64], x: f64) -> f64 {
    if from.len() < 2 {
        return 1.0;
    }
    let first = segment(from, x);
    (to[first + 1] - to[first]) / (from[first + 1] - from[first])
}

/// The value at x on the lines through the points; the first and the last line go on beyond the ends.
fn interpolated(from: &[f64], to: &[f64], x: f64) -> f64 {
    let first = match from.len() {
        1 => 0,
        _ => segment(from, x),
    };
    to[first] + slope(from, to, x) * (x - from[first])
}

/// The shares of smaller values, half of the equal ones included, at up to [`MOST_KNOTS`] of the values.
fn quantiles(values: &[f64]) -> Transform {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let equal: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
    let mut smaller = 0;
    let all = equal.iter().map(|equal| {
        let share = (smaller as f64 + 0.5 * equal.len() as f64) / count;
        smaller += equal.len();
        (equal[0], share)
    });
    let all: Vec<(f64, f64)> = all.collect();
    let kept = all.len().min(MOST_KNOTS);
    // Evenly spaced, the first and the last included.
    let places = (0..kept).map(|knot| knot * (all.len() - 1) / (kept - 1).max(1));
    let (values, shares) = places.map(|place| all[place]).unzip();
    Transform::Quantile { values, shares }
}

/// The power transformation of the highest likelihood.
fn most_likely(values: &[f64], of_power: impl Fn(f64) -> Transform) -> Transform {
    let likelihood = |power: f64| log_likelihood(values, &of_power(power));
    let step = MOST_POWER / POWER_STEPS as f64;
    let powers = (0..=POWER_STEPS).map(|index| index as f64 * step);
    let best = powers.max_by(|&a, &b| likelihood(a).total_cmp(&likelihood(b)));
    let best = best.unwrap_or(1.0);
    let (mut low, mut high) = ((best - step).max(0.0), (best + step).min(MOST_POWER));
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    for _ in 0..NARROWINGS {
        let (left, right) = (high - golden * (high - low), low + golden * (high - low));
        match likelihood(left) < likelihood(right) {
            true => low = left,
            false => high = right,
        }
    }
    let found = 0.5 * (low + high);
    // The maximum may be at an end of the range, which the search never reaches.
    let ends = [0.0, MOST_POWER, best];
    let power = ends.into_iter().fold(found, |power, end| {
        match likelihood(end) > likelihood(power) {
            true => end,
            false => power,
        }
    });
    of_power(power)
}

/// `−½N log Var[g(y)] + Σ log g′(y)`, the log likelihood of a normal distribution of the transformed values with their
/// moments, without a constant. −∞ if they do not vary, so that a power stays at the first one tried.
fn log_likelihood(values: &[f64], transform: &Transform) -> f64 {
    let count = values.len() as f64;
    let transformed: Vec<f64> = values.iter().map(|&value| transform.apply(value)).collect();
    let mean = transformed.iter().sum::<f64>() / count;
    let squares: f64 = transformed.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / count;
    if !(variance > 0.0 && variance.is_finite()) {
        return f64::NEG_INFINITY;
    }
    let slopes: f64 = values.iter().map(|&value| transform.log_slope(value)).sum();
    slopes - 0.5 * count * variance.ln()
}

#[cfg(test)]
mod tests;
