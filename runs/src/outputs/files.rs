//! The files of a model of several outputs.

use std::fs;
use std::path::Path;

use burn_gp_datasets::Schema;
use burn_gp_models::{Fitted, Predictions};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::{Draw, OUTPUTS, PredictionTable};

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

/// The predictions of all outputs at rows with these numbers: for each output
/// `NAME,NAME mean,NAME std,NAME lower,NAME upper`, with central intervals of this probability. `targets` are
/// `[N, P]`, row-major; those that are not known are empty.
pub fn prediction_table(
    outputs: &[String],
    rows: impl Iterator<Item = usize>,
    targets: &[f64],
    predicted: &Predictions,
    level: f64,
) -> PredictionTable {
    let interval = predicted.interval(level).unwrap_or_default();
    let deviations: Vec<f64> = predicted.variance.iter().map(|own| own.sqrt()).collect();
    let columns: [(&str, &[f64]); 5] = [
        ("", targets),
        (" mean", &predicted.mean),
        (" std", &deviations),
        (" lower", &interval.lower),
        (" upper", &interval.upper),
    ];
    let mut named = Vec::new();
    for (output, name) in outputs.iter().enumerate() {
        for (what, values) in columns {
            let own = values.iter().skip(output).step_by(outputs.len());
            named.push((
                format!("{name}{what}"),
                Draw::Numbers(own.copied().collect()),
            ));
        }
    }
    PredictionTable::of_draws(rows, named)
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
