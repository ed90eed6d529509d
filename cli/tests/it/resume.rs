//! A run that is killed, or stopped with Ctrl-C, ends like an uninterrupted one after it is
//! resumed.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{program, read, run, succeed, write_regression};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const SVGP: &[&str] = &[
    "--model",
    "svgp",
    "--steps",
    "200",
    "--inducing",
    "15",
    "--batch-size",
    "32",
    "--checkpoint-every",
    "8",
    "--validation-fraction",
    "0.2",
    "--natural-gradient",
    "0.1",
    "--natural-gradient-warm-up",
    "60",
    "--inducing-frozen",
    "30",
    "--inducing-rate",
    "0.01",
    "--inducing-momentum",
    "0.99",
    "--inducing-plateau",
    "5",
    "--score-every",
    "9",
];
const SGPR: &[&str] = &[
    "--model",
    "sgpr",
    "--score-every",
    "0.05",
    "--steps",
    "150",
    "--inducing",
    "15",
    "--checkpoint-every",
    "10",
];

const ODVGP: &[&str] = &[
    "--model",
    "odvgp",
    "--steps",
    "200",
    "--inducing",
    "10",
    "--orthogonal",
    "30",
    "--columns",
    "7",
    "--batch-size",
    "32",
    "--checkpoint-every",
    "8",
];
const INVERSE_FREE: &[&str] = &[
    "--model",
    "inverse-free",
    "--probes",
    "5",
    "--steps",
    "200",
    "--inducing",
    "15",
    "--batch-size",
    "32",
    "--checkpoint-every",
    "8",
];
const SOLVE_COLLAPSED: &[&str] = &[
    "--model",
    "solve-collapsed",
    "--steps",
    "150",
    "--inducing",
    "8",
    "--checkpoint-every",
    "10",
];

/// Every batch contains all rows.
const DBK: &[&str] = &[
    "--model",
    "dbk",
    "--steps",
    "200",
    "--rank",
    "10",
    "--units",
    "16",
    "--checkpoint-every",
    "8",
    "--validation-fraction",
    "0.2",
    "--validation-epochs",
    "7",
];
const SVDKL: &[&str] = &[
    "--model",
    "svdkl",
    "--steps",
    "200",
    "--inducing",
    "10",
    "--units",
    "16",
    "--batch-size",
    "32",
    "--checkpoint-every",
    "8",
];

/// Early stopping on held-out rows comes first, then training on all rows.
const DKL: &[&str] = &[
    "--model",
    "dkl",
    "--early-stopping",
    "0.3",
    "--score-every",
    "5",
    "--steps",
    "60",
    "--units",
    "16",
    "--checkpoint-every",
    "4",
    "--validation-epochs",
    "7",
];

/// The command line of a run.
fn arguments<'a>(out: &'a str, options: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["train", "--data", "data.csv", "--out", out, "--quiet"];
    arguments.extend(options);
    arguments
}

pub fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = program();
    command.current_dir(folder).args(arguments);
    command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// The step of the latest checkpoint.
fn checkpointed(output: &Path) -> Option<usize> {
    let entries = fs::read_dir(output.join("checkpoint")).ok()?;
    let steps = entries.flatten().filter_map(|entry| {
        entry
            .file_name()
            .to_str()?
            .strip_prefix("step-")?
            .parse()
            .ok()
    });
    steps.max()
}

/// Waits until the run has a checkpoint of `step` or later. Returns false if it ended before.
pub fn wait_for(child: &mut Child, output: &Path, step: usize) -> bool {
    let deadline = Instant::now() + Duration::from_secs(120);
    while checkpointed(output).is_none_or(|found| found < step) {
        if child
            .try_wait()
            .expect("the program can be waited for")
            .is_some()
        {
            return false;
        }
        assert!(Instant::now() < deadline, "no checkpoint of step {step}");
        std::thread::sleep(Duration::from_micros(500));
    }
    true
}

/// Asserts that two finished runs are equal except for times and memory.
fn assert_same(expected: &Path, actual: &Path) {
    for file in [
        "weights.bpk",
        "predictions.csv",
        "model.json",
        "config.toml",
    ] {
        let bytes = |run: &Path| fs::read(run.join(file)).unwrap_or_default();
        assert!(!bytes(expected).is_empty(), "{file} is empty");
        assert!(bytes(expected) == bytes(actual), "{file} differs");
    }
    let metrics = |run: &Path| {
        let mut metrics: serde_json::Value =
            serde_json::from_str(&read(&run.join("metrics.json"))).unwrap();
        let fields = metrics.as_object_mut().unwrap();
        for measured in ["train_seconds", "seconds_per_step", "peak_memory"] {
            assert!(fields.remove(measured).is_some(), "no {measured}");
        }
        metrics
    };
    assert_eq!(metrics(expected), metrics(actual));
    let without_seconds = |path: &Path| {
        let mut rows = crate::support::fields(&read(path));
        rows.iter_mut().for_each(|row| {
            row.remove(1);
        });
        rows
    };
    for file in ["training_log.csv", "learning_curve.csv"] {
        let [expected, actual] = [expected, actual].map(|run| run.join(file));
        assert_eq!(expected.exists(), actual.exists(), "{file}");
        // Only runs that score the test rows on the way have a learning curve.
        if expected.exists() || file == "training_log.csv" {
            assert_eq!(without_seconds(&expected), without_seconds(&actual));
        }
    }
    assert!(
        !actual.join("checkpoint").exists(),
        "the checkpoint is left behind"
    );
}

/// Kills ten runs at random times. Runs that end before they are killed must end alike, too, and
/// others take their place.
fn kill_ten_times(options: &[&str], last_step: usize, seed: u64) {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    succeed(path, &arguments("undisturbed", options));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut killed = 0;
    for number in 0..50 {
        if killed == 10 {
            break;
        }
        let name = format!("killed-{number}");
        let output = path.join(&name);
        let mut child = start(path, &arguments(&name, options));
        if wait_for(&mut child, &output, random.random_range(0..last_step)) {
            std::thread::sleep(Duration::from_micros(random.random_range(0..8000)));
            child.kill().unwrap();
        }
        let is_whole = child.wait().unwrap().success();
        if output.join("metrics.json").exists() {
            assert_same(&path.join("undisturbed"), &output);
            if !is_whole {
                // The run was killed before it removed the folder that it replaced. The next run in
                // the folder does that.
                let again = arguments(&name, options);
                succeed(path, &[&again[..], &["--overwrite"]].concat());
            }
            continue;
        }
        killed += 1;
        succeed(path, &["train", "--resume", &name, "--quiet"]);
        assert_same(&path.join("undisturbed"), &output);
    }
    assert_eq!(killed, 10, "runs of 50 that were killed before their end");
    let left: Vec<String> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(left.is_empty(), "{left:?} are left behind");
}

#[test]
fn a_killed_variational_run_ends_like_an_undisturbed_one() {
    kill_ten_times(SVGP, 180, 1);
}

#[test]
fn a_killed_collapsed_run_ends_like_an_undisturbed_one() {
    kill_ten_times(SGPR, 100, 2);
}

/// The columns in a step are those that follow in the cycle.
#[test]
fn a_killed_decoupled_run_ends_like_an_undisturbed_one() {
    kill_ten_times(ODVGP, 180, 3);
}

/// A checkpoint contains the approximate inverse and the position in the probes.
#[test]
fn a_killed_inverse_free_run_ends_like_an_undisturbed_one() {
    kill_ten_times(INVERSE_FREE, 180, 5);
}

#[test]
fn a_killed_collapsed_orthogonal_run_ends_like_an_undisturbed_one() {
    kill_ten_times(SOLVE_COLLAPSED, 100, 4);
}

#[test]
fn a_killed_deep_basis_run_ends_like_an_undisturbed_one() {
    kill_ten_times(DBK, 180, 6);
}

#[test]
fn a_killed_deep_kernel_run_ends_like_an_undisturbed_one() {
    kill_ten_times(SVDKL, 180, 7);
}

#[test]
fn a_run_that_is_killed_before_or_after_its_length_is_found_ends_like_an_undisturbed_one() {
    kill_ten_times(DKL, 50, 8);
}

#[test]
fn control_c_writes_a_checkpoint_and_says_how_to_go_on() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    // The signal comes after the first of a hundred checkpoints, so the run is neither at its
    // beginning nor near its end, however fast the machine is.
    let options = [
        "--steps",
        "10000",
        "--inducing",
        "15",
        "--batch-size",
        "32",
        "--checkpoint-every",
        "100",
    ];
    succeed(path, &arguments("undisturbed", &options));
    let output = path.join("stopped");
    let mut child = start(path, &arguments("stopped", &options));
    assert!(wait_for(&mut child, &output, 100));
    let signal = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signal.unwrap().success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let step = checkpointed(&output).expect("there is a checkpoint");
    assert!(step >= 100, "the last checkpoint is of step {step}");
    assert_eq!(
        String::from_utf8(ended.stderr).unwrap(),
        format!("stopped at step {step} of 10000; continue with: burn-gp train --resume stopped\n")
    );
    assert!(!output.join("metrics.json").exists());
    succeed(path, &["train", "--resume", "stopped", "--quiet"]);
    assert_same(&path.join("undisturbed"), &output);
}

#[test]
fn a_run_on_other_data_is_not_resumed() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    let mut child = start(
        path,
        &arguments("run", &["--steps", "100000", "--inducing", "15"]),
    );
    assert!(wait_for(&mut child, &path.join("run"), 0));
    child.kill().unwrap();
    child.wait().unwrap();
    write_regression(&path.join("data.csv"), 121);
    let output = run(path, &["train", "--resume", "run"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: the data data have changed since the run in run began; start it again with --overwrite\n"
    );
}
