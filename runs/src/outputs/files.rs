//! The files of a model of several outputs.

use std::fs;
use std::path::Path;

use burn_gp_datasets::Schema;
use burn_gp_models::{Fitted, FittedPredictions};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::OUTPUTS;

/// What predictions need besides the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputsContext {
    /// The name of the training data.
    pub data: String,
    /// The names of the outputs.
    pub outputs: Vec<String>,
    /// The columns of the inputs, with each output as the target; a single one for a column of tasks.
    pub schemas: Vec<Schema>,
    /// The number of training rows.
    pub n_train: usize,
}

impl OutputsContext {
    /// Reads it from the folder of a model; `None` if the model is not one of several outputs.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn within(folder: &Path) -> Result<Option<Self>, Failure> {
        let path = folder.join(OUTPUTS);
        if !path.exists() {
            return Ok(None);
        }
        let wrong = |reason: String| {
            Failure::Arguments(format!("{} cannot be read: {reason}", path.display()))
        };
        let text = fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| wrong(error.to_string()))
    }
}

/// Predictions of all outputs at rows.
pub struct PredictedOutputs {
    /// `[N, P]`, row-major
    pub mean: Vec<f64>,
    /// Noise included.
    pub variance: Vec<f64>,
    /// The ends of the central intervals.
    pub lower: Vec<f64>,
    /// See `lower`.
    pub upper: Vec<f64>,
}

impl PredictedOutputs {
    /// The numbers of predictions, with central intervals of this probability.
    pub fn new(predicted: &FittedPredictions, level: f64) -> Self {
        let predictions = predicted.predictions();
        let interval = predictions.interval(level).unwrap_or_default();
        Self {
            mean: predictions.mean.clone(),
            variance: predictions.variance.clone(),
            lower: interval.lower,
            upper: interval.upper,
        }
    }
}

/// `row,[part,]` and for each output `NAME,NAME mean,NAME std,NAME lower,NAME upper`. Targets that are not known are
/// empty.
pub fn predictions_csv(
    outputs: &[String],
    rows: &[(usize, Option<&str>)],
    targets: &[f64],
    predicted: &PredictedOutputs,
) -> String {
    let has_parts = rows.iter().any(|(_, part)| part.is_some());
    let mut header = vec!["row".to_owned()];
    header.extend(has_parts.then(|| "part".to_owned()));
    for name in outputs {
        header.push(name.clone());
        header.extend(["mean", "std", "lower", "upper"].map(|what| format!("{name} {what}")));
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Memory does not fail, and all rows have the length of the header.
    let _ = writer.write_record(&header);
    for (place, (row, part)) in rows.iter().enumerate() {
        let mut cells = vec![row.to_string()];
        cells.extend(has_parts.then(|| part.unwrap_or_default().to_owned()));
        for output in 0..outputs.len() {
            let index = place * outputs.len() + output;
            let target = targets[index];
            cells.push(if target.is_nan() {
                String::new()
            } else {
                target.to_string()
            });
            let deviation = predicted.variance[index].sqrt();
            let numbers = [
                predicted.mean[index],
                deviation,
                predicted.lower[index],
                predicted.upper[index],
            ];
            cells.extend(numbers.map(|number| number.to_string()));
        }
        let _ = writer.write_record(&cells);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The noise of each output as a standard deviation in its units.
pub fn noise_of(model: &Fitted) -> Vec<f64> {
    let scales = model
        .scaling()
        .targets
        .as_ref()
        .map(|targets| targets.deviations.clone());
    let noise = values_of(model, "likelihood.noise");
    let scales = scales.unwrap_or_else(|| vec![1.0; noise.len()]);
    noise
        .iter()
        .zip(scales)
        .map(|(noise, scale)| noise.sqrt() * scale)
        .collect()
}

/// The correlations of the functions of outputs, `[P, P]`: those of `WWᵀ + diag κ`.
pub fn correlations(model: &Fitted) -> Vec<Vec<f64>> {
    let weights = values_of(model, "coregionalization.weights");
    let own = values_of(model, "coregionalization.own_variance");
    let outputs = own.len();
    let rank = weights.len().checked_div(outputs).unwrap_or(0);
    let covariance = |a: usize, b: usize| {
        let product = (0..rank).map(|q| weights[a * rank + q] * weights[b * rank + q]);
        product.sum::<f64>() + if a == b { own[a] } else { 0.0 }
    };
    let deviation: Vec<f64> = (0..outputs).map(|p| covariance(p, p).sqrt()).collect();
    let row = |a: usize| {
        (0..outputs)
            .map(|b| covariance(a, b) / (deviation[a] * deviation[b]))
            .collect()
    };
    (0..outputs).map(row).collect()
}

fn values_of(model: &Fitted, path: &str) -> Vec<f64> {
    let found = model
        .hyperparameters()
        .into_iter()
        .find(|own| own.path == path);
    found.map_or_else(Vec::new, |own| own.values)
}
