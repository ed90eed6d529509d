//! `--weights`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{read, run, succeed};

/// A line with wild targets in every fifth row, whose weight is `wild`.
fn write(path: &Path, wild: &str) {
    let rows = (0..200).map(|row| {
        let x = (row as f64 * 0.618_034).fract();
        let (y, weight) = match row % 5 {
            2 => (50.0, wild),
            _ => (2.0 * x, "1"),
        };
        format!("{x},{y},{weight}\n")
    });
    fs::write(path, format!("x,y,w\n{}", rows.collect::<String>())).unwrap();
}

const TRAIN: [&str; 11] = [
    "train",
    "--data",
    "rows.csv",
    "--target",
    "y",
    "--weights",
    "w",
    "--test",
    "test.csv",
    "--quiet",
    "--out",
];

fn error(path: &Path, run: &str) -> f64 {
    let metrics: Value = serde_json::from_str(&read(&path.join(run).join("metrics.json"))).unwrap();
    metrics["rmse_original"].as_f64().unwrap()
}

#[test]
fn rows_of_weight_zero_are_not_learned() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let test = (0..20).map(|row| format!("{0},{0},1\n", row as f64 / 20.0));
    let test: String = test.collect();
    fs::write(path.join("test.csv"), format!("x,y,w\n{test}")).unwrap();
    let model = ["--model", "svgp", "--inducing", "10", "--steps", "300"];
    for (wild, name) in [("1", "wild"), ("0", "tame")] {
        write(&path.join("rows.csv"), wild);
        succeed(path, &[&TRAIN[..], &[name], &model].concat());
    }
    // The test rows have y = x where training has 2·x: a mean error of about a half.
    assert!(error(path, "tame") < 1.0, "{}", error(path, "tame"));
    assert!(error(path, "wild") > 5.0, "{}", error(path, "wild"));
    // Without a model, one that takes weights is chosen.
    succeed(
        path,
        &[&TRAIN[..], &["chosen", "--minutes", "0.02"]].concat(),
    );
    let text = succeed(path, &["show", "chosen"]);
    assert!(text.contains("svgp"), "{text}");
    let inputs = &text[text.find("input ").unwrap()..];
    assert!(!inputs.contains("\nw "), "{text}");
}

/// Other variational models, training on all rows at once, and regression.
#[test]
fn other_models_take_weights() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(
        path.join("test.csv"),
        "x,y,w\n0.2,0.4,1\n0.5,1,1\n0.8,1.6,1\n",
    )
    .unwrap();
    write(&path.join("rows.csv"), "0");
    for (name, model) in [
        (
            "all",
            &[
                "--model",
                "svgp",
                "--inducing",
                "10",
                "--optimizer",
                "l-bfgs",
            ][..],
        ),
        (
            "deep",
            &[
                "--model",
                "deep-gp",
                "--layers",
                "2",
                "--inducing",
                "10",
                "--steps",
                "300",
            ],
        ),
        ("basis", &["--model", "svdbk", "--steps", "300"]),
        (
            "network",
            &["--model", "svdkl", "--inducing", "10", "--steps", "300"],
        ),
        ("exact", &["--model", "exact"]),
        ("sgpr", &["--model", "sgpr", "--inducing", "20"]),
        ("gradients", &["--model", "cggp"]),
        ("actions", &["--model", "cagp-opt", "--actions", "40"]),
        ("neighbors", &["--model", "vecchia", "--neighbors", "10"]),
        (
            "features",
            &["--model", "dbk", "--rank", "8", "--steps", "300"],
        ),
    ] {
        succeed(path, &[&TRAIN[..], &[name], model].concat());
        // The wild targets are 50.
        assert!(error(path, name) < 1.0, "{name}: {}", error(path, name));
    }
}

#[test]
fn weights_that_cannot_be_are_refused_in_a_sentence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("test.csv"), "x,y,w\n1,2,1\n").unwrap();
    for (wild, more, sentence) in [
        (
            "-1",
            &[][..],
            "rows.csv:4: the weight in column 3 (\"w\") is \"-1\"",
        ),
        ("", &[], "must be a nonnegative number"),
        (
            "1",
            &["--model", "vif"],
            "--weights does not apply to model 'vif'",
        ),
        (
            "1",
            &["--model", "vnngp"],
            "--weights does not apply to model 'vnngp'",
        ),
    ] {
        write(&path.join("rows.csv"), wild);
        let output = run(path, &[&TRAIN[..], &["run"], more].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{wild} {more:?}: {text}");
        assert!(text.contains(sentence), "{wild} {more:?}: {text}");
    }
    let rows = "x,y,w\n1,2,0\n2,3,0\n3,4,0\n";
    fs::write(path.join("rows.csv"), rows).unwrap();
    let output = run(path, &[&TRAIN[..], &["run"]].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("all weights in column 3"), "{text}");
}
