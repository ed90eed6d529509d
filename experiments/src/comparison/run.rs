//! One run of a comparison, as a process of its own: its memory is its own, and so is its end.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::RunOutcome;
use crate::arguments::{ModelName, RunOptions, name_of};
use crate::failure::{Failure, FolderError};
use crate::fitting::{Checkpoints, Interrupt};
use crate::output;

/// Time between two looks at a run.
const PATIENCE: Duration = Duration::from_millis(20);

/// Time for a run to write its checkpoint when it is to stop.
const GRACE: Duration = Duration::from_secs(30);

/// A run of a model with a seed.
pub(super) struct Run<'a> {
    model: ModelName,
    seed: u64,
    comparison: &'a Path,
    folder: PathBuf,
}

impl<'a> Run<'a> {
    /// The run in its folder within the comparison's.
    pub(super) fn new(model: ModelName, seed: u64, comparison: &'a Path) -> Self {
        let folder = comparison.join(name_of(model)).join(format!("seed-{seed}"));
        Self {
            model,
            seed,
            comparison,
            folder,
        }
    }

    /// The run's outcome: read, if it was made before; else made or continued.
    ///
    /// # Errors
    ///
    /// When the user's input was refused, when the run was interrupted, or when files cannot be
    /// read or written.
    pub(super) fn execute(
        &self,
        options: &RunOptions,
        quiet: bool,
        interrupt: &Interrupt,
    ) -> Result<RunOutcome, Failure> {
        let metrics = self.folder.join(output::METRICS);
        if !metrics.exists() {
            let status = self.start(options, quiet, interrupt)?;
            match status.code() {
                Some(0) => {}
                Some(2) => return Err(Failure::RefusedRun { run: self.name() }),
                _ if interrupt.is_requested() => {
                    return Err(Failure::InterruptedComparison {
                        folder: self.comparison.to_owned(),
                    });
                }
                _ => return Ok(self.outcome(None)),
            }
        }
        let text = std::fs::read_to_string(&metrics).map_err(std::io::Error::other);
        let parsed = text.and_then(|text| serde_json::from_str(&text).map_err(Into::into));
        let parsed = parsed.map_err(|source| FolderError::DamagedCheckpoint {
            path: metrics,
            reason: source.to_string(),
        })?;
        Ok(self.outcome(Some(parsed)))
    }

    fn name(&self) -> String {
        self.outcome(None).name()
    }

    fn outcome(&self, metrics: Option<crate::report::Metrics>) -> RunOutcome {
        RunOutcome {
            model: self.model,
            seed: self.seed,
            metrics,
        }
    }

    /// Starts the process and waits for its end.
    fn start(
        &self,
        options: &RunOptions,
        quiet: bool,
        interrupt: &Interrupt,
    ) -> Result<ExitStatus, Failure> {
        let program = std::env::current_exe().map_err(Failure::writing(&self.folder))?;
        let mut command = Command::new(program);
        command.arg("train").args(self.arguments(options)?);
        if quiet {
            command.arg("--quiet");
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
        let mut child = child.map_err(Failure::writing(&self.folder))?;
        let status = wait(&mut child, interrupt).map_err(Failure::writing(&self.folder))?;
        // A finished run has its own copy.
        let _ = std::fs::remove_file(self.configuration());
        Ok(status)
    }

    /// What a run that begins is configured by.
    fn configuration(&self) -> PathBuf {
        self.folder.with_extension("json")
    }

    /// What `train` is told.
    fn arguments(&self, options: &RunOptions) -> Result<Vec<OsString>, Failure> {
        let folder = self.folder.clone().into_os_string();
        if Checkpoints::within(&self.folder).latest().is_some() {
            return Ok(vec!["--resume".into(), folder]);
        }
        let options = RunOptions {
            model: Some(self.model),
            seed: Some(self.seed),
            ..options.clone()
        };
        let configuration = self.configuration();
        let text = serde_json::to_string_pretty(&options).map_err(std::io::Error::other);
        let text = text.map_err(Failure::writing(&configuration))?;
        let parent = self.comparison.join(name_of(self.model));
        std::fs::create_dir_all(&parent).map_err(Failure::writing(&parent))?;
        output::write_text(&configuration, &text)?;
        Ok(vec![
            "--out".into(),
            folder,
            "--config".into(),
            configuration.into_os_string(),
        ])
    }
}

/// Waits for the end of a run, which Ctrl-C on the terminal reaches without our help; one that was
/// not reached, or does not end in time, is ended.
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
