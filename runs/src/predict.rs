//! `burn-gp predict`.

mod by_value;
mod companion;
mod gaps;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use burn_gp_datasets::{
    Companion, DataError, DataSource, DataWarning, Features, KeptColumns, Matrix, NewRows,
    Standardizer, UnfitRow, agreeing, counted, warnings_of_new_rows,
};
use burn_gp_models::{Predictor, SavedModel};
use clap::{Args, ValueEnum};

use crate::arguments::TrainedModelOptions;
use crate::conformal_intervals::ConformalIntervals;
use crate::coverage::LEVEL;
use crate::evaluation::{self, InOriginalUnits, Levels, evaluate, in_original_units};
use crate::failure::Failure;
use crate::folder_of_models::FolderOfModels;
use crate::option_error::OptionError;
use crate::output::{Destination, ModelContext, PredictionTable};
use crate::outputs;
use crate::preparation::{Part, TargetError, impossible_inputs, impossible_targets};
use crate::progress::RowProgress;
use crate::ranges::within;
use crate::report;
use crate::scores::{COVERAGE, Scores};
use crate::standard_error::{tell, warn};
use crate::standard_output::print_data;
use crate::trained_folder::{open_model, predictor_of};
use companion::require_companion;

pub(crate) use companion::missing_companion;

/// The options of `predict`.
#[derive(Debug, Args)]
pub struct PredictArguments {
    /// Folder written by `train`, also by `train --by`: each row is then predicted by the model of its value
    #[arg(short, long, value_name = "DIR")]
    pub model_dir: PathBuf,
    /// Rows to predict: a file, the name of a data set, or - for text from the standard input
    #[arg(short, long, value_name = "FILE")]
    pub data: String,
    /// File to write, or - for the standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write one JSON object per line instead of CSV
    #[arg(long)]
    pub json: bool,
    /// Nominal coverage of the central prediction intervals
    #[arg(
        long,
        value_name = "P",
        allow_negative_numbers = true,
        default_value_t = LEVEL
    )]
    pub level: f64,
    /// How the ends of intervals, lower and upper, are computed; quantiles are always those of the model
    #[arg(long, value_enum, value_name = "METHOD", default_value_t = IntervalMethod::Model)]
    pub intervals: IntervalMethod,
    /// Also write the quantiles for these probabilities, such as 0.05,0.5,0.95
    #[arg(
        long,
        value_name = "P,...",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    pub quantiles: Vec<f64>,
    /// Columns of the data to copy to the predictions, separated by commas; --keep alone copies all
    #[arg(long, value_name = "COLUMNS", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    pub keep: Option<Vec<String>>,
    /// Stop at the first row that cannot be predicted instead of leaving its prediction empty
    #[arg(long)]
    pub strict: bool,
    /// The file has no header; its columns are in the order of training. --no-header=false reads the
    /// first line as a header even if all its fields are numbers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_header: Option<bool>,
    /// Predict the empty targets of a row from its known ones, too; for models of several outputs. Known cells are
    /// predicted as well, and no scores are printed
    #[arg(long)]
    pub given: bool,
    /// The options of every command that uses a trained model.
    #[command(flatten)]
    pub shared: TrainedModelOptions,
}

/// How the ends of intervals are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum IntervalMethod {
    /// Quantiles of the predictive distribution, which assume that the model is right
    #[default]
    Model,
    /// Conformal, with a guarantee even if the model is wrong: jackknife+ from the training rows of exact regression,
    /// split conformal from the test rows of other models
    Conformal,
}

/// Runs `burn-gp predict`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn predict(arguments: &PredictArguments) -> Result<(), Failure> {
    let levels = levels(arguments)?;
    if let Some(context) = outputs::Context::within(&arguments.model_dir)? {
        return predict_outputs(arguments, &context);
    }
    if arguments.given {
        return Err(Failure::Arguments(
            "--given is for models of several outputs, trained with train --targets".to_owned(),
        ));
    }
    if let Some(models) = FolderOfModels::at(&arguments.model_dir) {
        return by_value::predict(arguments, &models, &levels);
    }
    let saved = open_model(&arguments.model_dir, arguments.shared.device.as_ref())?;
    let (source, destination) = places(arguments)?;
    let model = (arguments.model_dir.as_path(), &saved);
    let Predicted {
        table,
        sentence,
        scores,
        inside,
    } = predicted(arguments, model, &source, (&levels, Vec::new()))?;
    write(table, destination, arguments.json)?;
    let said = sentence.into_iter();
    let scores = scores.as_ref().map(report::score_line);
    said.chain(scores)
        .chain(inside)
        .for_each(|line| tell(&line));
    Ok(())
}

/// The rows to predict, and the file to write, if there is one.
fn places(arguments: &PredictArguments) -> Result<(DataSource, Option<Destination>), Failure> {
    Destination::with_source(
        &arguments.data,
        arguments.out.as_ref(),
        &arguments.shared,
        &arguments.model_dir,
    )
}

/// The predictions of rows.
struct Predicted {
    table: PredictionTable,
    /// What conformal intervals promise, if they are asked for.
    sentence: Option<String>,
    /// The scores of the rows with a known target.
    scores: Option<Scores>,
    /// How many known targets are in intervals of another level than those of the score `coverage`.
    inside: Option<String>,
}

/// The predictions of the rows of `source` by a saved model and its folder. `numbers` are those of the rows in the
/// table; if empty, they are counted from zero.
fn predicted(
    arguments: &PredictArguments,
    (folder, saved): (&Path, &SavedModel<ModelContext>),
    source: &DataSource,
    (levels, numbers): (&Levels, Vec<usize>),
) -> Result<Predicted, Failure> {
    let context = &saved.context;
    let mut features = source.load_new_rows(&context.schema, &new_rows(arguments))?;
    require_transformable(&mut features, context, arguments.strict)?;
    let conformal = conformal(arguments, (folder, saved), &features)?;
    let predictor = predictor_of(saved)?;
    warn_of(&features, context);
    let rows = Rows::new(&features, context);
    rows.check_targets(&predictor, &features)?;
    let scale = &context.standardizer;
    let inputs = gaps::with_deviations(&rows.part.inputs, &features, context);
    let (mut original, mut scores) = match inputs {
        None => rows.predict(&predictor, scale, levels)?,
        Some(inputs) => {
            let predictor = predictor.with_uncertain_inputs();
            rows.with_inputs(inputs)
                .predict(&predictor, scale, levels)?
        }
    };
    if let Some(conformal) = &conformal {
        conformal.replace(&mut original, &rows.part, scale);
        scores = scores.map(|scores| rows.with_coverage(scores, &original));
    }
    let inside = rows.targets_inside(&original, levels.interval, conformal.is_some());
    let numbers = match numbers.is_empty() {
        true => (0..rows.part.len()).collect(),
        false => numbers,
    };
    let classes = context.schema.classes.as_ref();
    let table = PredictionTable::new(numbers.into_iter(), &original, classes);
    let unfit: BTreeSet<usize> = features.unfit.iter().map(|unfit| unfit.row).collect();
    Ok(Predicted {
        table: table.without(&unfit).carrying(features.kept),
        sentence: conformal.map(|conformal| conformal.sentence()),
        scores,
        inside,
    })
}

/// Writes a table of predictions to a file, or prints it.
fn write(
    table: PredictionTable,
    destination: Option<Destination>,
    as_json: bool,
) -> Result<(), Failure> {
    let text = match as_json {
        true => table.to_json_lines(),
        false => table.to_csv(),
    };
    match destination {
        Some(destination) => destination.write(&text),
        None => print_data(&text),
    }
}

/// Known targets that the transformation of the target does not take are not scored, and rows with such inputs cannot be
/// predicted; with `strict`, the first is an error.
fn require_transformable(
    features: &mut Features,
    context: &ModelContext,
    strict: bool,
) -> Result<(), DataError> {
    let (schema, standardizer) = (&context.schema, &context.standardizer);
    if let Some(mut targets) = features.targets.take() {
        let found = impossible_targets(&targets, &features.origin, schema, standardizer);
        let unscored: Vec<_> = found.collect();
        for (place, (row, error)) in unscored.into_iter().enumerate() {
            if strict {
                return Err(error.into());
            }
            if place == 0 {
                warn(format!(
                    "targets that the model does not take are not scored; the first: {error}"
                ));
            }
            targets[row] = f64::NAN;
        }
        features.targets = Some(targets);
    }
    let known: BTreeSet<usize> = features.unfit.iter().map(|unfit| unfit.row).collect();
    let found = impossible_inputs(features, schema, standardizer);
    let found: Vec<_> = found.filter(|(row, _)| !known.contains(row)).collect();
    for (row, error) in found {
        if strict {
            return Err(error.into());
        }
        let reason = error.to_string();
        features.unfit.push(UnfitRow { row, reason });
    }
    features.unfit.sort_by_key(|unfit| unfit.row);
    Ok(())
}

/// The intervals with a guarantee, if they are asked for.
fn conformal(
    arguments: &PredictArguments,
    (folder, saved): (&Path, &SavedModel<ModelContext>),
    features: &Features,
) -> Result<Option<ConformalIntervals>, Failure> {
    if arguments.intervals == IntervalMethod::Model {
        return Ok(None);
    }
    require_companion(features, &saved.context)?;
    ConformalIntervals::of(saved, folder, arguments.level).map(Some)
}

/// The same with a model of several outputs.
fn predict_outputs(
    arguments: &PredictArguments,
    context: &outputs::Context,
) -> Result<(), Failure> {
    if arguments.json || !arguments.quantiles.is_empty() || arguments.keep.is_some() {
        return Err(Failure::Arguments(
            "--json, --quantiles and --keep do not apply to a model of several outputs; remove them"
                .to_owned(),
        ));
    }
    if arguments.intervals == IntervalMethod::Conformal {
        return Err(Failure::Arguments(
            "--intervals conformal is for models of one output, but this model has several; remove the option"
                .to_owned(),
        ));
    }
    let new = outputs::NewInputs {
        model_dir: &arguments.model_dir,
        data: &arguments.data,
        out: arguments.out.as_ref(),
        level: arguments.level,
        given: arguments.given,
        header: arguments.no_header.map(|none| !none),
        shared: &arguments.shared,
    };
    outputs::predict(&new, context)
}

/// The requested intervals and quantiles.
fn levels(arguments: &PredictArguments) -> Result<Levels, OptionError> {
    let check = |option: &'static str, value: f64, usual: &str| {
        let range = format!("lie strictly between 0 and 1; {usual} is common");
        within(option, value, value > 0.0 && value < 1.0, range)
    };
    check("--level", arguments.level, "0.95")?;
    let mut quantiles = Vec::new();
    for &quantile in &arguments.quantiles {
        check("--quantiles", quantile, "0.05,0.5,0.95")?;
        if !quantiles.contains(&quantile) {
            quantiles.push(quantile);
        }
    }
    Ok(Levels {
        interval: arguments.level,
        quantiles,
    })
}

fn new_rows(arguments: &PredictArguments) -> NewRows {
    NewRows {
        header: arguments.no_header.map(|none| !none),
        lenient: !arguments.strict,
        fill_gaps: !arguments.strict,
        keep: match &arguments.keep {
            None => KeptColumns::None,
            Some(names) if names.is_empty() => KeptColumns::All,
            Some(names) => KeptColumns::Named(names.clone()),
        },
    }
}

/// The rows to predict, in the form that the model takes.
struct Rows {
    part: Part,
    /// The positions of the rows with a known target, whose predictions are scored.
    known: Vec<usize>,
}

impl Rows {
    fn new(features: &Features, context: &ModelContext) -> Self {
        let count = features.inputs.rows();
        let is_complete = missing_companion(features, context).is_none();
        let targets = features.targets.clone().filter(|_| is_complete);
        let observed = targets.unwrap_or_else(|| vec![f64::NAN; count]);
        let unfit: BTreeSet<usize> = features.unfit.iter().map(|unfit| unfit.row).collect();
        let is_known = |row: &usize| !observed[*row].is_nan() && !unfit.contains(row);
        Self {
            known: (0..count).filter(is_known).collect(),
            part: Part::of_new_rows(features, &observed, &context.standardizer),
        }
    }

    /// The same rows with other inputs.
    fn with_inputs(&self, inputs: Matrix) -> Self {
        Self {
            part: Part {
                inputs,
                ..self.part.clone()
            },
            known: self.known.clone(),
        }
    }

    /// Fails on the first target that the likelihood does not support.
    fn check_targets(&self, predictor: &Predictor, features: &Features) -> Result<(), TargetError> {
        if self.known.is_empty() {
            return Ok(());
        }
        let known = self.part.select(&self.known);
        let (targets, columns) = known.likelihood_targets();
        let precision = predictor.dtype();
        let likelihood = predictor.likelihood().description();
        let checked = likelihood.check_targets_in(precision, &targets, columns);
        checked.map_err(|impossible| {
            let row = known.rows[impossible.row];
            let location = features.origin.location(row);
            TargetError::new(location, self.part.observed[row], impossible)
        })
    }

    /// How many known targets are in their intervals of another level than the usual one.
    fn targets_inside(
        &self,
        predictions: &InOriginalUnits,
        level: f64,
        is_conformal: bool,
    ) -> Option<String> {
        let is_asked = level != LEVEL && !self.known.is_empty();
        (is_asked && !predictions.central_level.is_empty()).then_some(())?;
        let own = self.known.iter().map(|&row| predictions.central_level[row]);
        // Targets that are not known exactly have no level.
        let own: Vec<f64> = own.filter(|own| !own.is_nan()).collect();
        let inside = (own.iter()).filter(|&&own| own < level || (own == level && !is_conformal));
        let share = 100.0 * inside.count() as f64 / own.len() as f64;
        Some(format!(
            "{share:.1} % of the known targets are in their {} % intervals; coverage is that of {} % intervals",
            100.0 * level,
            100.0 * LEVEL
        ))
    }

    /// The scores with the coverage of conformal intervals. They contain targets from a level on, itself excluded.
    fn with_coverage(&self, scores: Scores, predictions: &InOriginalUnits) -> Scores {
        let levels = self.known.iter().map(|&row| predictions.central_level[row]);
        let inside = levels.filter(|&level| level < LEVEL).count();
        scores.with(COVERAGE, inside as f64 / self.known.len() as f64)
    }

    /// The predictions of all rows, and the scores of those with a known target.
    fn predict(
        &self,
        predictor: &Predictor,
        standardizer: &Standardizer,
        levels: &Levels,
    ) -> Result<(InOriginalUnits, Option<Scores>), Failure> {
        let part = &self.part;
        let progress = || RowProgress::new("row", part.len(), false);
        if self.known.len() == part.len() {
            let scored = evaluate(predictor, part, standardizer, levels, progress())?;
            return Ok((scored.original, Some(scored.scores)));
        }
        let predictions = evaluation::predict(predictor, part, progress());
        let levels = &levels.with_quantile_of(predictor);
        let mut original = in_original_units(&predictions, standardizer, levels);
        if self.known.is_empty() {
            return Ok((original, None));
        }
        let known = part.select(&self.known);
        let scored = evaluate(predictor, &known, standardizer, levels, progress())?;
        original.observed.clone_from(&part.observed);
        if !scored.original.central_level.is_empty() {
            original.central_level = vec![f64::NAN; part.len()];
            for (&row, &level) in self.known.iter().zip(&scored.original.central_level) {
                original.central_level[row] = level;
            }
        }
        Ok((original, Some(scored.scores)))
    }
}

/// Warns about unused columns, rows without a prediction, and intervals without noise.
pub(crate) fn warn_of(features: &Features, context: &ModelContext) {
    let known = |name: &String| context.left_out.contains(name);
    let unknown: Vec<&str> = (features.ignored.iter())
        .filter(|name| !known(name) && Some(*name) != context.schema.id.as_ref())
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        warn(format!(
            "these columns are not inputs of the model: {names}"
        ));
    }
    if let Some(first) = features.unfit.first() {
        warn(format!(
            "{} of {} {} no prediction; the first: {}",
            features.unfit.len(),
            counted(features.inputs.rows(), "row"),
            agreeing(features.unfit.len(), ["has", "have"]),
            first.reason
        ));
    }
    for warning in warnings_of_new_rows(features, &context.levels) {
        warn(match warning {
            DataWarning::FilledGaps { name, count, rows } => {
                DataWarning::AveragedGaps { name, count, rows }
            }
            other => other,
        });
    }
    if let Some(column) = missing_companion(features, context) {
        let consequence = match column.kind {
            Companion::Noise => "the intervals do not include noise",
            Companion::RowNoise => "the intervals have the trained noise alone",
            Companion::Trials => "predictions are the share of successes",
            Companion::Upper => "targets are not scored",
        };
        warn(format!(
            "there is no column {:?}, so {consequence}",
            column.name
        ));
    }
}
