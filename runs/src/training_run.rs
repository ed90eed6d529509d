//! Training runs in separate processes, which isolates their memory use and crashes.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::arguments::RunOptions;
use crate::checksums::{Links, read_text};
use crate::failure::{Failure, FolderError};
use crate::fitting::{Checkpoints, Interrupt};
use crate::output;
use crate::report::Metrics;
use crate::threads;

/// The time between two checks of a run.
const PATIENCE: Duration = Duration::from_millis(20);

/// The time that a run has after an interrupt to write its checkpoint.
const GRACE: Duration = Duration::from_secs(30);

/// A training run with its own folder.
pub struct TrainingRun {
    /// The folder of the run.
    pub folder: PathBuf,
    /// The options of `train`.
    pub options: RunOptions,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum RunEnd {
    /// The run finished with these metrics.
    Finished(Box<Metrics>),
    /// The run refused its options; it printed the reason.
    Refused,
    /// The run failed; it printed the reason.
    Broken,
    /// The user interrupted the run.
    Interrupted,
}

impl TrainingRun {
    /// The metrics of the run in `folder`; `None` if it is not finished.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn finished(folder: &Path) -> Result<Option<Metrics>, FolderError> {
        let path = folder.join(output::METRICS);
        if !path.exists() {
            return Ok(None);
        }
        let metrics = serde_json::from_str(&read_text(&path, Links::Followed)?);
        metrics.map_err(|error| FolderError::DamagedCheckpoint {
            path,
            reason: error.to_string(),
        })
    }

    /// The folders of the finished runs within `folder` with their metrics, sorted by seed.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn places_finished(folder: &Path) -> Result<Vec<(PathBuf, Metrics)>, FolderError> {
        let mut finished = Vec::new();
        for name in output::names_in(folder) {
            let place = folder.join(name);
            let metrics = Self::finished(&place)?;
            finished.extend(metrics.map(|metrics| (place, metrics)));
        }
        finished.sort_by_key(|(_, metrics)| metrics.seed);
        Ok(finished)
    }

    /// Starts or continues the run, unless it is finished.
    ///
    /// # Errors
    ///
    /// If files cannot be read or written.
    pub fn execute(&self, quiet: bool, interrupt: &Interrupt) -> Result<RunEnd, Failure> {
        if let Some(metrics) = Self::finished(&self.folder)? {
            return Ok(RunEnd::Finished(Box::new(metrics)));
        }
        let mut command = self.command(quiet)?;
        command.env(threads::VARIABLE, threads::count().to_string());
        let status = self.wait_for(command, interrupt)?;
        self.end(status, interrupt)
    }

    fn end(&self, status: ExitStatus, interrupt: &Interrupt) -> Result<RunEnd, Failure> {
        Ok(match (status.code(), Self::finished(&self.folder)?) {
            (Some(0), Some(metrics)) => RunEnd::Finished(Box::new(metrics)),
            (Some(2), _) => RunEnd::Refused,
            _ if interrupt.is_requested() => RunEnd::Interrupted,
            _ => RunEnd::Broken,
        })
    }

    /// Like [`execute`](Self::execute), for runs side by side: on one thread, and with the errors and warnings of the
    /// run as a text instead of on the terminal.
    ///
    /// # Errors
    ///
    /// If files cannot be read or written.
    pub fn execute_aside(&self, interrupt: &Interrupt) -> Result<(RunEnd, String), Failure> {
        if let Some(metrics) = Self::finished(&self.folder)? {
            return Ok((RunEnd::Finished(Box::new(metrics)), String::new()));
        }
        let path = self.beside(".log");
        let mut command = self.command(true)?;
        let log = File::create(&path).map_err(Failure::writing(&path))?;
        command.env(threads::VARIABLE, "1").stderr(log);
        let status = self.wait_for(command, interrupt)?;
        let messages = std::fs::read_to_string(&path).unwrap_or_default();
        // The messages are with the caller.
        let _ = std::fs::remove_file(&path);
        Ok((self.end(status, interrupt)?, messages))
    }

    /// The command of the process.
    fn command(&self, quiet: bool) -> Result<Command, Failure> {
        let program = std::env::current_exe().map_err(Failure::writing(&self.folder))?;
        let mut command = Command::new(program);
        command.arg("train").args(self.arguments()?);
        if quiet {
            command.arg("--quiet");
        }
        Ok(command)
    }

    /// Starts the process and waits until it ends.
    fn wait_for(&self, mut command: Command, interrupt: &Interrupt) -> Result<ExitStatus, Failure> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let mut child = child.map_err(Failure::writing(&self.folder))?;
        let status = wait(&mut child, interrupt).map_err(Failure::writing(&self.folder))?;
        // A finished run has its own copy.
        let _ = std::fs::remove_file(self.configuration());
        Ok(status)
    }

    /// The configuration file of a new run.
    fn configuration(&self) -> PathBuf {
        self.beside(".json")
    }

    /// The file beside the folder whose name ends like this.
    fn beside(&self, ending: &str) -> PathBuf {
        let mut path = self.folder.clone().into_os_string();
        path.push(ending);
        path.into()
    }

    /// The arguments of `train`.
    fn arguments(&self) -> Result<Vec<OsString>, Failure> {
        let folder = self.folder.clone().into_os_string();
        if Checkpoints::within(&self.folder).latest().is_some() {
            return Ok(vec!["--resume".into(), folder]);
        }
        let configuration = self.configuration();
        let options = RunOptions {
            // Without a model, the run would choose one.
            model: Some((self.options.model).unwrap_or_else(|| self.options.model())),
            ..self.options.clone()
        };
        let text = serde_json::to_string_pretty(&options).map_err(std::io::Error::other);
        let text = text.map_err(Failure::writing(&configuration))?;
        let parent = configuration.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(Failure::writing(parent))?;
        output::replace_file(&configuration, &text)?;
        Ok(vec![
            "--out".into(),
            folder,
            "--config".into(),
            configuration.into_os_string(),
        ])
    }
}

/// Waits until a run ends. On a terminal, Ctrl-C reaches the run directly. After an interrupt, a run that does
/// not end in time is killed.
fn wait(child: &mut Child, interrupt: &Interrupt) -> std::io::Result<ExitStatus> {
    let mut asked: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt.is_requested() && asked.get_or_insert_with(Instant::now).elapsed() > GRACE {
            child.kill()?;
        }
        std::thread::sleep(PATIENCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The required metrics of a finished run.
    fn metrics(seed: u64) -> serde_json::Value {
        serde_json::json!({
            "model": "svgp", "data": "concrete", "synthetic": false,
            "n_train": 1, "n_validation": 0, "n_test": 1, "d": 1,
            "kernel": "rbf", "likelihood": "gaussian",
            "rmse": 1.0, "mae": 1.0, "nlpd": 1.0, "rmse_original": 1.0, "mae_original": 1.0,
            "objective": 1.0, "steps": 1, "step_kept": 1,
            "train_seconds": 1.0, "seconds_per_step": 1.0,
            "seed": seed, "backend": "flex", "dtype": "f64", "hyperparameters": {},
        })
    }

    #[test]
    fn finished_runs_come_by_their_seeds_and_unfinished_ones_are_left_out() {
        let folder = temp_dir::TempDir::new().expect("temporary folder");
        for seed in [10, 2, 1] {
            let place = folder.path().join(format!("seed-{seed}"));
            std::fs::create_dir(&place).expect("folder of a run");
            std::fs::write(place.join(output::METRICS), metrics(seed).to_string())
                .expect("numbers of a run");
        }
        std::fs::create_dir(folder.path().join("seed-3")).expect("folder of a run");

        let found = TrainingRun::places_finished(folder.path()).expect("finished runs");

        let seeds: Vec<u64> = found.iter().map(|(_, metrics)| metrics.seed).collect();
        assert_eq!(seeds, [1, 2, 10]);
        assert_eq!(found[2].0, folder.path().join("seed-10"));
    }
}
