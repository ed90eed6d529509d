//! The files of a model of several outputs.

use std::fs;
use std::path::Path;

use burn_gp_datasets::Schema;
use burn_gp_models::Predictions;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::output::{Draw, OUTPUTS, PredictionTable, write_text};

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
    /// The column that names the output of each row, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_column: Option<String>,
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

    /// Writes it into the folder of a model.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_text(&folder.join(OUTPUTS), &format!("{text}\n"))
    }
}

/// The targets, which have no title, and the means, standard deviations and ends of the intervals of all predictions,
/// `[N, P]` each.
fn columns(targets: &[f64], predicted: &Predictions, level: f64) -> [(&'static str, Vec<f64>); 5] {
    let interval = predicted.interval(level).unwrap_or_default();
    let deviations = predicted.variance.iter().map(|own| own.sqrt());
    [
        ("", targets.to_vec()),
        ("mean", predicted.mean.clone()),
        ("std", deviations.collect()),
        ("lower", interval.lower),
        ("upper", interval.upper),
    ]
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
    let columns = columns(targets, predicted, level);
    let mut named = Vec::new();
    for (output, name) in outputs.iter().enumerate() {
        for (what, values) in &columns {
            let own = values.iter().skip(output).step_by(outputs.len());
            let title = match what.is_empty() {
                true => name.clone(),
                false => format!("{name} {what}"),
            };
            named.push((title, Draw::Numbers(own.copied().collect())));
        }
    }
    PredictionTable::of_draws(rows, named)
}

/// The predictions of one output in each row, `[N]`, with the name of the column that names it:
/// `NAME,TARGET,mean,std,lower,upper`.
pub fn table_of_tasks(
    context: &OutputsContext,
    tasks: &[usize],
    targets: &[f64],
    predicted: &Predictions,
    level: f64,
) -> PredictionTable {
    let outputs = context.outputs.len();
    let own = |values: Vec<f64>| {
        let places = tasks.iter().enumerate();
        places
            .map(|(row, task)| values[row * outputs + task])
            .collect()
    };
    let draws = columns(targets, predicted, level).map(|(what, values)| {
        let title = match what.is_empty() {
            true => &*context.schemas[0].target_name,
            false => what,
        };
        (title.to_owned(), Draw::Numbers(own(values)))
    });
    let names = tasks.iter().map(|&task| context.outputs[task].clone());
    let column = context.task_column.clone().unwrap_or_default();
    PredictionTable::of_draws(0..tasks.len(), draws.to_vec())
        .carrying(vec![(column, names.collect())])
}
