//! Regression on nearest neighbors: joint predictions, and when `--model auto` takes it.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use temp_dir::TempDir;

use crate::support::{numbers, read, succeed};

/// Rows at random places of the unit square with the target `value` plus noise.
fn write(path: &Path, rows: usize, seed: u64, value: impl Fn([f64; 2]) -> f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let line = |_| {
        let [a, b, noise] = [(); 3].map(|()| random.random::<f64>());
        let y = value([a, b]) + 0.4 * (noise - 0.5);
        format!("{a},{b},{y}\n")
    };
    let lines: String = (0..rows).map(line).collect();
    fs::write(path, format!("a,b,y\n{lines}")).unwrap();
}

/// A random value for each of 20 x 20 squares.
fn rough([a, b]: [f64; 2]) -> f64 {
    let square = |x: f64| (20.0 * x) as u64;
    let mut random = ChaCha8Rng::seed_from_u64(100 * square(a) + square(b));
    3.0 * random.random::<f64>()
}

fn smooth([a, b]: [f64; 2]) -> f64 {
    (4.0 * a).sin() + (3.0 * b).cos()
}

const TRAIN: [&str; 8] = [
    "train",
    "--data",
    "data.csv",
    "--test",
    "new.csv",
    "--dtype",
    "f64",
    "--overwrite",
];

/// Predictions of the rows of `new.csv` from line `first` on, made in one call.
fn predicted(folder: &Path, model: &str, first: usize) -> Vec<f64> {
    let text = read(&folder.join("new.csv"));
    let mut lines: Vec<&str> = text.lines().collect();
    lines.drain(1..first);
    fs::write(folder.join("some.csv"), lines.join("\n")).unwrap();
    let predict = [
        "predict",
        "-m",
        model,
        "-d",
        "some.csv",
        "-o",
        "p.csv",
        "--overwrite",
    ];
    succeed(folder, &predict);
    numbers(&folder.join("p.csv"), "mean")
}

/// The rows of a call are predicted together, in training and in `predict` alike, unless an option turns it off.
#[test]
fn rows_are_predicted_together() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(&folder.join("data.csv"), 150, 1, smooth);
    write(&folder.join("new.csv"), 60, 2, smooth);
    let vecchia = [
        "--model",
        "vecchia",
        "--prediction-neighbors",
        "8",
        "--steps",
        "3",
    ];
    succeed(
        folder,
        &[&TRAIN[..], &vecchia, &["--out", "joint"]].concat(),
    );
    let all = predicted(folder, "joint", 1);
    assert_eq!(all, numbers(&folder.join("joint/predictions.csv"), "mean"));
    assert_ne!(predicted(folder, "joint", 31), all[30..]);
    let alone = ["--independent-predictions", "--out", "alone"];
    succeed(folder, &[&TRAIN[..], &vecchia, &alone].concat());
    let all = predicted(folder, "alone", 1);
    assert_eq!(all, numbers(&folder.join("alone/predictions.csv"), "mean"));
    for (some, all) in predicted(folder, "alone", 31).iter().zip(&all[30..]) {
        // Tiles of another size may sum in another order.
        assert!((some - all).abs() < 1e-9, "{some}, {all}");
    }
    let config = read(&folder.join("alone/config.toml"));
    assert!(
        config.contains("independent_predictions = true"),
        "{config}"
    );
}

/// Kernels of space and time, whose last or given input is the time, and with a trained smoothness. The noise has the
/// standard deviation 0.12, and the function about 0.8.
#[test]
fn kernels_of_places_and_times_are_trained() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(&folder.join("data.csv"), 250, 5, smooth);
    write(&folder.join("new.csv"), 60, 6, smooth);
    let [a, b] = ["a", "b"].map(|input| numbers(&folder.join("new.csv"), input));
    for (kernel, parameter) in [
        ("gneiting", "kernel.interaction"),
        (
            "gneiting(input=1, smoothness=0.5)",
            "kernel.time_smoothness",
        ),
        ("matern(smoothness=1.2)", "kernel.smoothness"),
    ] {
        let vecchia = ["--model", "vecchia", "--kernel", kernel, "--out", "run"];
        succeed(folder, &[&TRAIN[..], &vecchia].concat());
        let means = numbers(&folder.join("run/predictions.csv"), "mean");
        let errors =
            (a.iter().zip(&b).zip(&means)).map(|((&a, &b), mean)| (mean - smooth([a, b])).powi(2));
        let error = (errors.sum::<f64>() / means.len() as f64).sqrt();
        assert!(error < 0.08, "{kernel}: {error}");
        let shown = succeed(folder, &["show", "run"]);
        assert!(shown.contains(parameter), "{kernel}: {shown}");
    }
}

/// With few inputs and more rows than exact regression takes in the time, nearest neighbors are chosen if they
/// predict held-out rows better.
#[test]
fn auto_takes_nearest_neighbors_where_they_win() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let train = [&TRAIN[..], &["--minutes", "0.06", "--out", "run"]].concat();
    for (value, chosen) in [(rough as fn([f64; 2]) -> f64, true), (smooth, false)] {
        write(&folder.join("data.csv"), 2500, 3, value);
        write(&folder.join("new.csv"), 300, 4, value);
        let text = succeed(folder, &train);
        let line = match chosen {
            true => {
                "model auto chose vecchia: it is better than svgp on 500 held-out training rows (mean log"
            }
            false => {
                "too many rows for full-batch training, and vecchia is not clearly better on 500 held-out"
            }
        };
        assert!(text.contains(line), "{text}");
        let metrics: serde_json::Value =
            serde_json::from_str(&read(&folder.join("run/metrics.json"))).unwrap();
        assert_eq!(metrics["model"] == "vecchia", chosen, "{text}");
        if chosen {
            let ours = metrics["rmse"].as_f64().unwrap();
            let theirs = metrics["baselines"]["nearest_neighbors"]["rmse"].as_f64();
            assert!(ours < theirs.unwrap(), "{text}");
        }
    }
    // The user's kernel is the only one, and options of other models leave no choice.
    write(&folder.join("data.csv"), 2500, 3, rough);
    let text = succeed(folder, &[&train[..], &["--kernel", "matern32"]].concat());
    assert!(
        text.contains("model       vecchia, matern32 kernel"),
        "{text}"
    );
    let others = ["--model", "auto", "--inducing", "40", "--steps", "3"];
    let text = succeed(folder, &[&train[..], &others].concat());
    assert!(
        text.contains("model auto chose svgp: there are too many rows for full-batch training\n"),
        "{text}"
    );
}
