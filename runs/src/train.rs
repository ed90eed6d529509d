//! `burn-gp train`.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use burn::tensor::{DType, Device};
use burn_gp_datasets::DataSource;
use burn_gp_models::{
    AnyModel, ExactConfig,
    training::{AnyTrainer, HeldOutRows, Model, Validation},
};
use clap::Args;

use crate::arguments::{ModelChoice, Property, RunOptions, read_configuration};
use crate::automatic;
use crate::column_table::columns_table;
use crate::cross_validation::cross_validate;
use crate::devices::{ComputeTarget, on_devices};
use crate::early_stopping::{held_out, stopping_point};
use crate::failure::{Failure, FolderError};
use crate::first_periods::with_first_periods;
use crate::fitting::{
    Checkpoints, Clock, Interrupt, Outcome, RunState, Session, StoppingPoint, TestScores,
    TrainingLog, read_checkpoint,
};
use crate::input_noise;
use crate::option_error::OptionError;
use crate::output::{OutputFolder, default_folder_name};
use crate::outputs::{self, OutputsArguments};
use crate::plan::{EarlyStopping, Plan, check, long_periods, resolve};
use crate::preparation::PreparedData;
use crate::progress::{Progress, RowProgress};
use crate::pure_error::{require_possible_noise, require_unfollowed_noise};
use crate::restarts::with_restarts;
use crate::results::write_results;
use crate::standard_error::warn;
use crate::standard_output::inform;
use crate::train_by;

/// The options of `train`.
#[derive(Debug, Args)]
pub struct TrainArguments {
    /// The options that a configuration file can have, too.
    #[command(flatten)]
    pub options: RunOptions,
    /// The columns of several outputs.
    #[command(flatten)]
    pub outputs: OutputsArguments,
    /// Train a model for each value of this column, such as a store or a patient, and print a table of their scores;
    /// the column is then no input
    #[arg(
        long,
        value_name = "COLUMN",
        help_heading = "Data",
        hide_short_help = true,
        conflicts_with_all = ["resume", "targets", "task_column", "folds", "fold", "rows", "stream"]
    )]
    pub by: Option<String>,
    /// Output folder [default: out/DATA-MODEL]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Replace the folder of an earlier run; a finished run is kept until the new one finishes
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
    /// Continue the interrupted run in this folder
    ///
    /// Only --learning-rate, --gradient-norm, --natural-gradient, --natural-gradient-warm-up,
    /// --jitter, --epochs, --steps, --patience and --checkpoint-every can be changed.
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Output",
        hide_short_help = true,
        conflicts_with_all = ["out", "overwrite", "config"]
    )]
    pub resume: Option<PathBuf>,
    /// Read the options that are not given here from this TOML or JSON file, such as the config.toml of
    /// an earlier run
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub config: Option<PathBuf>,
    /// Print only errors and warnings
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub quiet: bool,
}

/// The number of rows above which exact regression gives a warning.
const MANY_ROWS: usize = 10_000;

/// The default minimum number of steps between two validations.
const FEWEST_STEPS: usize = 50;

/// The same in the search for the number of steps, which can be small.
const FEWEST_STEPS_OF_SEARCH: usize = 20;

/// Runs `burn-gp train`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn train(arguments: TrainArguments) -> Result<(), Failure> {
    let place = outputs::Place {
        out: arguments.out.clone(),
        overwrite: arguments.overwrite,
        quiet: arguments.quiet,
    };
    if arguments.outputs.are_given() {
        return outputs::train(&arguments.outputs, &arguments.options, &place);
    }
    if let Some(column) = &arguments.by {
        let options = options(&arguments, None)?.with_absolute_paths();
        return train_by::train_by(column, &options, &place);
    }
    train_one(&arguments)
}

/// Trains a model of one output.
fn train_one(arguments: &TrainArguments) -> Result<(), Failure> {
    let quiet = arguments.quiet;
    if arguments.resume.is_some() {
        require_changeable(&arguments.options)?;
    }
    let resumed = (arguments.resume.as_deref())
        .map(OutputFolder::resume)
        .transpose()?;
    let options = options(arguments, resumed.as_ref())?;
    if options.folds.is_some() && options.fold.is_none() {
        return all_folds(arguments, &options.with_absolute_paths());
    }
    let source = options.source()?;
    let given = options
        .with_absolute_paths()
        .with_inferred_likelihood(&source)?;
    let is_automatic = resumed.is_none() && given.is_automatic();
    let options = check(&with_default_model(&given)?, &source)?;
    if resumed.is_none() && !is_automatic {
        arguments.options.require_use(options.model())?;
    }
    let place = ComputeTarget::of(&options)?;
    let (device, dtype) = place.open()?;
    let devices = place.open_all(&options)?;
    let is_resumed = resumed.is_some();
    let default = || default_folder(&options, is_automatic, &source);
    let folder = folder(arguments, resumed, default)?;
    let data = load(&source, &options, quiet)?;
    let (_, plan) = resolve(&options, &data)?;
    input_noise::deviations(&options, &data)?;
    let likelihood = plan.model.likelihood().init((&device, dtype));
    data.check_targets(&likelihood.description(), dtype)?;
    let mut columns = match is_resumed || quiet {
        true => String::new(),
        false => columns_table(&data),
    };
    let place = (&device, dtype);
    let (options, data) = match is_automatic {
        true => {
            inform(&std::mem::take(&mut columns));
            automatic::settled(given, &source, data, place, quiet)?
        }
        false if is_resumed => (options, data),
        false => (with_first_periods(options, &data, place)?, data),
    };
    let (options, losses) = with_restarts(options, &data, place, quiet)?;
    columns += &losses;
    warn_of(&data, &options);
    let run = Run {
        folder: &folder,
        device,
        devices,
        dtype,
        interrupt: Interrupt::install()?,
        quiet,
        columns: Cell::new(columns),
    };
    (run.train(options, &data, is_resumed))
        .and_then(|(plan, session)| write_results(&session, &plan, &data, &folder, quiet))
        .map_err(|failure| failure.or_go_on(|| kept(&folder)))
}

/// The folder of the run that is resumed, or a new one.
fn folder(
    arguments: &TrainArguments,
    resumed: Option<OutputFolder>,
    default: impl FnOnce() -> PathBuf,
) -> Result<OutputFolder, Failure> {
    if let Some(folder) = resumed {
        return Ok(folder);
    }
    let path = arguments.out.clone().unwrap_or_else(default);
    OutputFolder::claim(&path, arguments.overwrite)
}

/// Loads the data. Shows the progress if their rows are read during training.
fn load(source: &DataSource, options: &RunOptions, quiet: bool) -> Result<PreparedData, Failure> {
    let mut progress: Option<RowProgress> = None;
    let watch = |done, all| {
        let display = || RowProgress::new("row", all, quiet);
        progress.get_or_insert_with(display).update(done);
    };
    Ok(PreparedData::load_watched(source, options, watch)?)
}

/// Runs the cross-validation on all folds.
fn all_folds(arguments: &TrainArguments, options: &RunOptions) -> Result<(), Failure> {
    let source = options.source()?;
    let default = || {
        let name = default_folder(options, options.is_automatic(), &source);
        PathBuf::from(format!("{}-folds", name.display()))
    };
    let out = arguments.out.clone().unwrap_or_else(default);
    cross_validate(options, out, (arguments.overwrite, arguments.quiet))
}

/// Advice after a failure to write files: what is kept, and how to continue.
fn kept(folder: &OutputFolder) -> Option<String> {
    let step = folder.checkpoints().latest_step()?;
    let path = folder.path().display();
    Some(format!(
        "the checkpoint of step {step} is kept, so continue with: burn-gp train --resume {path}"
    ))
}

/// The device and the output of a run.
struct Run<'a> {
    folder: &'a OutputFolder,
    device: Device,
    /// The devices that share the mini-batches, if there are several.
    devices: Vec<Device>,
    dtype: DType,
    interrupt: Interrupt,
    quiet: bool,
    /// The table of the columns until it is printed, which is after the model is made because that may fail.
    columns: Cell<String>,
}

impl Run<'_> {
    /// Trains on all training rows. With early stopping, a search on held-out rows finds the number of steps
    /// first, and the options are then those of a run with that number of steps. Checkpoints store them, so
    /// that an interrupted run continues in the right phase.
    fn train(
        &self,
        mut options: RunOptions,
        data: &PreparedData,
        is_resumed: bool,
    ) -> Result<(Plan, Session), Failure> {
        let mut start = match is_resumed {
            true => Start::Resumed,
            false => Start::New,
        };
        let mut found = None;
        if let Some((share, held_out)) = held_out(&options, data)? {
            options.early_stopping = Some(share);
            let (_, session) = self.fit(&options, &held_out, start, None)?;
            start = Start::Again;
            let seconds = session.state.clock.seconds();
            found = stopping_point(&session, &held_out).map(|point| (point, seconds));
            options = session.state.options;
            if let Some((point, _)) = &found {
                (options.steps, options.epochs) = (Some(point.step), None);
            }
        }
        options.early_stopping = Some(0.0);
        let (plan, session) = self.fit(&options, data, start, found)?;
        let session = self.with_input_noise(session, &plan, data)?;
        // The last checkpoint is written, so that an end at any time loses nothing.
        self.interrupt.end_at_once();
        if session.state.input_noise.is_none() && !data.train.has_row_noise() {
            require_unfollowed_noise(&session, data, self.folder.path())?;
        }
        Ok((plan, session))
    }

    /// Trains on with the noise that errors of the inputs make, if they have any.
    fn with_input_noise(
        &self,
        session: Session,
        plan: &Plan,
        data: &PreparedData,
    ) -> Result<Session, Failure> {
        let (options, place) = (&session.state.options, (&self.device, self.dtype));
        match input_noise::errors_of_inputs(options, data, place)? {
            None => Ok(session),
            Some(errors) => {
                let (checkpoints, plan) =
                    (self.folder.checkpoints(), (&plan.model, &plan.training));
                session.with_input_errors(&errors, plan, &checkpoints, &self.interrupt)
            }
        }
    }

    /// Makes the remaining steps.
    fn fit(
        &self,
        options: &RunOptions,
        data: &PreparedData,
        start: Start,
        found: Option<(StoppingPoint, f64)>,
    ) -> Result<(Plan, Session), Failure> {
        let (options, plan) = resolve(options, data)?;
        let remark = plan.remark(data).filter(|_| !self.quiet);
        remark.iter().for_each(|line| inform(line));
        let trainer = plan.trainer(data, (&self.device, self.dtype))?;
        if options.input_noise.is_none() && !data.train.has_row_noise() {
            require_possible_noise(&options, &trainer.model().hyperparameters(), data)?;
        }
        let trainer = on_devices(trainer, &self.devices)?;
        inform(&self.columns.take());
        let mut session = session(trainer, options, data)?;
        if let Some((point, seconds)) = found {
            let state = &mut session.state;
            (state.stopping_point, state.clock) = (Some(point), Clock::at(seconds));
        }
        match start {
            Start::New => (self.folder).begin(|next| session.save(&Checkpoints::within(next)))?,
            Start::Resumed => restore(&mut session, self.folder, data)?,
            Start::Again => session.save(&self.folder.checkpoints())?,
        }
        fit(&mut session, self.folder, &self.interrupt, self.quiet)?;
        Ok((plan, session))
    }
}

/// How training starts.
#[derive(Clone, Copy)]
enum Start {
    /// In a folder without a checkpoint of this run.
    New,
    /// From the last checkpoint.
    Resumed,
    /// From the first step, after the search for the number of steps. The checkpoint of the search stays until
    /// this training has its first one.
    Again,
}

/// The options of the run. The command line overrides the configuration file or the checkpoint, which override
/// the environment.
fn options(
    arguments: &TrainArguments,
    resumed: Option<&OutputFolder>,
) -> Result<RunOptions, Failure> {
    let typed = arguments.options.clone();
    let options = if let Some(folder) = resumed {
        typed.over(read_checkpoint(&latest(folder)?)?.options)
    } else if let Some(path) = &arguments.config {
        typed.over(read_configuration(path)?)
    } else {
        typed
    };
    Ok(options.over(RunOptions::environment()))
}

/// Fails on the first option that a resumed run cannot change.
fn require_changeable(typed: &RunOptions) -> Result<(), OptionError> {
    let fields = typed.fields();
    let fixed = |name: &&String| !RunOptions::has(name, Property::Changeable);
    match fields.keys().find(fixed) {
        None => Ok(()),
        Some(name) => Err(OptionError::FixedOnResume(format!(
            "--{}",
            name.replace('_', "-")
        ))),
    }
}

/// The options with the default model in place of `auto`.
fn with_default_model(options: &RunOptions) -> Result<RunOptions, OptionError> {
    automatic::minutes(options)?;
    if options.field.is_some() && options.is_automatic() {
        return Err(OptionError::FieldOfAutomaticModel);
    }
    Ok(RunOptions {
        model: options.named_model(),
        ..options.clone()
    })
}

/// `out/<data>-<model>`.
fn default_folder(options: &RunOptions, is_automatic: bool, source: &DataSource) -> PathBuf {
    let model = match is_automatic {
        true => ModelChoice::AUTO,
        false => options.model(),
    };
    Path::new("out").join(default_folder_name(source.name(), model.name()))
}

fn warn_of(data: &PreparedData, options: &RunOptions) {
    data.warnings.iter().for_each(warn);
    long_periods(options, data).iter().for_each(warn);
    let rows = data.training_rows();
    if options.model() == ModelChoice::of::<ExactConfig>() && rows > MANY_ROWS {
        let gigabytes = 8e-9 * (rows as f64).powi(2);
        warn(format!(
            "exact regression on {rows} rows keeps several matrices of {gigabytes:.0} GB; \
             --model sgpr and --model svgp need far less"
        ));
    }
}

/// A session before its first step. All defaults are filled into `options`, with a patience if validation rows
/// decide which step's model is kept.
fn session(
    trainer: AnyTrainer<AnyModel>,
    options: RunOptions,
    data: &PreparedData,
) -> Result<Session, OptionError> {
    let is_search = EarlyStopping::of(&options).is_on();
    let fewest = match is_search {
        true => FEWEST_STEPS_OF_SEARCH,
        false => FEWEST_STEPS,
    };
    let validation = match options.patience {
        Some(patience) if !data.validation.is_empty() => {
            let epoch = trainer.steps_per_epoch();
            let interval =
                (options.validation_epochs).map_or(epoch.max(fewest), |epochs| epochs * epoch);
            let seen = trainer.data().clone();
            let part = &data.validation;
            let rows = HeldOutRows {
                inputs: part.inputs.values().to_vec(),
                columns: part.inputs.columns(),
                targets: part.likelihood_targets().0,
            };
            Some(Validation::new(rows, seen, interval, patience))
        }
        _ => None,
    };
    let every = options.score_every.filter(|_| !is_search);
    let steps = trainer.steps_planned();
    let test_scores =
        every.map(|every| TestScores::new(data, trainer.data().clone(), every, steps));
    let state = RunState {
        options,
        checksum: data.checksum(),
        log: TrainingLog::default(),
        validation,
        test_scores,
        stopping_point: None,
        clock: Clock::default(),
        input_noise: None,
        earlier_steps: 0,
    };
    Ok(Session { trainer, state })
}

fn restore(
    session: &mut Session,
    folder: &OutputFolder,
    data: &PreparedData,
) -> Result<(), FolderError> {
    let latest = latest(folder)?;
    if read_checkpoint(&latest)?.checksum != session.state.checksum {
        return Err(FolderError::ChangedData {
            name: data.name.clone(),
            path: folder.path().to_owned(),
        });
    }
    session.restore(&latest)
}

/// The latest checkpoint of an interrupted run.
fn latest(folder: &OutputFolder) -> Result<PathBuf, FolderError> {
    let nothing = || FolderError::NothingToResume(folder.path().to_owned());
    folder.checkpoints().latest().ok_or_else(nothing)
}

fn fit(
    session: &mut Session,
    folder: &OutputFolder,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<(), Failure> {
    let (made, planned) = (
        session.trainer.steps_made(),
        session.trainer.steps_planned(),
    );
    let progress = Progress::new(made, planned, quiet);
    match session.run(&folder.checkpoints(), interrupt, progress)? {
        Outcome::Finished => Ok(()),
        Outcome::Interrupted => Err(Failure::Interrupted {
            step: session.trainer.steps_made(),
            planned,
            folder: folder.path().to_owned(),
        }),
    }
}
