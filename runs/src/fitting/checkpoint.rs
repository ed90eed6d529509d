//! Checkpoints: everything needed to continue a run. There is always a complete one.

use std::fs;
use std::path::{Path, PathBuf};

use burn_gp_models::{
    CheckedFolder,
    training::{TrainingError, ValidationProgress},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{RunState, StoppingPoint};
use crate::arguments::RunOptions;
use crate::checksums::seal;
use crate::failure::{Failure, FolderError};
use crate::replacement::{synchronize, synchronize_names};

/// The folder of checkpoints within an output folder.
pub const CHECKPOINT_FOLDER: &str = "checkpoint";

/// The version of the checkpoint format.
const FORMAT_VERSION: u32 = 6;

/// The program that writes checkpoints, with its version.
const WRITER: &str = concat!("burn-gp ", env!("CARGO_PKG_VERSION"));

/// The contents of a checkpoint besides the files of the trainer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    format_version: u32,
    /// The program that wrote it, with its version.
    written_by: String,
    /// The options of the run.
    pub options: RunOptions,
    /// The checksum of the data.
    pub checksum: u32,
    /// Seconds of training so far.
    pub seconds: f64,
    /// The progress of validation.
    pub validation: Option<ValidationProgress>,
    /// Where training stops, if held-out rows determined it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping_point: Option<StoppingPoint>,
}

impl Checkpoint {
    /// A checkpoint in the current format.
    pub fn new(
        options: RunOptions,
        checksum: u32,
        seconds: f64,
        validation: Option<ValidationProgress>,
        stopping_point: Option<StoppingPoint>,
    ) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            written_by: WRITER.into(),
            options,
            checksum,
            seconds,
            validation,
            stopping_point,
        }
    }
}

/// The names of the files beside the trainer's.
pub(super) mod files {
    pub const RUN: &str = "run.json";
    pub const LOG: &str = "training_log.csv";
    pub const CURVE: &str = "learning_curve.csv";
    pub const BEST: &str = "best.bpk";
}

/// The checkpoints of one run: folders `step-N`. After the first is written, a complete one always exists.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// The output folder of the run.
    run: PathBuf,
    folder: PathBuf,
}

const PREFIX: &str = "step-";
const PARTIAL: &str = "partial";

impl Checkpoints {
    /// The checkpoints in the output folder `output`.
    pub fn within(output: &Path) -> Self {
        Self::of_run(output, output)
    }

    /// The checkpoints of the run with the output folder `run`, in the folder `work` until the run ends.
    pub fn of_run(run: &Path, work: &Path) -> Self {
        Self {
            run: run.to_owned(),
            folder: work.join(CHECKPOINT_FOLDER),
        }
    }

    /// The output folder of the run.
    pub fn run(&self) -> &Path {
        &self.run
    }

    /// The folder of the checkpoints.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a checkpoint and removes the earlier ones. `save_trainer` writes the files of the trainer to the
    /// given folder.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn save(
        &self,
        state: &RunState,
        save_trainer: impl FnOnce(&Path) -> Result<(), TrainingError>,
    ) -> Result<(), Failure> {
        let step = state.step();
        let partial = self.folder.join(PARTIAL);
        let complete = self.folder.join(format!("{PREFIX}{step}"));
        if complete.exists() {
            return Ok(());
        }
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(Failure::writing(&partial))?;
        }
        fs::create_dir_all(&partial).map_err(Failure::writing(&partial))?;
        let saved = save_trainer(&partial)
            .map_err(|error| Failure::writing(&partial)(std::io::Error::other(error)))
            .and_then(|()| state.write(&partial))
            .and_then(|()| seal(&partial).map_err(Failure::writing(&partial)))
            .and_then(|()| synchronize(&partial).map_err(Failure::writing(&partial)))
            .and_then(|()| fs::rename(&partial, &complete).map_err(Failure::writing(&complete)))
            .and_then(|()| synchronize_names(&self.folder).map_err(Failure::writing(&complete)));
        if saved.is_err() {
            // Frees the space of a full disk. The first failure is the one to report.
            let _ = fs::remove_dir_all(&partial);
            return saved;
        }
        for earlier in self.steps().into_iter().filter(|&other| other != step) {
            let path = self.folder.join(format!("{PREFIX}{earlier}"));
            fs::remove_dir_all(&path).map_err(Failure::writing(&path))?;
        }
        Ok(())
    }

    /// The folder of the latest complete checkpoint.
    pub fn latest(&self) -> Option<PathBuf> {
        let step = self.steps().into_iter().max()?;
        Some(self.folder.join(format!("{PREFIX}{step}")))
    }

    /// The step of the latest complete checkpoint.
    pub fn latest_step(&self) -> Option<usize> {
        self.steps().into_iter().max()
    }

    fn steps(&self) -> Vec<usize> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let step = |entry: fs::DirEntry| {
            let name = entry.file_name();
            name.to_str()?.strip_prefix(PREFIX)?.parse().ok()
        };
        entries.filter_map(step).collect()
    }
}

/// Reads a checkpoint. The version is checked first, because other versions have other contents.
///
/// # Errors
///
/// If a file is missing or damaged, or the checkpoint has another format version.
pub fn read(folder: &Path) -> Result<Checkpoint, FolderError> {
    let path = folder.join(files::RUN);
    let damaged = |reason: String| FolderError::DamagedCheckpoint {
        path: path.clone(),
        reason,
    };
    let checked = CheckedFolder::open(folder)?;
    let text = checked.read_text(files::RUN)?;
    let content: Value =
        serde_json::from_str(&text).map_err(|reason| damaged(reason.to_string()))?;
    match content.get("format_version").and_then(Value::as_u64) {
        None => Err(damaged("it is not a checkpoint".into())),
        Some(found) if found != u64::from(FORMAT_VERSION) => {
            let writer = content.get("written_by").and_then(Value::as_str);
            Err(FolderError::OtherFormat {
                path,
                found,
                reads: FORMAT_VERSION,
                written_by: writer.map(str::to_owned),
            })
        }
        Some(_) => {
            checked.require_seal()?;
            serde_json::from_value(content).map_err(|reason| damaged(reason.to_string()))
        }
    }
}
