//! Runs that are watched, stopped and killed.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::program;

/// Options of a run that does not end by itself.
pub const ENDLESS: [&str; 9] = [
    "--data",
    "data.csv",
    "--inducing",
    "15",
    "--steps",
    "10000000",
    "--checkpoint-every",
    "50",
    "--quiet",
];

/// Starts the program in `folder`.
pub fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = program();
    command.current_dir(folder).args(arguments);
    // A separate process group, because its children must be ended with it.
    command.process_group(0).stderr(Stdio::piped());
    // Under `nohup`, and in the background of a shell, these signals are ignored.
    // SAFETY: these calls are allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    command.spawn().expect("the program starts")
}

/// Sends a signal to a process, or to the group of a negative number.
pub fn signal(name: &str, process: &str) {
    let mut command = Command::new("kill");
    let status = command.args([name, "--", process]).status();
    assert!(status.expect("kill starts").success());
}

/// The names of the checkpoints of a run.
pub fn checkpoints(run: &Path) -> Vec<String> {
    let entries = fs::read_dir(run.join("checkpoint")).into_iter().flatten();
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.starts_with("step-"))
        .collect()
}

/// Waits until something is so, for two minutes at most.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a run has a checkpoint after its first one.
pub fn has_steps(run: &Path) -> bool {
    checkpoints(run).iter().any(|name| name != "step-0")
}

/// Asserts that the program printed only this message and ended with exit code 2.
pub fn assert_refused(output: &Output, message: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, format!("error: {message}\n"));
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}

/// The hidden files in a folder.
pub fn hidden(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let is_hidden = |path: &PathBuf| {
        let name = path.file_name().expect("a name");
        name.to_string_lossy().starts_with('.')
    };
    paths.filter(is_hidden).collect()
}
