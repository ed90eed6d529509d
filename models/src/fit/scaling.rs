//! Scaling of inputs and targets by the statistics of the training data.

use burn_gp_core::{features::Standardization, likelihoods::Interval};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::Predictions;

/// The maps from the data to a model's inputs and targets.
///
/// Targets are scaled if any real number is possible: `z = (y − μ)/s`, so that predictions are
/// `μ + s·z`, their variances `s²·Var[z]`, and log densities `log p(z) − log s`. Known noise
/// variances are divided by `s²`. Targets with a noise variance above the squared range of the
/// targets are missing: they do not count in μ and s.
///
/// A file with a standard deviation that is not positive and finite, or a mean that is not finite, is
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
}

/// The statistics of targets, row-major with `columns` columns: the values of P outputs, and the noise
/// variances of all if there are more columns. Missing targets, NaN or with huge noise, do not count. Constant targets have no standard
/// deviation and are divided by their absolute value.
pub(super) fn of_targets(values: &[f64], columns: usize, outputs: usize) -> Standardization {
    let each = (0..outputs).map(|output| {
        let column = |index: usize| values.iter().skip(index).step_by(columns).copied();
        let all: Vec<f64> = column(output).collect();
        let known = match columns > outputs {
            true => known(&all, column(outputs + output)),
            false => all.into_iter().filter(|value| !value.is_nan()).collect(),
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

    /// Scaled targets, row-major with `columns` columns. Columns after the first P are noise
    /// variances.
    pub(super) fn scaled_targets(&self, values: Vec<f64>, columns: usize) -> Vec<f64> {
        let Some(Standardization { means, deviations }) = &self.targets else {
            return values;
        };
        let outputs = means.len();
        let scaled = |(index, value): (usize, f64)| {
            let column = index % columns;
            let scale = deviations[column % outputs];
            match column < outputs {
                true => (value - means[column]) / scale,
                false => value / (scale * scale),
            }
        };
        values.into_iter().enumerate().map(scaled).collect()
    }

    /// Predictions in the units of the data.
    pub(super) fn in_units_of_data(&self, predictions: Predictions) -> Predictions {
        match &self.targets {
            Some(Standardization { means, deviations }) => predictions.in_units(means, deviations),
            None => predictions,
        }
    }

    /// An interval of the first output in the units of the data.
    pub(super) fn interval_in_units_of_data(&self, interval: Interval) -> Interval {
        let Some(Standardization { means, deviations }) = &self.targets else {
            return interval;
        };
        let original = |values: Vec<f64>| -> Vec<f64> {
            let each = values.into_iter();
            each.map(|value| means[0] + deviations[0] * value).collect()
        };
        Interval {
            lower: original(interval.lower),
            upper: original(interval.upper),
        }
    }

    /// The term that is added to the log density of a row: `−Σ_p log s_p`.
    pub(super) fn log_jacobian(&self) -> f64 {
        let scales = self.targets.iter().flat_map(|targets| &targets.deviations);
        -scales.map(|scale| scale.ln()).sum::<f64>()
    }
}
