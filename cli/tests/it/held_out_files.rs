//! `--test FILE` and `--validation FILE`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{columns, read, run, succeed};

/// A table of rows `first..last`; every seventh target is missing, and the rows are named.
fn write(path: &Path, first: usize, last: usize, city: &str) {
    let rows = (first..last).map(|row| {
        let x = row as f64 / 10.0;
        let y = match row % 7 {
            3 => String::new(),
            _ => (x.sin() * 5.0 + 20.0).to_string(),
        };
        let city = ["Bern", "Ulm", city][row % 3];
        format!("row {row},{x},{city},{y}\n")
    });
    fs::write(path, format!("name,x,city,y\n{}", rows.collect::<String>())).unwrap();
}

const TRAIN: [&str; 9] = [
    "train",
    "--data",
    "train.csv",
    "--steps",
    "200",
    "--inducing",
    "20",
    "--id",
    "name",
];

fn files() -> TempDir {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("train.csv"), 0, 100, "Rome");
    write(&folder.path().join("test.csv"), 40, 75, "Oslo");
    write(&folder.path().join("validation.csv"), 20, 40, "Rome");
    folder
}

fn metrics(folder: &Path) -> Value {
    serde_json::from_str(&read(&folder.join("run/metrics.json"))).unwrap()
}

#[test]
fn test_rows_come_from_their_file() {
    let folder = files();
    let path = folder.path();
    let text = succeed(
        path,
        &[&TRAIN[..], &["--test", "test.csv", "--out", "run"]].concat(),
    );
    let metrics = metrics(path);
    // 14 of the 100 targets are missing, and 5 of the 35.
    assert_eq!(
        (&metrics["n_train"], &metrics["n_test"]),
        (&86.into(), &30.into()),
        "{text}"
    );
    assert!(metrics["rmse_original"].as_f64().unwrap() < 0.5, "{text}");
    // The rows are those of the test file, with the predictions that `predict` makes.
    let titles = ["name", "row", "mean"];
    let tested = columns(&path.join("run/predictions.csv"), &titles);
    assert_eq!(tested[0][..2], ["row 40", "0"]);
    let predict = [
        "predict",
        "-m",
        "run",
        "-d",
        "test.csv",
        "-o",
        "predicted.csv",
    ];
    succeed(path, &predict);
    let predicted = columns(&path.join("predicted.csv"), &titles);
    for row in &tested {
        let same = predicted.iter().find(|other| other[0] == row[0]).unwrap();
        let [mean, other] = [&row[2], &same[2]].map(|text| text.parse::<f64>().unwrap());
        assert!((mean - other).abs() < 1e-9, "{row:?} {same:?}");
    }
    // A run from its configuration finds the file again.
    let again = ["train", "--config", "run/config.toml", "--out", "again"];
    succeed(path, &again);
    assert_eq!(
        read(&path.join("again/predictions.csv")),
        read(&path.join("run/predictions.csv"))
    );
}

#[test]
fn validation_rows_come_from_their_file() {
    let folder = files();
    let path = folder.path();
    let options = [
        "--validation",
        "validation.csv",
        "--test-fraction",
        "0",
        "--out",
        "run",
    ];
    let text = succeed(path, &[&TRAIN[..], &options].concat());
    let metrics = metrics(path);
    assert_eq!(
        (
            &metrics["n_train"],
            &metrics["n_validation"],
            &metrics["n_test"]
        ),
        (&86.into(), &17.into(), &0.into()),
        "{text}"
    );
    assert!(read(&path.join("run/training_log.csv")).contains("validation"));
}

#[test]
fn held_out_files_that_make_no_sense() {
    let folder = files();
    let path = folder.path();
    fs::write(path.join("other.csv"), "name,city,y\na,Bern,1\n").unwrap();
    fs::write(path.join("blank.csv"), "name,x,city,y\na,1,Bern,\n").unwrap();
    for (options, message) in [
        (
            "--test other.csv",
            "other.csv: the input column \"x\" that the model was trained on is missing",
        ),
        (
            "--test blank.csv",
            "blank.csv: no row has a value in the target \"y\", so nothing can be scored",
        ),
        ("--test none.csv", "none.csv"),
        (
            "--test test.csv --test-fraction 0.2",
            "the argument '--test <FILE>' cannot be used with '--test-fraction <F>'",
        ),
        (
            "--validation validation.csv --validation-fraction 0.2",
            "cannot be used with",
        ),
        (
            "--validation validation.csv --model exact",
            "does not apply to model 'exact'",
        ),
    ] {
        let options: Vec<&str> = options.split(' ').collect();
        let train = ["train", "--data", "train.csv", "--steps", "3"];
        let output = run(path, &[&train[..], &options].concat());
        let found = String::from_utf8_lossy(&output.stderr);
        assert!(found.contains(message), "{options:?}: {found}");
        assert_eq!(output.status.code(), Some(2), "{options:?}: {found}");
    }
}
