//! Runs do not affect each other, and finished work survives the loss of the terminal or a full
//! disk.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::processes::{
    ENDLESS, assert_refused, checkpoints, has_steps, hidden, signal, start, wait_until,
};
use crate::support::{read, run, succeed, write_regression, write_snelson};
use burn_gp_runs::output::FolderLock;

fn in_use(folder: &str) -> String {
    format!(
        "the folder {folder} is in use by another run; wait until it ends, stop it, or choose another folder"
    )
}

#[test]
fn a_second_run_in_the_same_folder_is_refused() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    let train = [&["train", "--out", "runs/first"][..], &ENDLESS].concat();
    let mut first = start(path, &train);
    wait_until("a checkpoint", || has_steps(&path.join("runs/first")));
    symlink("runs/first", path.join("link")).expect("a link");
    for other in ["runs/first", "./runs/../runs/first", "link"] {
        let mut again = vec!["train", "--out", other, "--overwrite"];
        again.extend(ENDLESS);
        assert_refused(&run(path, &again), &in_use(other));
        let resume = ["train", "--resume", other];
        assert_refused(&run(path, &resume), &in_use(other));
    }
    // The first run continues undisturbed.
    let seen = checkpoints(&path.join("runs/first"));
    wait_until("a later checkpoint", || {
        let now = checkpoints(&path.join("runs/first"));
        !now.is_empty() && now.iter().all(|name| !seen.contains(name))
    });
    assert!(first.try_wait().expect("a process").is_none());

    // A killed process holds no lock.
    first.kill().expect("the process can be killed");
    first.wait().expect("a process");
    succeed(
        path,
        &[
            "train",
            "--resume",
            "runs/first",
            "--steps",
            "10",
            "--quiet",
        ],
    );
    assert!(path.join("runs/first/metrics.json").is_file());
    assert_eq!(hidden(&path.join("runs")), [] as [PathBuf; 0]);
}

/// A refused run removes the folders that it created for its checks.
#[test]
fn a_run_that_is_refused_for_its_data_leaves_nothing() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    fs::write(path.join("data.csv"), "a,b\n1,x\n2,3\n").expect("the data");
    let train = ["train", "--data", "data.csv", "--out", "new/runs/first"];
    assert_eq!(run(path, &train).status.code(), Some(2));
    assert!(!path.join("new").exists());
}

#[test]
fn comparisons_and_experiments_lock_their_folders() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    write_snelson(path);
    let compare = |more: &[&'static str]| {
        let mut words = vec!["compare", "--models", "exact", "--data", "data.csv"];
        words.extend(["--steps", "2", "--quiet", "--out", "compared"]);
        words.extend(more);
        run(path, &words)
    };
    let experiment = |more: &[&'static str]| {
        let mut words = vec!["experiment", "snelson", "--data-dir", ".", "--quiet"];
        words.extend(["--out", "made"]);
        words.extend(more);
        run(path, &words)
    };
    let lock = FolderLock::acquire(&path.join("compared")).expect("a lock");
    assert_refused(&compare(&[]), &in_use("compared"));
    assert!(!path.join("compared").exists());
    drop(lock);
    assert!(compare(&[]).status.success());

    let lock = FolderLock::acquire(&path.join("made")).expect("a lock");
    assert_refused(&experiment(&[]), &in_use("made"));
    assert!(!path.join("made").exists());
    drop(lock);

    // The folder of a run in a comparison is in use, although no process locks the whole
    // comparison.
    let inner = path.join("compared/runs/exact/seed-0");
    let lock = FolderLock::acquire(&inner).expect("a lock");
    let before = read(&path.join("compared/results.json"));
    let place = "compared/runs/exact/seed-0";
    assert_refused(&compare(&["--overwrite"]), &in_use(place));
    assert_eq!(read(&path.join("compared/results.json")), before);
    drop(lock);
    assert!(compare(&["--overwrite"]).status.success());
    assert_eq!(hidden(path), [] as [PathBuf; 0]);
}

/// A new comparison does not delete the run of a killed comparison while that run continues.
#[test]
fn a_comparison_does_not_replace_the_run_of_a_killed_one() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    let words = ["compare", "--models", "svgp", "--out", "compared"];
    let mut first = start(path, &[&words[..], &ENDLESS].concat());
    let inner = path.join("compared/runs/svgp/seed-0");
    wait_until("a checkpoint", || has_steps(&inner));
    assert_refused(
        &run(path, &["compare", "--resume", "compared"]),
        &in_use("compared"),
    );
    first.kill().expect("the process can be killed");
    first.wait().expect("a process");
    let again = [&words[..], &["--overwrite"], &ENDLESS].concat();
    assert_refused(&run(path, &again), &in_use("compared/runs/svgp/seed-0"));
    assert!(has_steps(&inner));
    signal("-KILL", &format!("-{}", first.id()));
    let finished = || FolderLock::acquire(&inner).is_ok();
    wait_until("the end of the run", finished);
}

/// A run in a shell that executes `before` first.
fn shell(folder: &Path, before: &str, arguments: &[&str]) -> Command {
    let program = env!("CARGO_BIN_EXE_burn-gp");
    let words = arguments.join(" ");
    let mut command = Command::new("sh");
    command.env_remove("BURN_GP_DATA").current_dir(folder);
    command.args(["-c", &format!("{before}; exec {program} {words}")]);
    command
}

/// Restores the default handling of SIGHUP for a command, because the tests may run under `nohup`.
/// A shell cannot restore it.
fn notice_the_end_of_the_terminal(command: &mut Command) {
    // SAFETY: `signal` is safe to call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_DFL);
            Ok(())
        });
    }
}

#[test]
fn the_end_of_the_terminal_is_ignored_where_it_was() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    for (name, before, expected) in [
        ("ignored", "trap '' HUP", Some(0)),
        ("default", "true", Some(130)),
    ] {
        let steps = if expected == Some(0) {
            "3000"
        } else {
            "10000000"
        };
        let mut words = vec!["train", "--data", "data.csv", "--out", name, "--quiet"];
        words.extend([
            "--inducing",
            "15",
            "--steps",
            steps,
            "--checkpoint-every",
            "20",
        ]);
        let mut command = shell(path, before, &words);
        notice_the_end_of_the_terminal(&mut command);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("a shell");
        wait_until("a checkpoint", || has_steps(&path.join(name)));
        signal("-HUP", &child.id().to_string());
        assert_eq!(child.wait().expect("a process").code(), expected, "{name}");
        let is_finished = path.join(name).join("metrics.json").exists();
        assert_eq!(is_finished, expected == Some(0), "{name}");
    }
}

/// Trains a small model and returns the output of `predict`.
fn predicted(folder: &Path, more: &[&str]) -> Output {
    let mut words = vec!["predict", "--model-dir", "run", "--data", "data.csv"];
    words.extend(more);
    run(folder, &words)
}

#[test]
fn predictions_replace_no_file_that_matters() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 40);
    let mut train = vec!["train", "--data", "data.csv", "--out", "run", "--quiet"];
    train.extend(["--steps", "3", "--inducing", "5"]);
    succeed(path, &train);
    let data = read(&path.join("data.csv"));
    let model = fs::read(path.join("run/weights.bpk")).expect("weights");

    // The input file by its name, by another spelling and by links, also with --overwrite.
    symlink("data.csv", path.join("soft.csv")).expect("a link");
    fs::hard_link(path.join("data.csv"), path.join("hard.csv")).expect("a link");
    for name in ["data.csv", "./run/../data.csv", "soft.csv", "hard.csv"] {
        for more in [&[][..], &["--overwrite"]] {
            let output = predicted(path, &[&["--out", name], more].concat());
            let message = "is the input data; choose another file with --out";
            assert_refused(&output, &format!("{name} {message}"));
        }
    }
    assert_eq!(read(&path.join("data.csv")), data);

    // Files of the model, whether they exist or not.
    fs::remove_file(path.join("run/loss.svg")).expect("a plot");
    symlink("run/weights.bpk", path.join("weights")).expect("a link");
    for name in ["run/predictions.csv", "./run/loss.svg", "weights"] {
        let output = predicted(path, &["--overwrite", "--out", name]);
        let message = "belongs to the model in run; choose another file with --out";
        assert_refused(&output, &format!("{name} {message}"));
    }
    assert!(!path.join("run/loss.svg").exists());
    assert!(fs::read(path.join("run/weights.bpk")).expect("weights") == model);

    // Other existing files need --overwrite, including broken links.
    assert!(predicted(path, &["--out", "new.csv"]).status.success());
    let first = read(&path.join("new.csv"));
    fs::write(path.join("new.csv"), "mine").expect("a file");
    symlink("nothing", path.join("dangling")).expect("a link");
    for name in ["new.csv", "dangling"] {
        assert_refused(
            &predicted(path, &["--out", name]),
            &format!(
                "the file {name} exists; choose another with --out, or replace it with --overwrite"
            ),
        );
    }
    assert_eq!(read(&path.join("new.csv")), "mine");
    symlink("new.csv", path.join("to-new")).expect("a link");
    let output = predicted(path, &["--out", "to-new", "--overwrite"]);
    assert!(output.status.success());
    assert_eq!(read(&path.join("new.csv")), first);
    assert!(path.join("to-new").is_symlink());
    assert_refused(
        &predicted(path, &["--out", "run", "--overwrite"]),
        "run is a folder, not a file; choose a file in it with --out",
    );
    // A device cannot be replaced.
    let output = predicted(path, &["--out", "/dev/stdout"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), first);
    assert_eq!(hidden(path), [] as [PathBuf; 0]);
}

/// A limit on file sizes stands for a full disk: checkpoints fit, but the predictions do not.
#[test]
fn a_full_disk_at_the_end_does_not_lose_the_model() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 4000);
    let options = |out| {
        let mut words = vec!["train", "--data", "data.csv", "--quiet", "--out", out];
        words.extend(["--inducing", "5", "--steps", "40", "--test-fraction", "0.9"]);
        words.extend(["--checkpoint-every", "1000"]);
        words
    };
    succeed(path, &options("undisturbed"));
    let size = |name: &str| {
        let file = path.join("undisturbed").join(name);
        fs::metadata(file).expect("a file").len()
    };
    // In blocks of 512 bytes.
    let limit = 96;
    assert!(size("predictions.csv") > 1024 * limit && size("weights.bpk") < 256 * limit);
    let before = format!("trap '' XFSZ; ulimit -f {limit}");
    let mut command = shell(path, &before, &options("full"));
    let output = command.output().expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let advice =
        "the checkpoint of step 40 is kept, so continue with: burn-gp train --resume full\n";
    assert!(errors.ends_with(advice), "{errors}");
    assert!(
        errors.starts_with("error: ") && errors.lines().count() == 1,
        "{errors}"
    );
    assert!(errors.contains("predictions.csv"), "{errors}");
    assert_eq!(checkpoints(&path.join("full")), ["step-40"]);
    assert_eq!(hidden(path), [] as [PathBuf; 0]);

    // With enough space, no step is repeated, and the model is the same.
    succeed(path, &["train", "--resume", "full", "--quiet"]);
    for name in ["predictions.csv", "weights.bpk", "model.json"] {
        let bytes = |run: &str| fs::read(path.join(run).join(name)).expect("a file");
        assert!(bytes("full") == bytes("undisturbed"), "{name}");
    }
}

/// If a full disk stopped a run, resuming the comparison finishes it.
#[test]
fn a_comparison_goes_on_after_a_full_disk() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 4000);
    let mut words = vec!["compare", "--models", "svgp", "--data", "data.csv"];
    words.extend(["--quiet", "--out", "compared", "--inducing", "5"]);
    words.extend(["--steps", "40", "--test-fraction", "0.9"]);
    let mut command = shell(path, "trap '' XFSZ; ulimit -f 96", &words);
    assert_eq!(command.output().expect("a shell").status.code(), Some(1));
    let metrics = path.join("compared/runs/svgp/seed-0/metrics.json");
    assert!(!metrics.exists());
    let resume = ["compare", "--resume", "compared", "--quiet"];
    succeed(path, &resume);
    assert!(metrics.exists());
    assert!(read(&path.join("compared/results.csv")).contains("svgp"));
    // Now there is nothing left to do.
    let message = "compared holds a finished run; there is nothing to resume";
    assert_refused(&run(path, &resume), message);
}

/// A checkpoint that does not fit keeps the one before and leaves no partial files.
#[test]
fn a_full_disk_on_the_way_keeps_the_last_checkpoint() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    // The log grows by about 40 bytes per step and exceeds the limit of 512 blocks before its end.
    let mut words = vec!["train", "--data", "data.csv", "--quiet", "--out", "full"];
    words.extend([
        "--inducing",
        "5",
        "--steps",
        "20000",
        "--checkpoint-every",
        "500",
    ]);
    let mut command = shell(path, "trap '' XFSZ; ulimit -f 512", &words);
    let output = command.output().expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let kept = checkpoints(&path.join("full"));
    let [last] = &kept[..] else {
        panic!("{kept:?}: {errors}");
    };
    let step = last.strip_prefix("step-").expect("a step");
    let advice = format!(
        "the checkpoint of step {step} is kept, so continue with: burn-gp train --resume full\n"
    );
    assert!(errors.ends_with(&advice), "{errors}");
    assert!(!path.join("full/checkpoint/partial").exists());
    succeed(
        path,
        &["train", "--resume", "full", "--steps", step, "--quiet"],
    );
}
