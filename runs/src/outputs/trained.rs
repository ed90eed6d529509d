//! What `predict` and `show` do with a model of several outputs.

use std::path::{Path, PathBuf};

use burn::tensor::DType;
use burn_gp_datasets::counted;
use burn_gp_models::{Fitted, Predictions};
use serde_json::{Map, json};

use super::failure;
use super::files::{OutputsContext, prediction_table, table_of_tasks};
use super::new_rows::OutputRows;
use super::scores::ScoredOutput;
use super::signal::Signals;
use crate::arguments::TrainedModelOptions;
use crate::coverage::LEVEL;
use crate::devices;
use crate::failure::Failure;
use crate::output::Destination;
use crate::ranges::within;
use crate::standard_error::tell;
use crate::standard_output::{print, print_data};

/// The rows to predict, and how.
pub struct NewInputs<'a> {
    /// The folder of the model.
    pub model_dir: &'a Path,
    /// The data.
    pub data: &'a str,
    /// The file to write; `None` for the standard output.
    pub out: Option<&'a PathBuf>,
    /// The probability of the central intervals.
    pub level: f64,
    /// Whether known targets of the rows count.
    pub given: bool,
    /// Whether the first line is a header, if the user says so.
    pub header: Option<bool>,
    /// The options of every command that uses a trained model.
    pub shared: &'a TrainedModelOptions,
}

/// Runs `burn-gp predict` on a model of several outputs.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn predict(arguments: &NewInputs<'_>, context: &OutputsContext) -> Result<(), Failure> {
    let level = arguments.level;
    let range = "lie strictly between 0 and 1; 0.95 is common";
    within(
        "--level",
        level,
        level > 0.0 && level < 1.0,
        range.to_owned(),
    )?;
    let (source, destination) = Destination::with_source(
        arguments.data,
        arguments.out,
        arguments.shared,
        arguments.model_dir,
    )?;
    let name = match &arguments.shared.device {
        Some(device) => device.clone(),
        None => devices::default_device()?,
    };
    let device = devices::open(&name, DType::F32)?;
    let model = Fitted::load(arguments.model_dir, &device).map_err(failure)?;
    let rows = OutputRows::read(&source, context, arguments.header)?;
    let outputs = context.outputs.len();
    let predicted = match arguments.given {
        true => {
            rows.require_targets("--given", context)?;
            model.predict_given(&rows.inputs, rows.known(outputs))
        }
        false => model.predict(&rows.inputs),
    };
    let predicted = predicted.map_err(failure)?;
    let (targets, predicted) = (&rows.targets, predicted.predictions());
    let table = match &rows.tasks {
        Some(tasks) => table_of_tasks(context, tasks, targets, predicted, level),
        None => {
            let all = 0..rows.inputs.len();
            prediction_table(&context.outputs, all, targets, predicted, level)
        }
    };
    let text = table.to_csv();
    match destination {
        Some(destination) => destination.write(&text)?,
        None => print_data(&text)?,
    }
    if !arguments.given {
        for line in lines_of_scores(&context.outputs, targets, predicted) {
            tell(&line);
        }
    }
    Ok(())
}

/// The scores of each output with known targets, `[N, P]`.
pub(super) fn lines_of_scores(
    names: &[String],
    targets: &[f64],
    predicted: &Predictions,
) -> Vec<String> {
    let interval = predicted.interval(LEVEL).unwrap_or_default();
    let outputs = names.len();
    let line = |(output, name): (usize, &String)| {
        let places = (output..targets.len()).step_by(outputs);
        let known: Vec<usize> = places.filter(|&place| !targets[place].is_nan()).collect();
        let of = |values: &[f64]| known.iter().map(|&place| values[place]).collect();
        let scored = ScoredOutput {
            targets: of(targets),
            mean: of(&predicted.mean),
            variance: of(&predicted.variance),
            lower: of(&interval.lower),
            upper: of(&interval.upper),
            ..ScoredOutput::default()
        };
        let [rmse, mae, nlpd, _, coverage] = scored.scores()?;
        Some(format!(
            "{name}: {}, RMSE {rmse:.4}, MAE {mae:.4}, NLPD {nlpd:.4}, coverage {coverage:.4}",
            counted(known.len(), "known target")
        ))
    };
    names.iter().enumerate().filter_map(line).collect()
}

/// Runs `burn-gp show` on a model of several outputs.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn show(folder: &Path, as_json: bool, context: &OutputsContext) -> Result<(), Failure> {
    let device = devices::open(&devices::default_device()?, DType::F32)?;
    let model = Fitted::load(folder, &device).map_err(failure)?;
    let signals = Signals::of(&model);
    if as_json {
        let named = |values: &[f64]| -> Map<_, _> {
            let values = values.iter().map(|value| json!(value));
            context.outputs.iter().cloned().zip(values).collect()
        };
        let text = json!({
            "model": "exact",
            "data": context.data,
            "n_train": context.n_train,
            "inputs": context.schemas[0].input_names,
            "outputs": context.outputs,
            "signal": named(&signals.signal),
            "noise": named(&signals.noise),
            "correlations": signals.correlations,
            "standardized_parameters": model.hyperparameters().into_iter()
                .filter(|own| own.path.starts_with("kernel."))
                .map(|own| (own.path, json!(own.values)))
                .collect::<Map<_, _>>(),
        });
        return print_data(&format!("{text:#}\n"));
    }
    let mut text = format!(
        "exact regression of {} of {}, {}\n",
        counted(context.outputs.len(), "output"),
        context.data,
        counted(context.n_train, "training row")
    );
    for (what, values) in [("signal", &signals.signal), ("noise", &signals.noise)] {
        for (name, value) in context.outputs.iter().zip(values) {
            text += &format!("{what} of {name}: {value:.4} (standard deviation)\n");
        }
    }
    text += &signals.lines(&context.outputs);
    text += &lines_of_kernel(&model, &context.schemas[0].input_names);
    print(&text)
}

/// The parameters of the kernel, lengthscales of each input in its units.
fn lines_of_kernel(model: &Fitted, inputs: &[String]) -> String {
    let scales = model
        .scaling()
        .inputs
        .as_ref()
        .map(|own| own.deviations.clone());
    let scales = scales.unwrap_or_else(|| vec![1.0; inputs.len()]);
    let mut text = String::new();
    for own in model.hyperparameters() {
        let Some(path) = own.path.strip_prefix("kernel.") else {
            continue;
        };
        if path == "lengthscale" && own.values.len() == inputs.len() {
            for ((name, value), scale) in inputs.iter().zip(&own.values).zip(&scales) {
                text += &format!("lengthscale of {name}: {:.4}\n", value * scale);
            }
        } else {
            let values: Vec<String> = own
                .values
                .iter()
                .map(|value| format!("{value:.4}"))
                .collect();
            text += &format!("{path} in standardized units: {}\n", values.join(", "));
        }
    }
    text
}
