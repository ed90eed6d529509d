//! What `predict` and `show` do with a model of several outputs.

use std::path::{Path, PathBuf};

use burn::tensor::DType;
use burn_gp_datasets::{DataSource, KeptColumns, NewRows, Schema};
use burn_gp_models::Fitted;
use serde_json::{Map, json};

use super::files::{OutputsContext, correlations, noise_of, prediction_table};
use super::{failure, results::lines_of_correlations};
use crate::arguments::TrainedModelOptions;
use crate::devices;
use crate::failure::Failure;
use crate::output::Destination;
use crate::ranges::within;
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
    if arguments.given && context.schemas.len() == 1 {
        return Err(Failure::Arguments(
            "--given needs a model that was trained with --targets, a column for each output"
                .to_owned(),
        ));
    }
    let data_dir = arguments.shared.data_dir();
    let source = DataSource::resolve(arguments.data, data_dir.as_deref())?;
    let destination = Destination::of_option(
        arguments.out,
        arguments.shared.overwrite,
        source.path(),
        arguments.model_dir,
    )?;
    let name = match &arguments.shared.device {
        Some(device) => device.clone(),
        None => devices::default_device()?,
    };
    let device = devices::open(&name, DType::F32)?;
    let model = Fitted::load(arguments.model_dir, &device).map_err(failure)?;
    let rows = NewRows {
        header: arguments.header,
        lenient: false,
        fill_gaps: false,
        keep: KeptColumns::None,
    };
    let load = |schema: &Schema| source.load_new_rows(schema, &rows);
    let first = load(&context.schemas[0])?;
    let (count, outputs) = (first.inputs.rows(), context.outputs.len());
    let x: Vec<Vec<f64>> = (0..count)
        .map(|row| first.inputs.row(row).to_vec())
        .collect();
    let mut targets = vec![f64::NAN; count * outputs];
    if context.schemas.len() == outputs {
        for (output, schema) in context.schemas.iter().enumerate() {
            let known = load(schema)?.targets.unwrap_or_default();
            known
                .iter()
                .enumerate()
                .for_each(|(row, y)| targets[row * outputs + output] = *y);
        }
    }
    let predicted = match arguments.given {
        true => {
            let known: Vec<Vec<f64>> = targets.chunks_exact(outputs).map(<[f64]>::to_vec).collect();
            model.predict_given(&x, &known)
        }
        false => model.predict(&x),
    };
    let predicted = predicted.map_err(failure)?;
    let (names, predicted) = (&context.outputs, predicted.predictions());
    let text = prediction_table(names, 0..count, &targets, predicted, level).to_csv();
    match destination {
        Some(destination) => destination.write(&text),
        None => print_data(&text),
    }
}

/// Runs `burn-gp show` on a model of several outputs.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn show(folder: &Path, as_json: bool, context: &OutputsContext) -> Result<(), Failure> {
    let device = devices::open(&devices::default_device()?, DType::F32)?;
    let model = Fitted::load(folder, &device).map_err(failure)?;
    let noise = noise_of(&model);
    if as_json {
        let named = context
            .outputs
            .iter()
            .cloned()
            .zip(noise.iter().map(|noise| json!(noise)));
        let noise: Map<_, _> = named.collect();
        let text = json!({
            "model": "exact",
            "data": context.data,
            "n_train": context.n_train,
            "inputs": context.schemas[0].input_names,
            "outputs": context.outputs,
            "noise": noise,
            "correlations": correlations(&model),
            "standardized_parameters": model.hyperparameters().into_iter()
                .filter(|own| own.path.starts_with("kernel."))
                .map(|own| (own.path, json!(own.values)))
                .collect::<Map<_, _>>(),
        });
        return print_data(&format!("{text:#}\n"));
    }
    let mut text = format!(
        "exact regression of {} outputs of {}, {} training rows\n",
        context.outputs.len(),
        context.data,
        context.n_train
    );
    for (name, noise) in context.outputs.iter().zip(noise) {
        text += &format!("noise of {name}: {noise:.4} (standard deviation)\n");
    }
    text += &lines_of_correlations(&context.outputs, &model);
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
