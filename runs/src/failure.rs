//! The errors that end the program.

use std::path::{Path, PathBuf};

use burn_gp_core::{inference::ConditionError, ops::NotPositiveDefinite};
use burn_gp_datasets::{DataError, SplitError};
use burn_gp_models::{
    CalibrationError, CheckError, InitError, PredictionError, SavedModelError,
    training::{DeviceFailure, LossError, TrainingError, UnreadableRows},
};

use crate::{
    option_error::{ConfigurationError, OptionError},
    plots::PlotError,
    preparation::TargetError,
};

/// A reason why the program ends without success.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An invalid command line.
    #[error("{0}")]
    Arguments(String),
    /// An invalid option.
    #[error(transparent)]
    Setting(#[from] OptionError),
    /// An invalid configuration file.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// Invalid data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A target that does not suit the likelihood.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A folder that cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A model that cannot be made from the data.
    #[error("{0}")]
    Model(#[from] InitError),
    /// A saved model that cannot be read.
    #[error(transparent)]
    SavedModel(#[from] SavedModelError),
    /// Training stopped with an error.
    #[error("training stopped at {source} {advice}")]
    Training {
        /// The error.
        source: Box<TrainingError>,
        /// Advice for the user.
        advice: String,
    },
    /// A trained model that cannot predict.
    #[error("the trained model cannot predict: {0}; try --dtype f64 or a larger --jitter")]
    Prediction(#[from] ConditionError),
    /// Training rows that can no longer be read.
    #[error("{0}.")]
    Rows(UnreadableRows),
    /// Rows that cannot be scored.
    #[error("the rows cannot be scored: {0}")]
    Score(Box<PredictionError>),
    /// Predictions that cannot be calibrated.
    #[error("the predictions cannot be calibrated: {0}")]
    Calibration(Box<CalibrationError>),
    /// A file that cannot be written.
    #[error("{} cannot be written ({source}); check the folder, its permissions and the space left", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A plot that cannot be made.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A failure after which the work so far is kept.
    #[error("{source}; {advice}")]
    Unsaved {
        /// The failure.
        source: Box<Failure>,
        /// What is kept, and how to continue.
        advice: String,
    },
    /// An output file that must not be written.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// The handler of Ctrl-C cannot be installed.
    #[error("Ctrl-C cannot be handled: {0}")]
    Interrupt(#[from] ctrlc::Error),
    /// Ctrl-C.
    #[error(
        "stopped at step {step} of {planned}; continue with: burn-gp train --resume {}",
        folder.display()
    )]
    Interrupted {
        /// The number of completed steps.
        step: usize,
        /// The number of planned steps.
        planned: usize,
        /// The folder with the checkpoint.
        folder: PathBuf,
    },
    /// Runs of a comparison or an experiment that failed.
    #[error("these runs failed (see above) and are not in the table: {}", .0.join("; "))]
    BrokenRuns(Vec<String>),
    /// A device that fails its check.
    #[error(
        "{failed} of {count} cases failed on the device {device}; see the summary for the reasons"
    )]
    DeviceCheck {
        /// The device.
        device: String,
        /// The cases that failed.
        failed: usize,
        /// All cases.
        count: usize,
    },
    /// Training ended at a model that follows the noise of rows with equal inputs.
    #[error(
        "the model is not saved, because it follows noise: {noise}; train for more steps, for example with: \
         burn-gp train --resume {} --steps {}, or choose another likelihood",
        folder.display(),
        10 * steps
    )]
    FollowedNoise {
        /// What is wrong with its noise.
        noise: String,
        /// The number of completed steps.
        steps: usize,
        /// The folder with the checkpoint.
        folder: PathBuf,
    },
    /// The device failed.
    #[error("{0}")]
    Device(#[from] DeviceFailure),
    /// Ctrl-C during an experiment.
    #[error(
        "stopped; run the same command again to continue from the finished runs in {}",
        .0.display()
    )]
    InterruptedExperiment(PathBuf),
    /// An experiment without any available data set.
    #[error("none of the data sets of this experiment can be used (see above)")]
    NoData,
    /// The reader of the standard output closed it.
    #[error("the standard output is closed")]
    ClosedOutput,
}

/// A reason why an output file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum DestinationError {
    /// The file exists.
    #[error(
        "the file {} exists; choose another with --out, or replace it with --overwrite",
        .0.display()
    )]
    Exists(PathBuf),
    /// The file is the input data.
    #[error("{} is the input data; choose another file with --out", .0.display())]
    Input(PathBuf),
    /// The file is part of the model.
    #[error(
        "{} belongs to the model in {}; choose another file with --out",
        path.display(),
        folder.display()
    )]
    OfModel {
        /// The file.
        path: PathBuf,
        /// The model's folder.
        folder: PathBuf,
    },
    /// The path is a folder.
    #[error("{} is a folder, not a file; choose a file in it with --out", .0.display())]
    Folder(PathBuf),
}

/// A reason why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The folder belongs to another run.
    #[error(
        "the folder {} is not empty; choose another with --out, or replace it with --overwrite",
        .0.display()
    )]
    NotEmpty(PathBuf),
    /// The folder holds an interrupted run.
    #[error(
        "the folder {path} holds an unfinished run; continue it with --resume {path}, or start again with --overwrite",
        path = .0.display()
    )]
    Unfinished(PathBuf),
    /// The folder contains files that this program did not write.
    #[error(
        "the folder {} cannot be replaced, because this program did not write {file:?} in it; choose another with --out",
        path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// A file in it.
        file: String,
    },
    /// The folder to replace has results of another kind.
    #[error(
        "the folder {} cannot be replaced, because it has the results of {found}; choose another with --out, or remove it",
        path.display()
    )]
    OtherKind {
        /// The folder.
        path: PathBuf,
        /// What its results are of.
        found: &'static str,
    },
    /// The program needs a hidden file or folder whose name is taken by one that it did not write.
    #[error(
        "{} exists, but this program did not write it; move it away, or choose another folder with --out",
        .0.display()
    )]
    InTheWay(PathBuf),
    /// The folder holds results of an experiment with other options.
    #[error(
        "the folder {} holds results of an experiment with other options; choose another with \
         --out, or replace it with --overwrite",
        .0.display()
    )]
    OtherExperiment(PathBuf),
    /// The folder has no runs of the experiment.
    #[error(
        "{} holds no runs of {experiment} on this device; choose another folder with --cells",
        path.display()
    )]
    NoCells {
        /// The folder.
        path: PathBuf,
        /// The experiment.
        experiment: &'static str,
    },
    /// Another process writes to the folder.
    #[error(
        "the folder {} is in use by another run; wait until it ends, stop it, or choose another folder",
        .0.display()
    )]
    InUse(PathBuf),
    /// The path is not a folder.
    #[error("{} is a file, not a folder; choose another with --out", .0.display())]
    NotAFolder(PathBuf),
    /// The path has no last component.
    #[error("{:?} is not a name for a new folder; choose another with --out", .0.display().to_string())]
    Nameless(PathBuf),
    /// The folder has no checkpoint.
    #[error("{} holds no unfinished run to resume; check the path or start the run again", .0.display())]
    NothingToResume(PathBuf),
    /// The run in the folder is finished.
    #[error("{} holds a finished run; there is nothing to resume", .0.display())]
    Finished(PathBuf),
    /// The checkpoint is damaged.
    #[error("the checkpoint {} cannot be read ({reason}); start the run again with --overwrite", path.display())]
    DamagedCheckpoint {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The checkpoint is in a format that this program does not read.
    #[error(
        "the checkpoint {} has format version {found}{}, but this program reads version {reads}; \
         continue with the program that wrote it",
        path.display(),
        (written_by.as_ref()).map_or_else(String::new, |writer| format!(" and was written by {writer}"))
    )]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// The version in the file.
        found: u64,
        /// The version that this program reads.
        reads: u32,
        /// The program that wrote the file, with its version, if the file says so.
        written_by: Option<String>,
    },
    /// The data have changed since the start of the run.
    #[error("the data {name} have changed since the run in {} began; start it again with --overwrite", path.display())]
    ChangedData {
        /// The data.
        name: String,
        /// The folder.
        path: PathBuf,
    },
    /// The folder has no trained model.
    #[error("there is no trained model in {}; check the path, or train one with --out", .0.display())]
    NoModel(PathBuf),
    /// The folder has several models.
    #[error(
        "{} has a model for each {column}; name the folder of one, such as {}",
        path.display(),
        example.display()
    )]
    OfModels {
        /// The folder.
        path: PathBuf,
        /// The column by which the rows were divided.
        column: String,
        /// The folder of a model.
        example: PathBuf,
    },
    /// All runs of the folder failed.
    #[error("{} has no models, because all runs failed; train them again with `burn-gp train --by`", .0.display())]
    NoModels(PathBuf),
    /// The folder has a forecast, but no trained model.
    #[error("{path} is a folder of `forecast`; use `burn-gp forecast --model-dir {path}`", path = .0.display())]
    OfForecast(PathBuf),
    /// The folder has a trained model, but no forecast.
    #[error("{} is a folder of `train`; use `burn-gp predict` or `burn-gp update`", .0.display())]
    OfTrain(PathBuf),
    /// The folder has no forecast.
    #[error("there is no forecast in {}; check the path, or make one with `burn-gp forecast --out`", .0.display())]
    NoForecast(PathBuf),
    /// The scores of a finished run are damaged.
    #[error("{} cannot be read ({reason}); remove it to continue without it", path.display())]
    DamagedMetrics {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The run in the folder is unfinished.
    #[error("the run in {path} is unfinished; continue it with: burn-gp train --resume {path}", path = .0.display())]
    UnfinishedModel(PathBuf),
}

impl From<CheckError> for FolderError {
    fn from(error: CheckError) -> Self {
        Self::DamagedCheckpoint {
            path: error.path,
            reason: error.reason.to_string(),
        }
    }
}

impl From<SplitError> for Failure {
    fn from(error: SplitError) -> Self {
        Self::Data(error.into())
    }
}

impl From<LossError> for Failure {
    fn from(error: LossError) -> Self {
        match error {
            LossError::Factorization(source) => source.into(),
            LossError::Rows(source) => Self::Rows(source),
        }
    }
}

impl From<NotPositiveDefinite> for Failure {
    fn from(error: NotPositiveDefinite) -> Self {
        Self::Prediction(error.into())
    }
}

impl From<CalibrationError> for Failure {
    fn from(error: CalibrationError) -> Self {
        Self::Calibration(Box::new(error))
    }
}

impl From<PredictionError> for Failure {
    fn from(error: PredictionError) -> Self {
        match error {
            PredictionError::Factorization(source) => source.into(),
            error => Self::Score(Box::new(error)),
        }
    }
}

impl Failure {
    /// Adds `advice` on how to continue if a file cannot be written.
    pub fn or_go_on(self, advice: impl FnOnce() -> Option<String>) -> Self {
        let is_of_files = matches!(
            self,
            Self::Write { .. }
                | Self::Plot(PlotError::Write { .. })
                | Self::SavedModel(SavedModelError::Write { .. })
        );
        match is_of_files.then(advice).flatten() {
            Some(advice) => Self::Unsaved {
                source: Box::new(self),
                advice,
            },
            None => self,
        }
    }

    /// Converts an error about `path` to a failure.
    pub fn writing(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}
