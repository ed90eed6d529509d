//! The commands of the program.

use std::num::NonZeroUsize;

use burn_gp_experiments::ExperimentCommand;
use burn_gp_runs::{
    devices::{self, DevicesArguments, WorkerArguments},
    failure::Failure,
    forecast::{self, ForecastArguments},
    html_report::{self, ReportArguments},
    predict::{self, PredictArguments},
    sample::{self, SampleArguments},
    show::{self, ShowArguments},
    study::{self, CompareArguments, SweepArguments},
    threads,
    train::{self, TrainArguments},
    update::{self, UpdateArguments},
};
use clap::{CommandFactory, Parser, Subcommand};

use crate::datasets::{self, DatasetsCommand};
use crate::installation::{self, CompletionsArguments, ManualArguments};

/// Gaussian processes for your data: train models, compare them, and predict.
#[derive(Debug, Parser)]
#[command(name = "burn-gp", version, max_term_width = 100)]
pub struct Arguments {
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
    /// Number of threads [default: RAYON_NUM_THREADS, or one for each core]
    ///
    /// Results with different numbers of threads differ by rounding errors.
    #[arg(
        long,
        global = true,
        value_name = "COUNT",
        help_heading = "Computation",
        hide_short_help = true,
        value_parser = threads::parse
    )]
    pub threads: Option<NonZeroUsize>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit a model, evaluate it on held-out rows, and write all results to a folder
    ///
    /// With no options, trains on the built-in red-wine data and chooses a model.
    ///
    /// The folder contains metrics.json, predictions.csv (row, counted from 0 in the data; y; mean;
    /// std; lower and upper, the ends of the central 95 % interval; level, the smallest confidence level
    /// whose interval contains y), config.toml (for --config), model.json and weights.bpk (for
    /// `predict`), training_log.csv and plots. Ctrl-C stops after the current step and writes a
    /// checkpoint; --resume continues bit for bit from it, or from the last checkpoint of a killed
    /// run.
    #[command(allow_negative_numbers = true)]
    Train(Box<TrainArguments>),
    /// Fit several models to the same data and compare their scores
    ///
    /// Every model gets the same training and test rows and the same options, except for options
    /// that it does not use. Each run is a separate process with its own output folder, as from
    /// `train`, in DIR/runs/MODEL/seed-SEED.
    ///
    /// The folder contains results.json, results.csv (one line for each model) and a plot. Ctrl-C
    /// stops with checkpoints; --resume, or the same command, makes the remaining runs.
    #[command(allow_negative_numbers = true)]
    Compare(Box<CompareArguments>),
    /// Train with every combination of some options and list the scores in one table
    ///
    /// Each run is a separate process with its own output folder, as from `train`, below DIR/runs.
    /// Finished runs in the folder are not repeated, so the same command, or --resume, continues
    /// after Ctrl-C, and other values add runs to the existing ones.
    ///
    /// The folder contains results.json, results.csv (one line for each combination) and a plot for
    /// each data set, with another plot over each option that has three or more numeric values.
    #[command(allow_negative_numbers = true)]
    Sweep(Box<SweepArguments>),
    /// Predict new rows with a trained model
    ///
    /// Columns are matched by name if the training data had names. If the file has the target, the
    /// scores are printed too.
    Predict(PredictArguments),
    /// Add rows to a trained model, or remove old ones, without training
    ///
    /// The model predicts as if it had been conditioned on all rows from the start. The
    /// hyperparameters, the standardization and any inducing points are those of training. Columns are
    /// matched by name if the training data had names; every row needs its target. Models that keep
    /// their rows, sgpr, and svgp with Gaussian noise can be updated.
    ///
    /// The folder contains model.json, weights.bpk and the config.toml of the training, for `predict`,
    /// `show`, `sample`, `report` and `update`. Scores and plots of the training are not copied.
    Update(UpdateArguments),
    /// Forecast series over time, with intervals, their parts, and scores of forecasts of the past
    ///
    /// The model of each series is a sum of a level or a trend, seasons and short-term autocorrelation
    /// (deviations that last a few steps), chosen by how well it would have forecast the last values. Time
    /// and memory grow linearly with the number of values, and several series run on several threads. A series that is too short for a model or
    /// constant gets the forecast of a baseline. Columns and events whose future is known can have an
    /// effect (--covariates, --events).
    ///
    /// The folder contains forecast.csv (a row for each series and time), components.csv (trend, seasons,
    /// short-term autocorrelation and covariates), backtest.csv (forecasts from --origins times in the past, each of
    /// which knows only earlier values), metrics.json (the models and their scores next to those of naive,
    /// seasonal naive, drift and ETS), forecasts.json (the models, for --model-dir) and pictures of the
    /// first series. MASE and CRPS are divided by the mean absolute error of the seasonal naive forecast
    /// in the values before; smaller is better.
    #[command(allow_negative_numbers = true)]
    Forecast(Box<ForecastArguments>),
    /// Draw functions, or new targets, from a trained model, jointly at all points of a file
    ///
    /// Functions are in the units of the target. For labels, counts and other targets with a link
    /// function, the draws are of the latent functions.
    Sample(SampleArguments),
    /// Describe a saved model: data, inputs, target, parameters in the units of the data, scores
    Show(ShowArguments),
    /// Write one HTML page about trained models: scores, plots, the effect of each input, columns,
    /// configuration
    ///
    /// The page needs no other file and no network. The training data are read again for the effects
    /// of the inputs; if that fails, the page leaves the effects out and says why.
    Report(ReportArguments),
    /// Repeat an experiment of a paper and show the published values next to ours
    ///
    /// Finished runs in the folder are not repeated, so the same command continues after Ctrl-C or
    /// adds runs to the existing ones.
    #[command(subcommand)]
    Experiment(ExperimentCommand),
    /// List the data sets that have a name
    #[command(subcommand)]
    Datasets(DatasetsCommand),
    /// List the devices that this program can use on this machine, or check one
    Devices(DevicesArguments),
    /// Let other machines train on devices of this machine (feature `remote`)
    ///
    /// Runs until Ctrl-C. Elsewhere, use `--device remote://HOST:PORT` to train and predict on the
    /// device. Data are sent unencrypted, so use networks that you trust. If BURN_GP_TOKEN is set, only
    /// clients with the same BURN_GP_TOKEN are served.
    Worker(WorkerArguments),
    /// Print the completion script of a shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write the manual pages of all commands to a folder
    Man(ManualArguments),
}

impl Command {
    /// Runs the command.
    ///
    /// # Errors
    ///
    /// [`Failure`] with advice for the user.
    pub fn execute(self) -> Result<(), Failure> {
        match self {
            Self::Train(arguments) => train::train(*arguments),
            Self::Compare(arguments) => study::compare(*arguments),
            Self::Sweep(arguments) => study::sweep(*arguments),
            Self::Predict(arguments) => predict::predict(&arguments),
            Self::Update(arguments) => update::update(&arguments),
            Self::Forecast(arguments) => forecast::forecast(&arguments),
            Self::Sample(arguments) => sample::sample(&arguments),
            Self::Show(arguments) => show::show(&arguments),
            Self::Report(arguments) => html_report::report(&arguments),
            Self::Experiment(command) => burn_gp_experiments::run(command),
            Self::Devices(arguments) => devices::run(&arguments),
            Self::Worker(arguments) => devices::work(&arguments),
            Self::Completions(arguments) => {
                installation::completions(&arguments, Arguments::command())
            }
            Self::Man(arguments) => installation::manual(&arguments, Arguments::command()),
            Self::Datasets(DatasetsCommand::List { directory }) => datasets::list(&directory),
        }
    }
}
