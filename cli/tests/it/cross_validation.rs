//! `train --folds`.

use std::collections::BTreeSet;

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{columns, read, run, succeed, write_classes, write_regression};

const TRAIN: [&str; 9] = [
    "train",
    "--data",
    "rows.csv",
    "--model",
    "sgpr",
    "--inducing",
    "10",
    "--steps",
    "20",
];

#[test]
fn every_row_is_tested_once_and_the_table_has_means() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("rows.csv"), 61);
    let arguments = [&TRAIN[..], &["--folds", "4", "--out", "folds"]].concat();
    let text = succeed(path, &arguments);
    let mut tested = BTreeSet::new();
    for fold in 1..=4 {
        let predictions = path.join(format!("folds/runs/fold-{fold}/predictions.csv"));
        for row in columns(&predictions, &["row"]) {
            assert!(tested.insert(row[0].clone()), "row {row:?} is tested twice");
        }
    }
    assert_eq!(tested.len(), 61);
    let results = path.join("folds/results.csv");
    let lines = columns(&results, &["fold", "n_train", "n_test", "nlpd"]);
    assert_eq!(lines.len(), 4);
    let nlpd: Vec<f64> = lines.iter().map(|line| line[3].parse().unwrap()).collect();
    let mean = nlpd.iter().sum::<f64>() / 4.0;
    let last = text.lines().find(|line| line.starts_with("all")).unwrap();
    assert!(last.contains(&format!("{mean:.4}")), "{mean}: {last}");
    assert!(text.contains("--test-fraction 0"), "{text}");

    // Finished folds are kept, and a fold alone is the same run.
    let before = read(&results);
    succeed(path, &arguments);
    assert_eq!(read(&results), before);
    let alone = ["--folds", "4", "--fold", "3", "--out", "alone"];
    succeed(path, &[&TRAIN[..], &alone].concat());
    let metrics = |run: &str| -> Value {
        serde_json::from_str(&read(&path.join(run).join("metrics.json"))).unwrap()
    };
    assert_eq!(
        metrics("alone")["nlpd"],
        metrics("folds/runs/fold-3")["nlpd"]
    );
}

/// Without a model, each fold chooses one.
#[test]
fn classes_and_automatic_models_have_folds_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_classes(&path.join("rows.csv"), 60);
    let text = succeed(
        path,
        &[
            "train",
            "--data",
            "rows.csv",
            "--folds",
            "2",
            "--minutes",
            "0.02",
        ],
    );
    assert!(text.contains("error %") && text.contains("ECE"), "{text}");
    assert!(text.contains("out/rows-auto-folds"), "{text}");
}

#[test]
fn folds_that_cannot_be_made_are_refused_in_a_sentence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("rows.csv"), 20);
    for (arguments, sentence) in [
        (&["--folds", "1"][..], "--folds is 1 but must be at least 2"),
        (
            &["--folds", "4", "--fold", "5"],
            "be from 1 to 4, the number of folds",
        ),
        (
            &["--folds", "21", "--fold", "1"],
            "21 folds need at least 21 rows",
        ),
        (&["--fold", "2"], "--folds"),
        (
            &["--folds", "2", "--test-fraction", "0.2"],
            "--test-fraction",
        ),
    ] {
        let output = run(path, &[&TRAIN[..], arguments].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(sentence), "{arguments:?}: {text}");
    }
    let compare = [
        "compare",
        "--data",
        "rows.csv",
        "--models",
        "sgpr,exact",
        "--folds",
        "2",
    ];
    let output = run(path, &compare);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--grid fold=1,2,3"), "{text}");
}

/// Every fold would fail and say so.
#[test]
fn more_folds_than_rows() {
    let folder = TempDir::new().unwrap();
    write_regression(&folder.path().join("a.csv"), 30);
    let words = "train --data a.csv --folds 1000 --model exact --out run";
    let words: Vec<&str> = words.split(' ').collect();
    let output = run(folder.path(), &words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("30"), "{errors}");
}
