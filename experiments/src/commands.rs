//! The commands of the program.

use clap::{Parser, Subcommand};

use crate::datasets::{self, DatasetsCommand};
use crate::experiment::{self, ExperimentCommand};
use crate::failure::Failure;
use crate::predict::{self, PredictArguments};
use crate::study::{self, CompareArguments, SweepArguments};
use crate::train::{self, TrainArguments};

/// Gaussian processes on your data: train, look at the numbers and plots, predict.
#[derive(Debug, Parser)]
#[command(name = "burn-gp", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit a model, evaluate it on held-out rows, write everything into a folder
    ///
    /// Without any option: a sparse variational Gaussian process on the red-wine data set that is
    /// compiled into the program.
    ///
    /// The folder then holds metrics.json, predictions.csv (row, counted from 0 in the data; y;
    /// mean; std; lower and upper, the ends of the central 95 % interval; level, the smallest one of
    /// an interval that holds y), config.toml (for --config), model.json and weights.bpk (for `predict`),
    /// training_log.csv and plots. Ctrl-C stops after the current step with a checkpoint;
    /// --resume goes on from it, or from the last checkpoint of a killed run, bit for bit.
    #[command(allow_negative_numbers = true)]
    Train(Box<TrainArguments>),
    /// Fit several models to the same data and put their scores side by side
    ///
    /// Every model gets the same training and test rows and the same options; an option that one of
    /// the models has no use for is left out for it. Each run is a process of its own and leaves a
    /// whole folder like that of `train` in DIR/runs/MODEL/seed-SEED.
    ///
    /// The folder then holds results.json, results.csv (one line a model) and a plot. Ctrl-C stops
    /// with checkpoints; --resume, or the same command, makes the runs that are missing.
    #[command(allow_negative_numbers = true)]
    Compare(Box<CompareArguments>),
    /// Run every combination of some options and put their scores into one table
    ///
    /// Each run is a process of its own and leaves a whole folder like that of `train` below
    /// DIR/runs. Runs that are finished in the folder are not repeated, so that the same command, or
    /// --resume, goes on after Ctrl-C, and other values join those that are there.
    ///
    /// The folder then holds results.json, results.csv (one line a combination) and a plot of each
    /// data set.
    #[command(allow_negative_numbers = true)]
    Sweep(Box<SweepArguments>),
    /// Predict new rows with a trained model
    ///
    /// Columns are matched by name where the model's data had names. If the target is among them,
    /// the scores are printed too.
    Predict(PredictArguments),
    /// Repeat an experiment of a paper, with the paper's numbers beside ours
    ///
    /// Runs that are finished in the folder are not repeated, so that the same command goes on after
    /// Ctrl-C or adds runs to those that are there.
    #[command(subcommand)]
    Experiment(ExperimentCommand),
    /// The data sets that are known by name
    #[command(subcommand)]
    Datasets(DatasetsCommand),
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    ///
    /// [`Failure`], which says what to do.
    pub fn execute(self) -> Result<(), Failure> {
        match self {
            Self::Train(arguments) => train::train(*arguments),
            Self::Compare(arguments) => study::compare(*arguments),
            Self::Sweep(arguments) => study::sweep(*arguments),
            Self::Predict(arguments) => predict::predict(&arguments),
            Self::Experiment(command) => experiment::run(command),
            Self::Datasets(DatasetsCommand::List { data_dir }) => {
                datasets::list(data_dir.as_deref())
            }
        }
    }
}
