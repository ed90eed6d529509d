//! `burn-gp sample`.

use std::path::PathBuf;

use burn::tensor::Tensor;
use burn_gp_core::{likelihoods::Support, ops::numbers};
use burn_gp_datasets::{
    Companion, DataError, Features, KeptColumns, NewRows, counted, warnings_of_new_rows,
};
use burn_gp_models::Predictor;
use clap::Args;
use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Binomial, Distribution};

use crate::arguments::TrainedModelOptions;
use crate::failure::Failure;
use crate::output::{Destination, Draw, ModelContext, PredictionTable};
use crate::outputs;
use crate::predict::missing_companion;
use crate::preparation::impossible_inputs;
use crate::ranges::{MOST_SIZE, MOST_VALUES, at_most, from_one_to};
use crate::standard_error::warn;
use crate::standard_output::print_data;
use crate::trained_folder::{open_model, predictor_of};

/// The maximum number of rows. Joint draws need the covariance of all pairs of rows.
const MOST_ROWS: usize = 10_000;

/// The options of `sample`.
#[derive(Debug, Args)]
pub struct SampleArguments {
    /// Folder written by `train`
    #[arg(short, long, value_name = "DIR")]
    pub model_dir: PathBuf,
    /// Points to draw at: a file, the name of a data set, or - for text from the standard input
    #[arg(short, long, value_name = "FILE")]
    pub data: String,
    /// Number of draws
    #[arg(short, long, value_name = "S", default_value_t = 10)]
    pub count: usize,
    /// Draw new targets, which include noise, instead of functions
    #[arg(long)]
    pub targets: bool,
    /// Seed of the draws
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,
    /// File to write, or - for the standard output [default: -]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write one JSON object per line instead of CSV
    #[arg(long)]
    pub json: bool,
    /// The file has no header; its columns are in the order of training. --no-header=false reads the
    /// first line as a header even if all its fields are numbers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub no_header: Option<bool>,
    /// The options of every command that uses a trained model.
    #[command(flatten)]
    pub shared: TrainedModelOptions,
}

/// Runs `burn-gp sample`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn sample(arguments: &SampleArguments) -> Result<(), Failure> {
    from_one_to(MOST_SIZE, "--count", Some(arguments.count))?;
    outputs::refuse(&arguments.model_dir, "sample")?;
    let saved = open_model(&arguments.model_dir, arguments.shared.device.as_ref())?;
    let (source, destination) = Destination::with_source(
        &arguments.data,
        arguments.out.as_ref(),
        &arguments.shared,
        &arguments.model_dir,
    )?;
    let wanted = NewRows {
        header: arguments.no_header.map(|none| !none),
        lenient: false,
        fill_gaps: true,
        keep: KeptColumns::None,
    };
    let context = &saved.context;
    let features = source.load_new_rows(&context.schema, &wanted)?;
    let impossible = impossible_inputs(&features, &context.schema, &context.standardizer).next();
    if let Some((_, error)) = impossible {
        return Err(DataError::from(error).into());
    }
    for warning in warnings_of_new_rows(&features, &context.levels) {
        warn(warning);
    }
    let without = missing_companion(&features, context);
    if let Some(column) = without.filter(|own| own.kind == Companion::Trials && arguments.targets) {
        warn(format!(
            "there is no column {:?}, so draws are shares of successes",
            column.name
        ));
    }
    let rows = features.inputs.rows();
    at_most("the number of points", rows, MOST_ROWS, || {
        "joint draws need the covariance of all pairs".into()
    })?;
    let most = MOST_VALUES / 8 / rows.max(1);
    at_most("--count", arguments.count, most, || {
        format!("each draw has {}", counted(rows, "value"))
    })?;
    let inputs = context.standardizer.transform_inputs(&features.inputs);
    let predictor = predictor_of(&saved)?;
    let x = predictor.inputs(inputs.values(), inputs.columns());
    let draws = match arguments.targets {
        true => targets(&predictor, x, (context, &features), arguments)?,
        false => functions(&predictor, x, context, arguments)?,
    };
    let table = PredictionTable::of_draws(0..rows, draws).carrying(features.kept);
    let text = match arguments.json {
        true => table.to_json_lines(),
        false => table.to_csv(),
    };
    match destination {
        Some(destination) => destination.write(&text),
        None => print_data(&text),
    }
}

/// Draws of the functions, in the units of the data if they are on the scale of the target.
fn functions(
    predictor: &Predictor,
    x: Tensor<2>,
    context: &ModelContext,
    arguments: &SampleArguments,
) -> Result<Vec<(String, Draw)>, Failure> {
    let draws = predictor.sample(x, arguments.count, arguments.seed)?; // [S, F, N]
    let [_, functions, rows] = draws.dims();
    let target = context.likelihood.target();
    let is_on_scale = target.is_any_number();
    let values = numbers(draws);
    let curves = values.chunks_exact(rows.max(1)).enumerate();
    let named = curves.map(|(curve, values)| {
        let (draw, function) = (curve / functions + 1, curve % functions + 1);
        let name = match functions {
            1 => format!("draw {draw}"),
            _ => format!("draw {draw} function {function}"),
        };
        let values = match is_on_scale && function == 1 {
            true => context.standardizer.inverse_targets(values),
            false => values.to_vec(),
        };
        (name, Draw::Numbers(values))
    });
    Ok(named.collect())
}

/// Draws of new targets, in the units of the data: numbers of successes if the trials of the rows are known, else shares.
fn targets(
    predictor: &Predictor,
    x: Tensor<2>,
    (context, features): (&ModelContext, &Features),
    arguments: &SampleArguments,
) -> Result<Vec<(String, Draw)>, Failure> {
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    let draws = predictor.sample_targets(x, arguments.count, &mut random)?; // [S, N, 1]
    let [_, rows, columns] = draws.dims();
    let values = numbers(draws);
    let own = predictor.likelihood().target_distribution();
    let support = own.map_or(Support::Reals, |own| own.support());
    let mut drawn = |values: &[f64]| {
        let rescaled = context.standardizer.inverse_targets(values);
        let pairs = values.iter().zip(rescaled);
        let values = pairs.map(|(own, rescaled)| support.in_units(*own, rescaled));
        match (
            &context.schema.classes,
            features.attributes.numbers(Companion::Trials),
        ) {
            (None, None) => Draw::Numbers(values.collect()),
            (None, Some(trials)) => {
                let pairs = values.zip(trials);
                Draw::Numbers(
                    pairs
                        .map(|(share, trials)| successes(share, *trials, &mut random))
                        .collect(),
                )
            }
            (Some(classes), _) => {
                let name = |class: f64| classes.names()[class as usize].clone();
                Draw::Labels(values.map(name).collect())
            }
        }
    };
    let named = values
        .chunks_exact((rows * columns).max(1))
        .zip(1..)
        .map(|(values, draw)| (format!("draw {draw}"), drawn(values)));
    Ok(named.collect())
}

/// A number of successes among trials, each with this probability. NaN stays.
fn successes(probability: f64, trials: f64, random: &mut ChaCha8Rng) -> f64 {
    match Binomial::new(trials as u64, probability) {
        Ok(counts) => counts.sample(random) as f64,
        Err(_) => f64::NAN,
    }
}
