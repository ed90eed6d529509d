//! `train --restarts` finds a better optimum of the hyperparameters.

use std::f64::consts::PI;
use std::fs;
use std::path::Path;

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::processes::assert_refused;
use crate::support::{read, run, succeed};

/// A sine with a period of six inputs, whose evidence has a second optimum: all of the sine in the noise.
fn write(path: &Path) {
    let lines = (0..20).map(|row| {
        let x = f64::from(row);
        let y = (PI * x / 3.0).sin() + 0.3 * (37.0 * x).sin();
        format!("{x},{y},{}\n", row % 2 + 1)
    });
    let text = format!("x,y,weight\n{}", lines.collect::<String>());
    fs::write(path, text).unwrap();
}

/// Training from a start that ends in that optimum.
const TRAIN: [&str; 14] = [
    "train",
    "--data",
    "sine.csv",
    "--inputs",
    "x",
    "--target",
    "y",
    "--test-fraction",
    "0",
    "--kernel",
    "rbf",
    "--default-priors=false",
    "--noise",
    "3",
];

fn objective(folder: &Path) -> f64 {
    let metrics: Value = serde_json::from_str(&read(&folder.join("metrics.json"))).unwrap();
    metrics["objective"].as_f64().unwrap()
}

#[test]
fn training_starts_from_the_best_values() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("sine.csv"));
    let train = |more: &[&str], out: &str| {
        let exact = [
            "--model",
            "exact",
            "--set",
            "kernel.lengthscale=3",
            "--out",
            out,
        ];
        succeed(path, &[&TRAIN[..], &exact, more].concat())
    };
    train(&[], "alone");
    let text = train(&["--restarts", "20", "--seed", "1"], "best");
    assert!(
        text.contains("\nrestarts    loss per row: 1.4189 from the configured start, "),
        "{text}"
    );
    let (alone, best) = (
        objective(&path.join("alone")),
        objective(&path.join("best")),
    );
    assert!(best < alone - 0.1, "{alone} and {best}"); // losses per row

    // The configuration of the run has the start, so it trains once and ends at the same values.
    let configuration = read(&path.join("best/config.toml"));
    assert!(!configuration.contains("restarts"), "{configuration}");
    let set = configuration.matches("kernel.lengthscale").count();
    assert_eq!(set, 1, "{configuration}");
    let arguments = ["train", "--config", "best/config.toml", "--out", "again"];
    let again = succeed(path, &arguments);
    assert!(!again.contains("restarts "), "{again}");
    assert_eq!(objective(&path.join("again")), best);
}

#[test]
fn weighted_rows_have_no_restarts() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("sine.csv"));
    let more = ["--model", "svgp", "--weights", "weight", "--restarts", "2"];
    let output = run(path, &[&TRAIN[..], &more].concat());
    assert_refused(
        &output,
        "--restarts does not work with --weights; remove one of them",
    );
}
