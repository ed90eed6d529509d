//! `burn-gp show`.

mod kernel_name;
mod parameters;
mod text;

use std::path::{Path, PathBuf};

use burn_gp_datasets::Standardizer;
use burn_gp_models::{Precision, SavedModel};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

pub use parameters::{ShownParameter, Units};

use crate::baselines::Baselines;
use crate::calibration::CalibrationReport;
use crate::checksums::{Links, read_text};
use crate::devices;
use crate::failure::{Failure, FolderError};
use crate::input_noise::InputNoiseReport;
use crate::leave_one_out::LeaveOneOutScores;
use crate::output::{METRICS, ModelContext};
use crate::outputs;
use crate::report::Metrics;
use crate::scores::Scores;
use crate::standard_output::{print, print_data};
use crate::trained_folder::{load_model, require_model};

/// The options of `show`.
#[derive(Debug, Args)]
pub struct ShowArguments {
    /// Folder written by `train`
    #[arg(value_name = "DIR")]
    pub model_dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A readable description of a saved model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The name of the model on the command line, or in its file.
    pub model: String,
    /// The name of the training data.
    pub data: String,
    /// The number of training rows.
    pub n_train: usize,
    /// The inputs.
    pub inputs: Vec<InputDescription>,
    /// The target.
    pub target: TargetDescription,
    /// The name of the likelihood.
    pub likelihood: String,
    /// The covariance function, if the model has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The form of the posterior, if the model has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posterior: Option<String>,
    /// The number of inducing points, if the model has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inducing: Option<usize>,
    /// The number of orthogonal inducing points, if the model has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orthogonal: Option<usize>,
    /// The hyperparameters in the units of the data.
    pub parameters: Vec<ShownParameter>,
    /// The training, if `metrics.json` exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<TrainingDescription>,
    /// The scores on the test rows, if `metrics.json` exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// The scores of leave-one-out predictions of the training rows, if `metrics.json` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leave_one_out: Option<LeaveOneOutScores>,
    /// The calibration of the predictions, with scores if `metrics.json` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationReport>,
    /// The errors of the training inputs and the noise that they make, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_noise: Option<InputNoiseReport>,
    /// The scores of simple predictions of the test rows, if `metrics.json` has them.
    #[serde(skip_serializing_if = "Baselines::is_empty")]
    pub baselines: Baselines,
    /// The warnings in `metrics.json` that the model may be unreliable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The floating-point type.
    pub precision: Precision,
    /// The version of the format of the file.
    pub format_version: u32,
}

/// An input of a saved model, which receives (value − mean)/scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputDescription {
    /// The name.
    pub name: String,
    /// The value that is mapped to zero.
    pub mean: f64,
    /// The distance that is mapped to one.
    pub scale: f64,
    /// The transformation, if there is one; mean and scale are then those of the transformed values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform: Option<String>,
}

/// The target of a saved model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetDescription {
    /// The name.
    pub name: String,
    /// The transformation, if there is one; the statistics are then those of the transformed values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform: Option<String>,
    /// The statistics of the training rows, if the target is standardized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standardized: Option<Standardization>,
    /// The names of the classes, if the target is a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
}

/// The statistics that standardize a target.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Standardization {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub standard_deviation: f64,
}

/// The training of a saved model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrainingDescription {
    /// The number of steps.
    pub steps: usize,
    /// The step of the kept model.
    pub step_kept: usize,
    /// The loss per row of the kept model.
    pub objective: f64,
    /// The time of all steps, in seconds.
    pub train_seconds: f64,
    /// The number of test rows.
    pub n_test: usize,
    /// The seed.
    pub seed: u64,
    /// The device.
    pub backend: String,
}

/// Runs `burn-gp show`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn show(arguments: &ShowArguments) -> Result<(), Failure> {
    if let Some(context) = outputs::Context::within(&arguments.model_dir)? {
        return outputs::show(&arguments.model_dir, arguments.json, &context);
    }
    let description = Description::read(&arguments.model_dir)?;
    if !arguments.json {
        return print(&format!("{description}\n"));
    }
    let text = serde_json::to_string_pretty(&description).map_err(std::io::Error::other);
    print_data(&(text.map_err(Failure::writing(&arguments.model_dir))? + "\n"))
}

impl Description {
    /// Reads the model in a folder, and `metrics.json` if it exists.
    ///
    /// # Errors
    ///
    /// If there is no model, or if a file cannot be read.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        require_model(folder)?;
        // Every device supports single precision, and nothing is computed here.
        let device = devices::open(&devices::default_device()?, burn::tensor::DType::F32)?;
        let saved = load_model(folder, &device)?;
        let metrics = metrics(folder)?;
        let format_version = SavedModel::<ModelContext>::format_version(folder)?;
        Ok(Self::new(&saved, metrics, format_version))
    }

    fn new(
        saved: &SavedModel<ModelContext>,
        metrics: Option<Metrics>,
        format_version: u32,
    ) -> Self {
        let SavedModel {
            model,
            summary,
            context,
        } = saved;
        let config = serde_json::to_value(&summary.config).unwrap_or_default();
        let text = |path: &str| {
            config
                .pointer(path)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let count = |path: &str| {
            let number = config.pointer(path).and_then(Value::as_u64);
            number
                .filter(|&number| number > 0)
                .map(|number| number as usize)
        };
        let own_kernel = summary.config.kernel();
        let kernel = config.get("kernel").and_then(kernel_name::kernel_name);
        let of_metrics = |kernel: &String| !kernel.is_empty();
        Self {
            model: (metrics.as_ref()).map_or_else(
                || text("/model").unwrap_or_default(),
                |metrics| metrics.model.clone(),
            ),
            data: context.data.clone(),
            n_train: summary.data_count,
            inputs: inputs(context),
            target: target(context),
            likelihood: context.likelihood.name().to_owned(),
            kernel: (metrics.as_ref())
                .map(|metrics| metrics.kernel.clone())
                .filter(of_metrics)
                .or(kernel),
            posterior: text("/posterior/posterior"),
            inducing: count("/inducing/count"),
            orthogonal: count("/inducing/orthogonal"),
            parameters: parameters::in_units_of_data(&model.hyperparameters(), own_kernel, context),
            training: metrics.as_ref().map(training),
            warnings: (metrics.as_ref()).map_or_else(Vec::new, |metrics| metrics.warnings.clone()),
            leave_one_out: (metrics.as_ref()).and_then(|metrics| metrics.leave_one_out),
            calibration: (metrics.as_ref())
                .and_then(|metrics| metrics.calibration.clone())
                .or_else(|| context.calibration.as_ref().map(CalibrationReport::from)),
            input_noise: context.input_noise.clone(),
            baselines: (metrics.as_ref())
                .map(|metrics| metrics.baselines.clone())
                .unwrap_or_default(),
            scores: metrics.and_then(|metrics| metrics.scores),
            precision: summary.precision,
            format_version,
        }
    }
}

fn inputs(context: &ModelContext) -> Vec<InputDescription> {
    let standardizer = &context.standardizer;
    let statistics = standardizer
        .input_mean
        .iter()
        .zip(&standardizer.input_scale);
    let inputs = context.schema.input_names.iter().zip(statistics);
    inputs
        .enumerate()
        .map(|(input, (name, (&mean, &scale)))| InputDescription {
            name: name.clone(),
            mean,
            scale,
            transform: transform_of(standardizer, input),
        })
        .collect()
}

/// The transformation of an input as text.
fn transform_of(standardizer: &Standardizer, input: usize) -> Option<String> {
    let mut transforms = standardizer.input_transforms.iter();
    let own = transforms.find(|(other, _)| *other == input);
    own.map(|(_, transform)| transform.to_string())
}

fn target(context: &ModelContext) -> TargetDescription {
    let (mean, standard_deviation) = (
        context.standardizer.target_mean,
        context.standardizer.target_scale,
    );
    let is_standardized = (mean, standard_deviation) != (0.0, 1.0);
    let classes = context.schema.classes.as_ref();
    let transform = context.standardizer.target_transform.as_ref();
    TargetDescription {
        name: context.schema.target_name.clone(),
        transform: transform.map(|own| own.transform.to_string()),
        standardized: is_standardized.then_some(Standardization {
            mean,
            standard_deviation,
        }),
        classes: classes.map(|classes| classes.names().to_vec()),
    }
}

fn training(metrics: &Metrics) -> TrainingDescription {
    let training = &metrics.training;
    TrainingDescription {
        steps: training.steps,
        step_kept: training.step_kept,
        objective: training.objective,
        train_seconds: training.train_seconds,
        n_test: metrics.n_test,
        seed: metrics.seed,
        backend: metrics.backend.clone(),
    }
}

/// The content of `metrics.json`; `None` if it does not exist.
fn metrics(folder: &Path) -> Result<Option<Metrics>, Failure> {
    let path = folder.join(METRICS);
    let damaged = |reason: String| FolderError::DamagedMetrics {
        path: path.clone(),
        reason,
    };
    if !path.exists() {
        return Ok(None);
    }
    let text =
        read_text(&path, Links::Followed).map_err(|error| damaged(error.reason.to_string()))?;
    let metrics = serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
    Ok(Some(metrics))
}
