//! `--model auto`.

use std::fs;
use std::path::Path;

use temp_dir::TempDir;

use crate::support::{read, run, succeed, write_regression};

fn json_file(folder: &Path, path: &str) -> serde_json::Value {
    serde_json::from_str(&read(&folder.join(path))).unwrap()
}

/// A wave of which the default start of a sparse model sees only noise: 30 periods.
fn write_wave(folder: &Path) {
    let rows = (0..300).map(|row| {
        let t = row as f64 / 300.0;
        format!("{t},{}\n", (60.0 * std::f64::consts::PI * t).sin())
    });
    fs::write(
        folder.join("wave.csv"),
        format!("t,y\n{}", rows.collect::<String>()),
    )
    .unwrap();
}

#[test]
fn the_data_choose_the_model_and_its_start() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    let text = succeed(folder.path(), &["train", "--data", "wave.csv"]);
    assert!(
        text.contains("model auto chose exact: 270 rows are few enough\n"),
        "{text}"
    );
    let metrics = json_file(folder.path(), "out/wave-auto/metrics.json");
    assert_eq!(metrics["model"], "exact");
    assert!(metrics["rmse"].as_f64().unwrap() < 0.05, "{text}");
    // The file of the options has all that was chosen, and gives the same run.
    let again = [
        "train",
        "--config",
        "out/wave-auto/config.toml",
        "--out",
        "again",
    ];
    let text = succeed(folder.path(), &again);
    assert!(!text.contains("auto"), "{text}");
    let other = json_file(folder.path(), "again/metrics.json");
    assert_eq!(other["nlpd"], metrics["nlpd"]);
}

/// Options of a model or its training name the model that has always had them.
#[test]
fn options_of_training_are_for_the_named_default() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    let train = [
        "train",
        "--data",
        "wave.csv",
        "--steps",
        "3",
        "--inducing",
        "5",
    ];
    succeed(folder.path(), &train);
    let metrics = json_file(folder.path(), "out/wave-svgp/metrics.json");
    assert_eq!(metrics["model"], "svgp");
    let named = [&train[..], &["--model", "auto", "--minutes", "0.001"]].concat();
    succeed(folder.path(), &named);
    let metrics = json_file(folder.path(), "out/wave-auto/metrics.json");
    assert_eq!(
        (&metrics["model"], &metrics["steps"]),
        (&"svgp".into(), &3.into())
    );
}

#[test]
fn times_and_commands_that_make_no_sense() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    for (arguments, message) in [
        (
            "train --data wave.csv --minutes 0",
            "--minutes is 0 but must be a positive number",
        ),
        (
            "train --data wave.csv --model svgp --minutes 1",
            "--minutes is for the model auto; leave it out, or leave out the options of a model",
        ),
        (
            "train --data wave.csv --model auto --inducing 9",
            "--inducing means nothing for the model exact; leave it out",
        ),
        (
            "compare --data wave.csv --models auto,svgp",
            "the model auto is for `train` alone; name a model here",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = run(folder.path(), &arguments);
        let found = String::from_utf8_lossy(&output.stderr);
        assert!(found.contains(message), "{found}");
        assert_eq!(output.status.code(), Some(2));
    }
}

/// A kernel that the user chose has a start of its own, unless it has values.
#[test]
fn a_kernel_of_the_user_is_started_too() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    let train = ["train", "--data", "wave.csv", "--out", "run", "--kernel"];
    succeed(folder.path(), &[&train[..], &["scaled(rbf)"]].concat());
    let metrics = json_file(folder.path(), "run/metrics.json");
    assert!(metrics["rmse"].as_f64().unwrap() < 0.05, "{metrics}");
    let valued = ["rbf(lengthscale=7)", "--overwrite"];
    succeed(folder.path(), &[&train[..], &valued].concat());
    assert!(!read(&folder.path().join("run/config.toml")).contains("set ="));
}

/// Runs of a sweep differ in what is swept alone, so that the data choose no model.
#[test]
fn sweeps_keep_the_named_default() {
    let folder = TempDir::new().unwrap();
    write_regression(&folder.path().join("data.csv"), 24);
    let sweep = [
        "sweep",
        "--data",
        "data.csv",
        "--grid",
        "mean=zero,constant",
        "--out",
        "sweep",
        "--quiet",
    ];
    succeed(folder.path(), &sweep);
    let mut found = 0;
    for entry in walk(&folder.path().join("sweep/runs")) {
        let metrics: serde_json::Value = serde_json::from_str(&read(&entry)).unwrap();
        assert_eq!(metrics["model"], "svgp");
        found += 1;
    }
    assert_eq!(found, 2);
}

/// The files `metrics.json` in a folder and below.
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![path],
        })
        .filter(|path| path.ends_with("metrics.json"))
        .collect()
}
