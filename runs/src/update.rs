//! `burn-gp update`.

use std::path::{Path, PathBuf};

use burn_gp_core::ops::numbers;
use burn_gp_datasets::{
    Companion, DataError, DataSource, Features, KeptColumns, Matrix, NewRows, counted,
};
use burn_gp_models::{AnyTrained, SavedModel, SavedModelError, training::TrainingData};
use clap::Args;

use crate::arguments::{CONFIG, DataDirectory, DeviceName};
use crate::checksums::{Links, read_text, seal};
use crate::evaluation::{Levels, evaluate};
use crate::failure::Failure;
use crate::output::{ModelContext, OutputFolder, write_text};
use crate::outputs;
use crate::predict::{missing_companion, warn_of};
use crate::preparation::{Part, TargetError, impossible_targets};
use crate::progress::RowProgress;
use crate::report;
use crate::standard_output::print;
use crate::trained_folder::{open_model, predictor_of};

/// The most new rows that are predicted before the update: with them, scores have two to three digits.
const MOST_SCORED: usize = 10_000;

/// The options of `update`.
#[derive(Debug, Args)]
pub struct UpdateArguments {
    /// Folder written by `train` or `update`
    #[arg(short, long, value_name = "DIR")]
    pub model_dir: PathBuf,
    /// Rows to add: a file, the name of a data set, or - for text from the standard input
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "remove_before"
    )]
    pub data: Option<String>,
    /// Remove the rows before a value of an input column of numbers or dates, such as day=2024-03-01; rows
    /// that --data adds stay
    #[arg(long, value_name = "COLUMN=VALUE")]
    pub remove_before: Option<String>,
    /// Folder to write; without it, --overwrite replaces the model in --model-dir
    #[arg(short, long, value_name = "DIR", required_unless_present = "overwrite")]
    pub out: Option<PathBuf>,
    /// Replace the folder if it exists; it is kept until the new one is complete
    #[arg(long)]
    pub overwrite: bool,
    /// The file has no header; its columns are in the order of training. --no-header=false reads the
    /// first line as a header even if all its fields are numbers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_header: Option<bool>,
    /// Device; `burn-gp devices` lists the devices and marks the default
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceName>,
    /// The folder of the registered data sets
    #[command(flatten)]
    pub data_directory: DataDirectory,
}

/// Runs `burn-gp update`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn update(arguments: &UpdateArguments) -> Result<(), Failure> {
    if let Some(context) = outputs::Context::within(&arguments.model_dir)? {
        return update_outputs(arguments, &context);
    }
    let saved = open_model(&arguments.model_dir, arguments.device.as_ref())?;
    if let (Some(noise), Some(_)) = (&saved.context.input_noise, &arguments.data) {
        let columns = noise.columns.iter();
        let options: String = columns.map(|own| format!(" --input-noise {own}")).collect();
        return Err(Failure::Arguments(format!(
            "the model was trained with --input-noise, and `update` would take the inputs of new rows as exact; train it \
             again on all rows: burn-gp train --config {} --data FILE{options}",
            arguments.model_dir.join(CONFIG).display()
        )));
    }
    let removed = match &arguments.remove_before {
        Some(option) => rows_before(option, &saved)?,
        None => Vec::new(),
    };
    let path = arguments.out.as_ref().unwrap_or(&arguments.model_dir);
    let folder = OutputFolder::claim(path, arguments.overwrite)?;
    let added = match &arguments.data {
        Some(data) => Some(new_rows(data, arguments, &saved)?),
        None => None,
    };
    let mut text = String::new();
    let mut model = saved.model.clone();
    if let Some(part) = &added {
        text += &scores_before(part, &saved)?;
        model = given(part, &saved, &arguments.model_dir)?;
    }
    let (before, count) = (
        saved.summary.data_count,
        added.as_ref().map_or(0, Part::len),
    );
    let after = before + count - removed.len();
    if after == 0 {
        let option = arguments.remove_before.as_deref().unwrap_or_default();
        return Err(Failure::Arguments(format!(
            "--remove-before {option} would remove all {}; choose an earlier value",
            counted(before, "row")
        )));
    }
    if !removed.is_empty() {
        model = (model.without_observations(&removed)).ok_or_else(|| keeps_no_rows(&saved))?;
    }
    // A covariance that cannot be factored is an error here, and not at the first prediction.
    model.process()?;
    text += &format!(
        "{}: {} before, {count} added, {} removed, {after} after; the hyperparameters and the \
         standardization are those of training\n",
        saved.summary.config.name(),
        counted(before, "row"),
        removed.len()
    );
    let configuration = configuration(&arguments.model_dir)?;
    let mut updated = SavedModel { model, ..saved };
    updated.summary.data_count = after;
    folder.finish(|next| {
        updated.save(next)?;
        if let Some(configuration) = &configuration {
            write_text(&next.join(CONFIG), configuration)?;
        }
        seal(next).map_err(Failure::writing(next))
    })?;
    print(&text)
}

/// The same with a model of several outputs.
fn update_outputs(arguments: &UpdateArguments, context: &outputs::Context) -> Result<(), Failure> {
    let remove_before = arguments.remove_before.as_deref();
    let remove_before = remove_before.map(|option| {
        let (column, value) = column_and_value(option)?;
        Ok::<_, Failure>((column, value, option))
    });
    let data_dir = arguments.data_directory.path();
    let data = arguments.data.as_deref();
    let added = data.map(|data| DataSource::resolve(data, data_dir.as_deref()));
    let changed = outputs::ChangedRows {
        model_dir: &arguments.model_dir,
        added: added.transpose()?,
        remove_before: remove_before.transpose()?,
        header: arguments.no_header.map(|none| !none),
        device: arguments.device.as_ref(),
    };
    let path = arguments.out.as_ref().unwrap_or(&arguments.model_dir);
    let folder = OutputFolder::claim(path, arguments.overwrite)?;
    outputs::update(&changed, context, &folder)
}

/// The column and the value of `--remove-before`.
fn column_and_value(option: &str) -> Result<(&str, &str), Failure> {
    option.rsplit_once('=').ok_or_else(|| {
        Failure::Arguments(format!(
            "--remove-before {option}: expected COLUMN=VALUE, such as day=2024-03-01"
        ))
    })
}

/// A line about how well the model predicts new rows; of very many, some are enough.
fn scores_before(part: &Part, saved: &SavedModel<ModelContext>) -> Result<String, Failure> {
    let count = part.len();
    let (name, some) = match count > MOST_SCORED {
        true => {
            let places: Vec<usize> = (0..MOST_SCORED)
                .map(|row| row * count / MOST_SCORED)
                .collect();
            let name = format!("{MOST_SCORED} of the {count} new rows");
            (name, Some(part.select(&places)))
        }
        false => ("the new rows".to_owned(), None),
    };
    let (predictor, scale) = (predictor_of(saved)?, &saved.context.standardizer);
    let (part, progress) = (
        some.as_ref().unwrap_or(part),
        RowProgress::new("row", 0, true),
    );
    let scored = evaluate(&predictor, part, scale, &Levels::default(), progress)?;
    let line = report::score_line(&scored.scores);
    Ok(format!("{name}, predicted before the update: {line}\n"))
}

/// The new rows in the form that the model takes.
fn new_rows(
    data: &str,
    arguments: &UpdateArguments,
    saved: &SavedModel<ModelContext>,
) -> Result<Part, Failure> {
    let data_dir = arguments.data_directory.path();
    let source = DataSource::resolve(data, data_dir.as_deref())?;
    let rows = NewRows {
        header: arguments.no_header.map(|none| !none),
        lenient: false,
        fill_gaps: false,
        keep: KeptColumns::None,
    };
    let context = &saved.context;
    let features = source.load_new_rows(&context.schema, &rows)?;
    let targets = targets_of(&features, context, data)?;
    let (schema, standardizer) = (&context.schema, &context.standardizer);
    let refused = impossible_targets(targets, &features.origin, schema, standardizer).next();
    if let Some((_, error)) = refused {
        return Err(DataError::from(error).into());
    }
    warn_of(&features, context);
    let part = Part::of_new_rows(&features, targets, &context.standardizer);
    let (device, dtype) = saved.model.options();
    let likelihood = saved.summary.config.likelihood().init((&device, dtype));
    let (targets, columns) = part.likelihood_targets();
    let checked = likelihood
        .description()
        .check_targets_in(dtype, &targets, columns);
    checked.map_err(|impossible| {
        let row = impossible.row;
        TargetError::new(
            features.origin.location(row),
            part.observed[row],
            impossible,
        )
    })?;
    Ok(part)
}

/// The targets. Every row needs one, with its noise if the model knows the noise of its rows.
fn targets_of<'a>(
    features: &'a Features,
    context: &ModelContext,
    data: &str,
) -> Result<&'a [f64], Failure> {
    let target = &context.schema.target_name;
    let missing = |name: &str, what: &str| {
        Failure::Arguments(format!(
            "{data} has no column {name:?} with values; it is the {what}, which new rows need"
        ))
    };
    let targets = (features.targets.as_deref()).ok_or_else(|| missing(target, "target"))?;
    if let Some(row) = targets.iter().position(|target| target.is_nan()) {
        let location = features.origin.location(row);
        return Err(Failure::Arguments(format!(
            "{location}: column {target:?}, the target, is empty; fill it in or remove the row"
        )));
    }
    match missing_companion(features, context) {
        // Without it, new rows have the trained noise alone: `warn_of` has said so.
        Some(column) if column.kind == Companion::RowNoise => Ok(targets),
        Some(column) => {
            let what = format!("{} of the target", column.kind.name());
            Err(missing(&column.name, &what))
        }
        None => Ok(targets),
    }
}

/// The model given the new rows.
fn given(
    part: &Part,
    saved: &SavedModel<ModelContext>,
    folder: &Path,
) -> Result<AnyTrained, Failure> {
    let (device, dtype) = saved.model.options();
    let (targets, columns) = part.likelihood_targets();
    let inputs = part.inputs.values();
    let mut rows = TrainingData::with_target_columns(inputs, &targets, columns, &device, dtype);
    if let Some(noise) = part.row_noise() {
        rows = rows.with_row_values(noise);
    }
    let TrainingData { inputs, targets } = rows;
    let model = saved.model.condition_on_observations(inputs, targets);
    let model = model.ok_or_else(|| {
        let (name, config) = (saved.summary.config.name(), folder.join(CONFIG));
        Failure::Arguments(format!(
            "model '{name}' takes no new rows after training; train it again on all rows: burn-gp train --config {} \
             --data FILE",
            config.display()
        ))
    })?;
    Ok(model?)
}

/// The positions of the model's rows with an input before a value.
fn rows_before(option: &str, saved: &SavedModel<ModelContext>) -> Result<Vec<usize>, Failure> {
    let invalid =
        |reason: String| Failure::Arguments(format!("--remove-before {option}: {reason}"));
    let (column, value) = column_and_value(option)?;
    let context = &saved.context;
    let (input, value) = (context.schema.ordered_input(column, value))
        .map_err(|error| invalid(error.to_string()))?;
    let rows = saved
        .model
        .observations()
        .ok_or_else(|| keeps_no_rows(saved))?;
    let (device, dtype) = saved.model.options();
    let columns = context.standardizer.input_mean.len();
    let mut limit = vec![0.0; columns];
    limit[input] = value;
    let limit = Matrix::new(1, columns, limit);
    let limit = context.standardizer.transform_inputs(&limit);
    // Rounded like the rows, so that a row with just this value stays.
    let limit = TrainingData::new(limit.values(), &[0.0], &device, dtype).inputs;
    let limit = numbers(limit)[input];
    let inputs = numbers(rows.inputs);
    let rows = inputs.chunks_exact(columns).enumerate();
    Ok(rows
        .filter(|(_, inputs)| inputs[input] < limit)
        .map(|(row, _)| row)
        .collect())
}

/// The failure to remove rows that the model does not keep.
fn keeps_no_rows(saved: &SavedModel<ModelContext>) -> Failure {
    Failure::Arguments(format!(
        "--remove-before needs a model that keeps its rows, such as exact, vecchia or markov, and model '{}' does not; \
         train it again on the rows that remain",
        saved.summary.config.name()
    ))
}

/// The configuration of the training, if the folder has one.
fn configuration(folder: &Path) -> Result<Option<String>, Failure> {
    let path = folder.join(CONFIG);
    match path.exists() {
        false => Ok(None),
        true => {
            let text = read_text(&path, Links::Followed).map_err(SavedModelError::from)?;
            Ok(Some(text))
        }
    }
}
