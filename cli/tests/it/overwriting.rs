//! What is replaced stays until there is something in its place, and nothing of anybody else is touched.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::processes::{
    ENDLESS, assert_refused, has_steps, hidden, signal, start, wait_until,
};
use crate::support::{read, run, succeed, write_regression};

const TRAIN: &str = "train --data data.csv --model svgp --inducing 5 --quiet --out run";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A folder with data and a finished run of four steps.
fn finished() -> temp_dir::TempDir {
    let folder = temp_dir::TempDir::new().expect("a folder");
    write_regression(&folder.path().join("data.csv"), 60);
    succeed(folder.path(), &words(&format!("{TRAIN} --steps 4")));
    folder
}

#[test]
fn a_finished_run_stays_until_the_new_one_is_finished() {
    let folder = finished();
    let path = folder.path();
    let before = read(&path.join("run/metrics.json"));
    let predict = ["predict", "--model-dir", "run", "--data", "data.csv"];
    let predicted = succeed(path, &predict);
    let assert_kept = || {
        assert_eq!(read(&path.join("run/metrics.json")), before);
        assert_eq!(succeed(path, &predict), predicted);
    };

    // Killed.
    let again = [
        &["train", "--out", "run", "--overwrite", "--seed", "3"][..],
        &ENDLESS,
    ]
    .concat();
    let mut child = start(path, &again);
    wait_until("a checkpoint", || has_steps(&path.join(".run.next")));
    assert_kept();
    child.kill().expect("the process can be killed");
    child.wait().expect("a process");
    assert_kept();

    // It is not forgotten, and goes on until it is stopped.
    let refused = run(path, &words(&format!("{TRAIN} --steps 4")));
    let errors = String::from_utf8_lossy(&refused.stderr);
    assert!(errors.contains("continue it with --resume run"), "{errors}");
    let child = start(path, &["train", "--resume", "run", "--quiet"]);
    std::thread::sleep(std::time::Duration::from_secs(1));
    signal("-INT", &child.id().to_string());
    let stopped = child.wait_with_output().expect("a process");
    let errors = String::from_utf8_lossy(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(130), "{errors}");
    assert!(errors.ends_with("burn-gp train --resume run\n"), "{errors}");
    assert_kept();

    // Then it is finished and takes the place.
    succeed(path, &words("train --resume run --steps 20 --quiet"));
    let after = read(&path.join("run/metrics.json"));
    assert!(after.contains("\"seed\": 3"), "{after}");
    assert_eq!(hidden(path), [] as [std::path::PathBuf; 0]);
    let message = "run holds a finished run; there is nothing to resume";
    assert_refused(&run(path, &["train", "--resume", "run"]), message);
}

/// With a search for the number of steps there are two trainings, and each is resumed.
#[test]
fn a_search_for_the_steps_is_resumed_beside_a_finished_run() {
    let folder = finished();
    let path = folder.path();
    let before = read(&path.join("run/metrics.json"));
    let search = "train --data data.csv --model svgp --inducing 5 --seed 4 --early-stopping 0.3 --steps 400 \
                  --checkpoint-every 10 --quiet";
    succeed(path, &words(&format!("{search} --out undisturbed")));
    let mut child = start(path, &words(&format!("{search} --overwrite --out run")));
    wait_until("a checkpoint", || has_steps(&path.join(".run.next")));
    child.kill().expect("the process can be killed");
    child.wait().expect("a process");
    assert_eq!(read(&path.join("run/metrics.json")), before);
    succeed(path, &["train", "--resume", "run", "--quiet"]);
    let weights = |run: &str| fs::read(path.join(run).join("weights.bpk")).expect("weights");
    assert!(weights("run") == weights("undisturbed"));
    assert_eq!(hidden(path), [] as [std::path::PathBuf; 0]);
}

/// The program may end between the two renames that replace a folder.
#[test]
fn a_folder_that_lost_its_name_gets_it_back() {
    let folder = finished();
    let path = folder.path();
    let before = read(&path.join("run/metrics.json"));
    fs::rename(path.join("run"), path.join(".run.previous")).expect("another name");
    let refused = run(path, &words(&format!("{TRAIN} --steps 4")));
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(read(&path.join("run/metrics.json")), before);
}

#[test]
fn nothing_of_anybody_else_is_removed_or_written() {
    let folder = finished();
    let path = folder.path();
    let before = read(&path.join("run/metrics.json"));
    fs::write(path.join("precious"), "mine").expect("a file");
    let overwrite = format!("{TRAIN} --steps 4 --overwrite");
    let in_the_way = |name: &str| {
        format!(
            "{name} exists, but this program did not write it; move it away, or choose another folder \
             with --out"
        )
    };
    for name in [".run.next", ".run.previous", ".run.partial"] {
        // A folder with something else in it, and a link.
        let place = path.join(name);
        fs::create_dir(&place).expect("a folder");
        fs::write(place.join("thesis.tex"), "mine").expect("a file");
        assert_refused(&run(path, &words(&overwrite)), &in_the_way(name));
        assert_eq!(read(&place.join("thesis.tex")), "mine");
        fs::remove_dir_all(&place).expect("a folder");
        symlink("precious", &place).expect("a link");
        assert_refused(&run(path, &words(&overwrite)), &in_the_way(name));
        fs::remove_file(&place).expect("a link");
    }
    // A lock that is a link, a pipe, or a file with text in it.
    let lock = path.join(".run.lock");
    let shown = path.canonicalize().expect("a path").join(".run.lock");
    let refusal = in_the_way(&shown.display().to_string());
    symlink("precious", &lock).expect("a link");
    assert_refused(&run(path, &words(&overwrite)), &refusal);
    fs::remove_file(&lock).expect("a link");
    symlink("made-by-a-link", &lock).expect("a link");
    assert_refused(&run(path, &words(&overwrite)), &refusal);
    assert!(!path.join("made-by-a-link").exists());
    fs::remove_file(&lock).expect("a link");
    let made = Command::new("mkfifo").arg(&lock).status();
    assert!(made.expect("mkfifo").success());
    assert_refused(&run(path, &words(&overwrite)), &refusal);
    fs::remove_file(&lock).expect("a pipe");
    fs::write(&lock, "mine").expect("a file");
    assert_refused(&run(path, &words(&overwrite)), &refusal);
    assert_eq!(read(&lock), "mine");

    assert_eq!(read(&path.join("precious")), "mine");
    assert_eq!(read(&path.join("run/metrics.json")), before);
}

/// The temporary file of a result has a name that nobody can take before.
#[test]
fn results_follow_no_link_beside_them() {
    let folder = finished();
    let path = folder.path();
    fs::write(path.join("precious"), "mine").expect("a file");
    for name in ["p.csv", "page.html"] {
        symlink("precious", path.join(format!(".{name}.partial"))).expect("a link");
    }
    let predict = "predict --model-dir run --data data.csv --out p.csv";
    succeed(path, &words(predict));
    succeed(path, &words("report run --out page.html"));
    assert_eq!(read(&path.join("precious")), "mine");
    let mode = |name: &str| {
        let found = fs::symlink_metadata(path.join(name)).expect("a file");
        assert!(found.is_file(), "{name}");
        found.permissions().mode() & 0o777
    };
    // A new file is like any other, and a replaced one keeps its permissions.
    fs::write(path.join("usual"), "").expect("a file");
    assert_eq!(mode("p.csv"), mode("usual"));
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(path.join("p.csv"), private).expect("permissions");
    succeed(path, &words(&format!("{predict} --overwrite")));
    assert_eq!(mode("p.csv"), 0o600);
    let left: Vec<String> = (hidden(path).iter())
        .map(|path| {
            path.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .filter(|name| name.starts_with(".burn-gp"))
        .collect();
    assert_eq!(left, [] as [&str; 0]);
}

/// The results of a comparison stay until the new ones are complete.
#[test]
fn a_finished_comparison_stays_until_the_new_one_is_finished() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    let compare = "compare --models svgp --data data.csv --inducing 5 --quiet --out compared";
    succeed(path, &words(&format!("{compare} --steps 4")));
    let before = read(&path.join("compared/results.csv"));
    let kept = path.join(".compared.previous/results.csv");

    let endless = format!("{compare} --steps 10000000 --checkpoint-every 20 --overwrite");
    let child = start(path, &words(&endless));
    let inner = path.join("compared/runs/svgp/seed-0");
    wait_until("a checkpoint", || has_steps(&inner));
    signal("-INT", &format!("-{}", child.id()));
    let stopped = child.wait_with_output().expect("a process");
    assert_eq!(stopped.status.code(), Some(130));
    assert_eq!(read(&kept), before);

    // A second attempt replaces the unfinished one, not what is kept.
    fs::remove_dir_all(&inner).expect("a folder");
    let child = start(path, &words(&endless));
    wait_until("a checkpoint", || has_steps(&inner));
    signal("-INT", &format!("-{}", child.id()));
    child.wait_with_output().expect("a process");
    assert_eq!(read(&kept), before);

    succeed(path, &words(&format!("{compare} --steps 6 --overwrite")));
    assert_ne!(read(&path.join("compared/results.csv")), before);
    assert_eq!(hidden(path), [] as [std::path::PathBuf; 0]);
}

/// A folder of somebody else that has the name of earlier results stays.
#[test]
fn foreign_results_are_not_taken_for_earlier_ones() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path: &Path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    fs::create_dir(path.join(".compared.previous")).expect("a folder");
    fs::write(path.join(".compared.previous/thesis.tex"), "mine").expect("a file");
    let compare =
        "compare --models svgp --data data.csv --inducing 5 --steps 4 --quiet --out compared";
    let message = ".compared.previous exists, but this program did not write it; move it away, or choose \
                   another folder with --out";
    assert_refused(&run(path, &words(compare)), message);
    assert_eq!(read(&path.join(".compared.previous/thesis.tex")), "mine");
}

/// However often all runs of a new command fail, the results that they should have replaced stay.
#[test]
fn finished_results_stay_until_new_ones_are_finished() {
    let folder = temp_dir::TempDir::new().expect("a folder");
    let path: &Path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    let folds =
        "train --model exact --data data.csv --folds 2 --steps 2 --quiet --out folds --overwrite";
    succeed(path, &words(folds));
    let models = || {
        let of = |folder: &str| fs::read_dir(path.join(folder).join("runs"));
        let entries = [".folds.previous", "folds"].map(|folder| of(folder).into_iter().flatten());
        let entries = entries.into_iter().flatten().flatten();
        entries
            .filter(|entry| entry.path().join("weights.bpk").exists())
            .count()
    };
    assert_eq!(models(), 2);
    for _ in 0..3 {
        // Too few rows to calibrate on.
        let refused = run(path, &words(&format!("{folds} --calibrate")));
        assert!(!refused.status.success());
        assert_eq!(models(), 2);
    }
    succeed(path, &words(&format!("{folds} --seed 1")));
    assert_eq!(models(), 2);
    assert!(!path.join(".folds.previous").exists());

    let single = "train --model exact --data data.csv --steps 2 --quiet --out folds --overwrite";
    let message = "the folder folds cannot be replaced, because it has the results of several runs; choose another \
                   with --out, or remove it";
    assert_refused(&run(path, &words(single)), message);
}
