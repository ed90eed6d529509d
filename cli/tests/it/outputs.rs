//! All files of an output folder exist and are well-formed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use burn_gp_core::likelihoods::PredictiveDistribution;
use burn_gp_core::metrics::interval_score;

use crate::support::{fields, options_of, read, run, succeed, write_classes, write_regression};

/// The file names in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().into_owned()
    };
    entries.map(name).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn metrics(folder: &Path) -> serde_json::Value {
    serde_json::from_str(&read(&folder.join("metrics.json"))).unwrap()
}

/// Asserts that every SVG file of the folder is valid XML with the right root element.
fn assert_plots(folder: &Path) {
    for name in names(folder).iter().filter(|name| name.ends_with(".svg")) {
        let text = read(&folder.join(name));
        let document = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(document.root_element().tag_name().name(), "svg", "{name}");
        assert!(
            document.descendants().count() > 20,
            "{name} is nearly empty"
        );
    }
}

const FILES: [&str; 10] = [
    "calibration.svg",
    "checksums.sha256",
    "config.toml",
    "loss.svg",
    "metrics.json",
    "model.json",
    "predicted-observed.svg",
    "predictions.csv",
    "training_log.csv",
    "weights.bpk",
];

#[test]
fn a_regression_writes_every_file() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 200);
    let table = succeed(
        path,
        &[
            "train",
            "--data",
            "data.csv",
            "--steps",
            "300",
            "--inducing",
            "30",
            "--batch-size",
            "64",
            "--validation-fraction",
            "0.1",
            "--seed",
            "4",
        ],
    );
    let out = path.join("out/data-svgp");
    assert_eq!(names(&out), &set(&FILES) | &set(&["prediction-map.svg"]));
    assert_plots(&out);
    let metrics = metrics(&out);
    for key in [
        "model",
        "data",
        "n_train",
        "n_test",
        "d",
        "rmse",
        "mae",
        "nlpd",
        "rmse_original",
        "mae_original",
        "coverage95",
        "crps",
        "crps_original",
        "interval_score95_original",
        "msll",
        "objective",
        "train_seconds",
        "seconds_per_step",
        "seed",
        "backend",
        "dtype",
    ] {
        assert!(!metrics[key].is_null(), "metrics.json has no {key}");
    }
    assert_eq!(metrics["n_train"], 162);
    assert_eq!(metrics["n_validation"], 18);
    assert_eq!(metrics["n_test"], 20);
    // The noise is uniform on ±0.2 with standard deviation 0.115. A fit of this function with so
    // few rows is within twice that.
    assert!(metrics["rmse_original"].as_f64().unwrap() < 0.23);
    let predictions = fields(&read(&out.join("predictions.csv")));
    assert_eq!(
        predictions[0],
        ["row", "y", "mean", "std", "lower", "upper", "level"]
    );
    assert_eq!(predictions.len(), 21);
    check_scores(&metrics, &predictions);
    let log = fields(&read(&out.join("training_log.csv")));
    assert_eq!(log.len(), 301);
    let validations = log[1..].iter().filter(|row| !row[4].is_empty()).count();
    assert_eq!(validations, 6, "every 50 of 300 steps");
    for text in [
        "RMSE",
        "NLPD",
        "coverage",
        "lengthscales",
        "noise",
        "out/data-svgp",
    ] {
        assert!(table.contains(text), "the table lacks {text}:\n{table}");
    }
    assert_eq!(names(&path.join("out")), set(&["data-svgp"]));
}

/// Checks scores in the units of the data, computed again from the predictions, which are normal.
fn check_scores(metrics: &serde_json::Value, predictions: &[Vec<String>]) {
    let column = |name: &str| -> Vec<f64> {
        let place = predictions[0].iter().position(|own| own == name).unwrap();
        let cells = predictions[1..].iter();
        cells.map(|row| row[place].parse().unwrap()).collect()
    };
    let [y, mean, deviation, lower, upper] = ["y", "mean", "std", "lower", "upper"].map(column);
    let variance = deviation.iter().map(|own| own * own).collect();
    let normal = PredictiveDistribution::of_normals(mean, variance);
    let each = normal.continuous_ranked_probability_score(&y);
    let crps = each.iter().sum::<f64>() / each.len() as f64;
    let interval = interval_score(&y, &lower, &upper, 0.95);
    for (key, expected) in [("crps", crps), ("interval_score95", interval)] {
        let found = metrics[format!("{key}_original")].as_f64().unwrap();
        // The predictions are rounded to single precision or better.
        assert!(
            (found - expected).abs() < 1e-5 * expected,
            "{key}: {found} in metrics.json, {expected} from predictions.csv"
        );
    }
    // The mean and variance of the training targets predict worse than the model.
    assert!(metrics["msll"].as_f64().unwrap() < -0.5);
}

#[test]
fn the_jitter_of_the_precision_is_written_down() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 40);
    let short = ["--inducing", "10", "--steps", "2", "--quiet"];
    let jitter = |out: &str| {
        let text = read(&path.join(out).join("model.json"));
        let model = serde_json::from_str::<serde_json::Value>(&text).unwrap();
        let config = options_of(&path.join(out));
        let of_model = model["config"]["inducing"]["jitter"]["initial"].as_f64();
        assert_eq!(of_model, config["jitter"].as_f64(), "{model}\n{config:?}");
        of_model.expect("the jitter is a number")
    };
    for model in ["svgp", "sgpr"] {
        for (dtype, expected) in [("f64", 1e-8), ("f32", 1e-6)] {
            let out = format!("{model}-{dtype}");
            let arguments = [
                "train", "--data", "data.csv", "--model", model, "--dtype", dtype, "--out", &out,
            ];
            succeed(path, &[&arguments[..], &short].concat());
            assert_eq!(jitter(&out), expected, "{out}");
        }
    }
    // Another precision uses its own jitter. The same precision keeps the configured one.
    for (dtype, chosen, expected) in [("f32", "1e-7", 1e-6), ("f64", "1e-7", 1e-7)] {
        let (first, second) = (format!("chosen-{dtype}"), format!("again-{dtype}"));
        let config = path.join(&first).join("config.toml");
        let arguments = [
            "train", "--data", "data.csv", "--dtype", "f64", "--jitter", chosen, "--out", &first,
        ];
        succeed(path, &[&arguments[..], &short].concat());
        let arguments = [
            "train",
            "--config",
            config.to_str().unwrap(),
            "--dtype",
            dtype,
            "--out",
            &second,
            "--quiet",
        ];
        succeed(path, &arguments);
        assert_eq!(jitter(&second), expected, "{second}");
    }
}

#[test]
fn one_input_gives_a_plot_of_the_fit() {
    let folder = temp_dir::TempDir::new().unwrap();
    let data = "synthetic:sines?n=120&noise=0.1&seed=1";
    for model in ["exact", "sgpr"] {
        let arguments = [
            "train", "--data", data, "--model", model, "--out", model, "--quiet",
        ];
        assert!(succeed(folder.path(), &arguments).is_empty());
        let out = folder.path().join(model);
        assert_eq!(names(&out), &set(&FILES) | &set(&["fit.svg"]));
        assert_plots(&out);
        assert_eq!(metrics(&out)["synthetic"], true);
    }
}

#[test]
fn a_classification_writes_its_own_plots() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_classes(&path.join("data.csv"), 200);
    succeed(
        path,
        &[
            "train",
            "--data",
            "data.csv",
            "--likelihood",
            "bernoulli",
            "--steps",
            "300",
            "--out",
            "run",
            "--quiet",
        ],
    );
    let out = path.join("run");
    let files = [
        "checksums.sha256",
        "config.toml",
        "decision-map.svg",
        "loss.svg",
        "metrics.json",
        "model.json",
        "predictions.csv",
        "reliability.svg",
        "training_log.csv",
        "weights.bpk",
    ];
    assert_eq!(names(&out), set(&files));
    assert_plots(&out);
    let metrics = metrics(&out);
    for key in ["error", "nlpd", "ece", "rmse", "mae"] {
        assert!(metrics[key].is_f64(), "metrics.json has no {key}");
    }
    // Guessing is wrong half the time. Two rows of ten lie within the noise of the wave.
    assert!(metrics["error"].as_f64().unwrap() < 0.25);
}

/// Error, calibration error and loss are the same on the terminal, in the plots and in the file,
/// and follow from the predictions.
#[test]
fn terminal_plots_and_file_have_the_same_scores() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_classes(&path.join("data.csv"), 200);
    let line =
        "train --data data.csv --likelihood bernoulli --steps 40 --test-fraction 0.5 --out run";
    let table = succeed(path, &line.split_whitespace().collect::<Vec<&str>>());
    let out = path.join("run");
    let metrics = metrics(&out);
    let number = |key: &str| metrics[key].as_f64().unwrap();
    let error = format!("{:.2} %", 100.0 * number("error"));
    let ece = format!("{:.4}", number("ece"));
    let loss = format!("{:.4}", number("objective"));
    let reliability = read(&out.join("reliability.svg"));
    for text in [&error, &ece] {
        assert!(table.contains(text.as_str()), "{text} is not in {table}");
        assert!(
            reliability.contains(text.as_str()),
            "{text} is not in the plot"
        );
    }
    assert!(table.contains(&format!("loss {loss}")), "{table}");
    let plot = read(&out.join("loss.svg"));
    let remark = format!("kept model (step 40), all training rows: {loss}");
    assert!(plot.contains(&remark), "{remark} is not in the plot");

    // Ten bins from 0 to 1 of the probability of the predicted label.
    let rows = fields(&read(&out.join("predictions.csv")));
    let mut bins = [0.0; 10];
    for row in &rows[1..] {
        let probabilities = [3, 4].map(|column| row[column].parse::<f64>().unwrap());
        let (label, confidence) = match probabilities[1] > probabilities[0] {
            true => ("2", probabilities[1]),
            false => ("1", probabilities[0]),
        };
        assert_eq!(row[2], label);
        let right = if row[1] == label { 1.0 } else { 0.0 };
        bins[((10.0 * confidence) as usize).min(9)] += right - confidence;
    }
    let sum: f64 = bins.iter().map(|excess| f64::abs(*excess)).sum();
    let expected = sum / (rows.len() - 1) as f64;
    assert!(
        (number("ece") - expected).abs() < 1e-12,
        "{ece}, {expected}"
    );
}

#[test]
fn early_stopping_keeps_the_best_model() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 80);
    // With a learning rate this high, the last model is not the best one.
    succeed(
        path,
        &[
            "train",
            "--data",
            "data.csv",
            "--steps",
            "5000",
            "--inducing",
            "20",
            "--learning-rate",
            "0.3",
            "--schedule",
            "constant",
            "--validation-fraction",
            "0.3",
            "--patience",
            "3",
            "--out",
            "run",
            "--quiet",
        ],
    );
    let metrics = metrics(&path.join("run"));
    let (steps, kept) = (
        metrics["steps"].as_u64().unwrap(),
        metrics["step_kept"].as_u64().unwrap(),
    );
    assert!(steps < 5000, "training went to its end");
    assert_eq!(
        steps,
        kept + 150,
        "three validations, 50 steps apart, after the best"
    );
    let log = fields(&read(&path.join("run/training_log.csv")));
    let scores: Vec<(f64, u64)> = log[1..]
        .iter()
        .filter(|row| !row[4].is_empty())
        .map(|row| (row[4].parse().unwrap(), row[0].parse().unwrap()))
        .collect();
    let best = scores.iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    assert_eq!(best.1, kept);
}

#[test]
fn overwriting_replaces_the_whole_folder() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let data = "synthetic:sines?n=60&noise=0.1&seed=1";
    let mut arguments = vec![
        "train",
        "--data",
        data,
        "--steps",
        "5",
        "--out",
        "run",
        "--inducing",
        "10",
        "--quiet",
    ];
    succeed(path, &arguments);
    assert_eq!(run(path, &arguments).status.code(), Some(2));
    arguments.extend(["--overwrite", "--seed", "9"]);
    succeed(path, &arguments);
    assert_eq!(metrics(&path.join("run"))["seed"], 9);
    assert_eq!(names(path), set(&["run"]));
}

#[test]
fn a_failing_step_keeps_the_last_checkpoint() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 100);
    let output = run(
        path,
        &[
            "train",
            "--data",
            "data.csv",
            "--steps",
            "100",
            "--learning-rate",
            "1e200",
            "--out",
            "run",
            "--schedule",
            "constant",
            "--quiet",
        ],
    );
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.starts_with("error: training stopped at step 2: "),
        "{message}"
    );
    for text in [
        "kernel.lengthscale = ",
        "--learning-rate",
        "The checkpoint of step 0 is kept.",
    ] {
        assert!(message.contains(text), "{message}");
    }
    assert_eq!(names(&path.join("run")), set(&["checkpoint"]));
}

#[test]
fn the_data_sets_are_listed() {
    let folder = temp_dir::TempDir::new().unwrap();
    let text = succeed(folder.path(), &["datasets", "list"]);
    let line = |name: &str| {
        let found = text.lines().find(|line| line.starts_with(name));
        found
            .unwrap_or_else(|| panic!("no {name} in\n{text}"))
            .to_owned()
    };
    assert!(line("winequality").contains("built in"));
    assert!(line("kin40k").contains("40000"));
    assert!(line("banana").contains("two classes"));
}

/// Networks of mini-batch models standardize their inputs. Networks of full-batch models do not.
#[test]
fn networks_on_mini_batches_standardize_their_inputs() {
    let folder = temp_dir::TempDir::new().unwrap();
    write_regression(&folder.path().join("data.csv"), 60);
    for (model, standardized) in [
        ("svdbk", true),
        ("svdkl", true),
        ("dbk", false),
        ("sdkl", false),
    ] {
        let line = format!(
            "train --model {model} --steps 1 --units 4 --data data.csv --input-scale range --out {model}"
        );
        let arguments: Vec<&str> = line.split(' ').collect();
        succeed(folder.path(), &arguments);
        let text = read(&folder.path().join(model).join("model.json"));
        assert_eq!(text.contains("standardization"), standardized, "{model}");
    }
}

/// The option sets the blocks of residual networks and the hidden layers of other networks.
#[test]
fn networks_have_the_blocks_that_are_asked_for() {
    let folder = temp_dir::TempDir::new().unwrap();
    write_regression(&folder.path().join("data.csv"), 60);
    for (out, options, written) in [
        ("default", "", "\"blocks\":2"),
        ("deep", "--blocks 5", "\"blocks\":5"),
        (
            "plain",
            "--backbone perceptron --blocks 3",
            "\"hidden\":[4,4,4]",
        ),
    ] {
        let line =
            format!("train --model dbk --steps 1 --units 4 --data data.csv --out {out} {options}");
        let arguments: Vec<&str> = line.split_whitespace().collect();
        succeed(folder.path(), &arguments);
        let text = read(&folder.path().join(out).join("model.json"));
        let text: String = text.split_whitespace().collect();
        assert!(text.contains(written), "{out}: {text}");
    }
}
