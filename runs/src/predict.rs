//! `burn-gp predict`.

use std::path::PathBuf;

use burn_gp_core::likelihoods::{AnyLikelihood, Likelihood};
use burn_gp_datasets::{DataSource, Features};
use burn_gp_models::{MODEL_FILE, Predictor, SavedModel};
use clap::Args;

use crate::arguments::DeviceName;
use crate::devices;
use crate::evaluation::{self, evaluate, in_original_units};
use crate::failure::{DestinationError, Failure, FolderError};
use crate::fitting::Checkpoints;
use crate::output::{Destination, ModelContext, class_table, prediction_table};
use crate::preparation::{Part, TargetError};
use crate::progress::RowProgress;
use crate::ranges::within;
use crate::report;
use crate::standard_output::print;

/// The options of `predict`.
#[derive(Debug, Args)]
pub struct PredictArguments {
    /// Folder written by `train`
    #[arg(long, value_name = "DIR")]
    pub model_dir: PathBuf,
    /// Rows to predict: a .csv, .csv.gz or Parquet file, or the name of a data set
    #[arg(long, value_name = "FILE")]
    pub data: String,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub overwrite: bool,
    /// Probability of the central intervals, which are between quantiles of the predictions
    #[arg(
        long,
        value_name = "P",
        allow_negative_numbers = true,
        default_value_t = 0.95
    )]
    pub level: f64,
    /// Device, as `burn-gp devices` lists them [default: the first in this program]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceName>,
    /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// Runs `burn-gp predict`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn predict(arguments: &PredictArguments) -> Result<(), Failure> {
    let level = arguments.level;
    let range = "lie between 0 and 1, both excluded; 0.95 is usual";
    within("--level", level, level > 0.0 && level < 1.0, range)?;
    let saved = load(arguments)?;
    let environment = || std::env::var_os("BURN_GP_DATA").map(PathBuf::from);
    let data_dir = arguments.data_dir.clone().or_else(environment);
    let source = DataSource::resolve(&arguments.data, data_dir.as_deref())?;
    let destination = destination(arguments, &source)?;
    let context = &saved.context;
    let features = source.load_features(&context.schema)?;
    let predictor = saved.model.predictor()?;
    let inputs = context.standardizer.transform_inputs(&features.inputs);
    let noise = features.noise.as_ref().map(|noise| {
        let squares: Vec<f64> = noise.iter().map(|noise| noise * noise).collect();
        context.standardizer.transform_variances(&squares)
    });
    warn(&features, context);
    let progress = RowProgress::new("row", inputs.rows(), false);
    let (original, scores) = match scorable(&features, context) {
        Some(observed) => {
            let part = Part {
                rows: (0..observed.len()).collect(),
                inputs,
                targets: context.standardizer.transform_targets(observed),
                observed: observed.to_vec(),
                noise,
            };
            check_targets(&part, &predictor, &features)?;
            let scored = evaluate(&predictor, &part, &context.standardizer, level, progress)?;
            (scored.original, Some(scored.scores))
        }
        None => {
            let noise = noise.as_deref();
            let predictions = evaluation::predict(&predictor, &inputs, noise, progress);
            let original = in_original_units(&predictions, &context.standardizer, level);
            (original, None)
        }
    };
    let text = match &context.schema.classes {
        Some(classes) => class_table(0.., &original, classes),
        None => prediction_table(0.., &original),
    };
    match destination {
        Some(destination) => destination.write(&text)?,
        None => print(&text)?,
    }
    if let Some(scores) = scores {
        eprintln!("{}", report::score_line(&scores));
    }
    Ok(())
}

/// The output file, which must not be an input file.
fn destination(
    arguments: &PredictArguments,
    source: &DataSource,
) -> Result<Option<Destination>, DestinationError> {
    let claim = |path: &PathBuf| {
        let (overwrite, model) = (arguments.overwrite, &arguments.model_dir);
        Destination::claim(path, overwrite, source.path(), model)
    };
    arguments.out.as_ref().map(claim).transpose()
}

/// Warns about unused columns and about intervals without noise.
fn warn(features: &Features, context: &ModelContext) {
    if !features.ignored.is_empty() {
        let names = features.ignored.join(", ");
        eprintln!("warning: these columns are no inputs of the model: {names}");
    }
    if let (Some(column), None) = (&context.schema.noise, &features.noise) {
        eprintln!(
            "warning: there is no column {:?}, so that the intervals are those of targets without noise",
            column.name
        );
    }
}

/// The targets in the units of the data, or their class numbers; `None` if the rows lack something
/// that the densities need.
fn scorable<'a>(features: &'a Features, context: &ModelContext) -> Option<&'a [f64]> {
    let complete = context.schema.noise.is_none() || features.noise.is_some();
    features.targets.as_deref().filter(|_| complete)
}

/// Fails on the first target that the likelihood does not support.
fn check_targets(
    part: &Part,
    predictor: &Predictor<AnyLikelihood>,
    features: &Features,
) -> Result<(), TargetError> {
    let (targets, columns) = part.likelihood_targets();
    let precision = predictor.dtype();
    let checked = (predictor.likelihood()).check_targets_in(precision, &targets, columns);
    checked.map_err(|impossible| {
        let location = features.origin.location(impossible.row);
        TargetError::new(location, part.observed[impossible.row], impossible)
    })
}

fn load(arguments: &PredictArguments) -> Result<SavedModel<ModelContext>, Failure> {
    let folder = &arguments.model_dir;
    if !folder.join(MODEL_FILE).is_file() {
        let path = folder.clone();
        return Err(match Checkpoints::within(folder).latest() {
            Some(_) => FolderError::UnfinishedModel { path }.into(),
            None => FolderError::NoModel { path }.into(),
        });
    }
    let name = match arguments.device {
        Some(device) => device,
        None => devices::default_device()?,
    };
    // The type is only known after the file is read; every device supports single precision.
    let device = devices::open(name, burn::tensor::DType::F32)?;
    let saved = SavedModel::load(folder, &device)?;
    devices::open(name, saved.summary.precision.dtype())?;
    Ok(saved)
}
