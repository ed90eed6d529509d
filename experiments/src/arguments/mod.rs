//! What is typed on the command line.

mod all_rows;
mod choices;
mod complaint;
mod layers;
mod merge;
mod network;
mod pseudo_observations;
mod run_options;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use crate::experiment::ExperimentCommand;
pub use crate::study::SweepArguments;
pub use all_rows::AllRowsOptions;
pub use choices::{
    ActionRowsName, ActionStartName, AuxiliaryName, BackboneName, CorrectionName, CovarianceName,
    DeviceName, DtypeName, HiddenMeanName, InitializerName, InputScaleName, InversionName,
    KeepName, LikelihoodName, MeanName, ModelName, OptimizerName, PolicyName, PosteriorName,
    ScaleName, ScheduleName, name_of,
};
pub use complaint::complaint;
pub use layers::{ImageOption, LayerOptions};
pub use network::NetworkOptions;
pub use pseudo_observations::PseudoObservationOptions;
pub use run_options::RunOptions;

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
    /// an interval that holds y), config.json (for --config), model.json and weights.bpk (for `predict`),
    /// training_log.csv and plots. Ctrl-C stops after the current step with a checkpoint;
    /// --resume goes on from it, or from the last checkpoint of a killed run, bit for bit.
    #[command(allow_negative_numbers = true)]
    Train(Box<TrainArguments>),
    /// Fit several models to the same data and put their scores side by side
    ///
    /// Every model gets the same training and test rows and the same options; an option that one of
    /// the models has no use for is left out for it. Each run is a process of its own and leaves a
    /// whole folder like that of `train` in DIR/MODEL/seed-SEED.
    ///
    /// The folder then holds comparison.json, comparison.csv (one line a run) and comparison.svg.
    /// Ctrl-C stops with checkpoints; --resume makes the runs that are missing.
    #[command(allow_negative_numbers = true)]
    Compare(Box<CompareArguments>),
    /// Run every combination of some options and put their scores into one table
    ///
    /// Each run is a process of its own and leaves a whole folder like that of `train` in
    /// DIR/runs/DATA/OPTION-VALUE/.../seed-SEED. Runs that are finished in the folder are not
    /// repeated, so that the same command goes on after Ctrl-C.
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

/// What `train` takes.
#[derive(Debug, Args)]
pub struct TrainArguments {
    /// What can also be written in a configuration file.
    #[command(flatten)]
    pub options: RunOptions,
    /// Folder to write [default: out/DATA-MODEL]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Replace the folder of an earlier run
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
        conflicts_with_all = ["out", "overwrite", "config"]
    )]
    pub resume: Option<PathBuf>,
    /// Take every option that is not given here from the config.json of an earlier run
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub config: Option<PathBuf>,
    /// Print errors and warnings only
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

/// What `compare` takes.
#[derive(Debug, Args)]
#[command(mut_arg("model", |argument| argument.hide(true)), mut_arg("seed", |argument| argument.hide(true)))]
pub struct CompareArguments {
    /// The models, such as svgp,sgpr,exact
    #[arg(
        long,
        value_name = "MODELS",
        value_delimiter = ',',
        required_unless_present = "resume",
        help_heading = "Model"
    )]
    pub models: Vec<ModelName>,
    /// Seeds, such as 0,1,2: a run of every model for each, with a split of its own [default: 0]
    #[arg(
        long,
        value_name = "SEEDS",
        value_delimiter = ',',
        help_heading = "Computation"
    )]
    pub seeds: Vec<u64>,
    /// What the runs have in common.
    #[command(flatten)]
    pub options: RunOptions,
    /// Folder to write [default: out/DATA-comparison]
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Replace the folder of an earlier comparison
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
    /// Continue the interrupted comparison in this folder
    #[arg(
        long,
        value_name = "DIR",
        help_heading = "Output",
        conflicts_with_all = ["models", "seeds", "out", "overwrite"]
    )]
    pub resume: Option<PathBuf>,
    /// Print errors and warnings only
    #[arg(long, help_heading = "Output")]
    pub quiet: bool,
}

/// What `predict` takes.
#[derive(Debug, Args)]
pub struct PredictArguments {
    /// Folder that `train` wrote
    #[arg(long, value_name = "DIR")]
    pub model_dir: PathBuf,
    /// Rows to predict: a .csv, .csv.gz or Parquet file, or the name of a data set
    #[arg(long, value_name = "FILE")]
    pub data: String,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long)]
    pub overwrite: bool,
    /// Probability of the central intervals, which lie between quantiles of the predictions
    #[arg(
        long,
        value_name = "P",
        allow_negative_numbers = true,
        default_value_t = 0.95
    )]
    pub level: f64,
    /// Where to compute [default: the first of flex, ndarray, vulkan, wgpu, cuda in this program]
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<DeviceName>,
    /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
}

/// What `datasets` can do.
#[derive(Debug, Subcommand)]
pub enum DatasetsCommand {
    /// Name, size and task of every known data set, and where it is or how to get it
    List {
        /// Folder of the registered data sets [default: the environment variable BURN_GP_DATA]
        #[arg(long, value_name = "DIR")]
        data_dir: Option<PathBuf>,
    },
}
