//! Scaling of inputs and targets by the statistics of the training data.

use burn_gp_core::{
    features::Standardization,
    likelihoods::{Interval, TargetKind, middle_of_interval},
    transforms::{Transform, TransformName},
};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

use super::Error;
use crate::Predictions;

/// The maps from the data to a model's inputs and targets.
///
/// Targets are scaled if any real number is possible: `z = (y − μ)/s`, so that predictions are
/// `μ + s·z`, their variances `s²·Var[z]`, and log densities `log p(z) − log s`. Known noise
/// variances are divided by `s²`. Both limits of an interval are scaled by the statistics of the middles of the intervals,
/// where the middle of one with an infinite limit is the finite one. If targets are [transformed](crate::Fit::transform_targets), `z = (g(y) − μ)/s`, with
/// the mean and standard deviation of `g(y)`. Targets with a noise variance above the squared range of the
/// targets are missing: they do not count in μ and s.
///
/// A file with a standard deviation that is not positive and finite, a mean that is not finite, or an impossible power is
/// refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaling {
    /// The map of the inputs, with D means and standard deviations; `None` if they are not scaled.
    #[serde(default, deserialize_with = "possible")]
    pub inputs: Option<Standardization>,
    /// The map of the targets, with P means and standard deviations.
    #[serde(default, deserialize_with = "possible")]
    pub targets: Option<Standardization>,
    /// The transformation g of each output before its targets are scaled; empty if they are not transformed.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "possible_transforms"
    )]
    pub target_transforms: Vec<Transform>,
    /// Whether the columns of targets after the first P are upper limits, which are scaled like the lower ones, and not
    /// noise variances.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_intervals: bool,
}

/// The transformation of each of P outputs, fitted to the targets that are not missing, row-major.
///
/// # Errors
///
/// When a target has no transformed value.
pub(super) fn transforms_of_targets(
    transform: TransformName,
    values: &[f64],
    outputs: usize,
) -> Result<Vec<Transform>, Error> {
    if let Some(index) = values
        .iter()
        .position(|y| !y.is_nan() && !transform.takes(*y))
    {
        return Err(untransformable(transform, values, index, outputs));
    }
    let of_output = |output: usize| {
        let own = values.iter().skip(output).step_by(outputs).copied();
        transform.fit(&own.filter(|value| !value.is_nan()).collect::<Vec<_>>())
    };
    Ok((0..outputs).map(of_output).collect())
}

/// The error for one of row-major values.
fn untransformable(
    transform: TransformName,
    values: &[f64],
    index: usize,
    columns: usize,
) -> Error {
    Error::Untransformable {
        row: index / columns,
        column: index % columns,
        value: values[index],
        transform,
    }
}

/// The statistics of targets, row-major with `columns` columns: the values of P outputs, and the noise
/// variances or the upper limits of all if there are more columns. Missing targets, NaN or with huge noise, do not count. Constant targets have no standard
/// deviation and are divided by their absolute value.
pub(super) fn of_targets(
    values: &[f64],
    columns: usize,
    (outputs, kind): (usize, TargetKind),
) -> Standardization {
    let each = (0..outputs).map(|output| {
        let column = |index: usize| values.iter().skip(index).step_by(columns).copied();
        let all: Vec<f64> = column(output).collect();
        let known = match kind {
            TargetKind::Intervals => {
                let limits = all.into_iter().zip(column(outputs + output));
                let middles = limits.map(|(lower, upper)| middle_of_interval(lower, upper));
                middles.collect()
            }
            _ if columns > outputs => known(&all, column(outputs + output)),
            _ => all.into_iter().filter(|value| !value.is_nan()).collect(),
        };
        let mut own = Standardization::of_rows(&known, 1);
        let first = known[0];
        if first != 0.0 && known.iter().all(|&value| value == first) {
            own.deviations[0] = first.abs();
        }
        own
    });
    let (means, deviations) = each.map(|own| (own.means[0], own.deviations[0])).unzip();
    Standardization { means, deviations }
}

/// The values that are not missing, or all if all are. A value with a noise variance above the squared
/// range of the values marks a missing one: a measurement with that much noise would lie outside.
fn known(values: &[f64], noise: impl Iterator<Item = f64>) -> Vec<f64> {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let limit = (largest - smallest).powi(2);
    let pairs = values.iter().zip(noise);
    let known = pairs.filter(|(_, noise)| *noise <= limit);
    let known: Vec<f64> = known.map(|(value, _)| *value).collect();
    match known.is_empty() {
        true => values.to_vec(),
        false => known,
    }
}

/// Reads a map that can be inverted.
fn possible<'de, D: Deserializer<'de>>(file: D) -> Result<Option<Standardization>, D::Error> {
    let read: Option<Standardization> = Deserialize::deserialize(file)?;
    let Some(Standardization { means, deviations }) = &read else {
        return Ok(read);
    };
    let is_deviation = |&&value: &&f64| value > 0.0 && value.is_finite();
    if let Some(value) = deviations.iter().find(|value| !is_deviation(value)) {
        let reason = format!("a standard deviation is {value}; expected positive, finite numbers");
        return Err(D::Error::custom(reason));
    }
    if let Some(value) = means.iter().find(|value| !value.is_finite()) {
        let reason = format!("a mean is {value}; expected finite numbers");
        return Err(D::Error::custom(reason));
    }
    match (means.len(), deviations.len()) {
        (a, b) if a == b => Ok(read),
        (a, b) => {
            let reason = format!("there are {a} means and {b} standard deviations");
            Err(D::Error::custom(reason))
        }
    }
}

/// Reads transformations with possible numbers.
fn possible_transforms<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<Transform>, D::Error> {
    let read: Vec<Transform> = Deserialize::deserialize(file)?;
    match read.iter().find(|own| !own.is_possible()) {
        None => Ok(read),
        Some(own) => Err(D::Error::custom(format!(
            "impossible numbers of the transformation {own}"
        ))),
    }
}

impl Scaling {
    /// Scaled inputs, row-major.
    pub(super) fn scaled_inputs(&self, values: Vec<f64>) -> Vec<f64> {
        match &self.inputs {
            Some(inputs) => inputs.apply_to_rows(&values),
            None => values,
        }
    }

    /// Standard deviations of inputs, row-major, on the scale of the model.
    pub(super) fn scaled_deviations(&self, values: Vec<f64>) -> Vec<f64> {
        let Some(Standardization { deviations, .. }) = &self.inputs else {
            return values;
        };
        let scaled = values.iter().zip(deviations.iter().cycle());
        scaled.map(|(value, scale)| value / scale).collect()
    }

    /// Inputs in the units of the data, row-major, from scaled ones.
    pub(super) fn inputs_in_units_of_data(&self, values: Vec<f64>) -> Vec<f64> {
        let Some(Standardization { means, deviations }) = &self.inputs else {
            return values;
        };
        let unscaled = |(index, value): (usize, f64)| {
            let column = index % means.len();
            means[column] + deviations[column] * value
        };
        values.into_iter().enumerate().map(unscaled).collect()
    }

    /// Transformed and scaled targets, row-major with `columns` columns. Columns after the first P are noise
    /// variances or upper limits.
    ///
    /// # Errors
    ///
    /// When a target that is not missing has no transformed value.
    pub(super) fn scaled_targets(
        &self,
        values: Vec<f64>,
        columns: usize,
    ) -> Result<Vec<f64>, Error> {
        Ok(self.standardized(self.transformed(values, columns)?, columns))
    }

    /// Transformed targets, row-major.
    ///
    /// # Errors
    ///
    /// When a target that is not missing has no transformed value.
    pub(super) fn transformed(&self, values: Vec<f64>, columns: usize) -> Result<Vec<f64>, Error> {
        if self.target_transforms.is_empty() {
            return Ok(values);
        }
        // Targets with noise variances are not transformed, so that each column is an output.
        let own = |index: usize| &self.target_transforms[index % columns];
        let each = values.iter().enumerate();
        let transformed: Vec<f64> = each.map(|(index, y)| own(index).apply(*y)).collect();
        let mut pairs = values.iter().zip(&transformed);
        match pairs.position(|(y, transformed)| !y.is_nan() && !transformed.is_finite()) {
            None => Ok(transformed),
            Some(index) => Err(untransformable(own(index).name(), &values, index, columns)),
        }
    }

    /// Scaled targets, which are transformed already.
    pub(super) fn standardized(&self, values: Vec<f64>, columns: usize) -> Vec<f64> {
        let Some(Standardization { means, deviations }) = &self.targets else {
            return values;
        };
        let outputs = means.len();
        let scaled = |(index, value): (usize, f64)| {
            let column = index % columns;
            let scale = deviations[column % outputs];
            match column < outputs || self.has_intervals {
                true => (value - means[column % outputs]) / scale,
                false => value / (scale * scale),
            }
        };
        values.into_iter().enumerate().map(scaled).collect()
    }

    /// Predictions in the units of the data.
    pub(super) fn in_units_of_data(&self, predictions: Predictions) -> Predictions {
        let rescaled = match &self.targets {
            Some(Standardization { means, deviations }) => predictions.in_units(means, deviations),
            None => predictions,
        };
        match self.target_transforms.is_empty() {
            true => rescaled,
            false => rescaled.transformed(&self.target_transforms),
        }
    }

    /// Targets in the units of the data, row-major, from transformed ones whose scaling is undone.
    pub(super) fn inverted(&self, mut values: Vec<f64>) -> Vec<f64> {
        let outputs = self.target_transforms.len();
        if outputs > 0 {
            for (index, value) in values.iter_mut().enumerate() {
                *value = self.target_transforms[index % outputs].invert(*value);
            }
        }
        values
    }

    /// An interval of the first output in the units of the data.
    pub(super) fn interval_in_units_of_data(&self, interval: Interval) -> Interval {
        let original = |values: Vec<f64>| match &self.targets {
            None => self.inverted(values),
            Some(Standardization { means, deviations }) => {
                let each = values.into_iter();
                self.inverted(each.map(|value| means[0] + deviations[0] * value).collect())
            }
        };
        Interval {
            lower: original(interval.lower),
            upper: original(interval.upper),
        }
    }

    /// The term that is added to the log density of each row of targets in the units of the data, row-major:
    /// `Σ_p (log g_p′(y_p) − log s_p)`.
    pub(super) fn log_jacobian(&self, targets: &[f64], columns: usize) -> Vec<f64> {
        let scales = self.targets.iter().flat_map(|targets| &targets.deviations);
        let of_scales = -scales.map(|scale| scale.ln()).sum::<f64>();
        let of_row = |row: &[f64]| {
            let slopes = row.iter().zip(&self.target_transforms);
            slopes
                .map(|(y, transform)| transform.log_slope(*y))
                .sum::<f64>()
                + of_scales
        };
        targets.chunks_exact(columns).map(of_row).collect()
    }
}
