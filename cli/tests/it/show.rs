//! `show`: the description of a saved model.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{read, run, succeed, write_classes, write_regression};

/// Trains on `data` in the folder `out` and returns the description.
fn shown(folder: &Path, data: &str, out: &str, options: &str) -> Value {
    let line = format!("train --data {data} --out {out} --quiet {options}");
    succeed(folder, &line.split_whitespace().collect::<Vec<&str>>());
    described(folder, out)
}

fn described(folder: &Path, out: &str) -> Value {
    let text = succeed(folder, &["show", out, "--json"]);
    serde_json::from_str(&text).unwrap()
}

/// The values of a parameter with the name of their units.
fn parameter<'a>(description: &'a Value, path: &str) -> (Vec<f64>, &'a str) {
    let parameters = description["parameters"].as_array().unwrap();
    let found = parameters.iter().find(|one| one["path"] == path);
    let found = found.unwrap_or_else(|| panic!("{path} is not in {parameters:?}"));
    let values = found["values"].as_array().unwrap().iter();
    let values = values.map(|value| value.as_f64().unwrap()).collect();
    (values, found["units"].as_str().unwrap())
}

/// The data of `write_regression` with the first input in thousandths and the target in tenths.
fn write_in_other_units(folder: &Path) {
    let number = |text: &str| text.parse::<f64>().unwrap();
    let rescaled = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let (a, y) = (
            1000.0 * number(cells[0]) + 7.0,
            10.0 * number(cells[2]) - 3.0,
        );
        format!("{a},{},{y}", cells[1])
    };
    let text = read(&folder.join("data.csv"));
    let rows: Vec<String> = text.lines().skip(1).map(rescaled).collect();
    fs::write(
        folder.join("other.csv"),
        format!("a,b,y\n{}\n", rows.join("\n")),
    )
    .unwrap();
}

/// The same data in other units make the same model, whose parameters differ by the units alone.
#[test]
fn parameters_have_the_units_of_the_data() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    write_in_other_units(path);
    let options = "--model exact --steps 3 --mean linear \
                   --kernel matern52+linear+rbf[1]*rbf[2]+periodic(rbf)[1]";
    let plain = shown(path, "data.csv", "plain", options);
    let other = shown(path, "other.csv", "other", options);
    for (name, units, factors) in [
        (
            "kernel.first.first.first.lengthscale",
            "inputs",
            &[1000.0, 1.0][..],
        ),
        (
            "kernel.first.first.first.variance",
            "squared-target",
            &[100.0],
        ),
        (
            "kernel.first.first.second.variance",
            "squared-target-per-input",
            &[1e-4, 100.0],
        ),
        (
            "kernel.first.second.first.base.lengthscale",
            "inputs",
            &[1000.0],
        ),
        (
            "kernel.first.second.first.base.variance",
            "standardized",
            &[1.0],
        ),
        (
            "kernel.first.second.second.base.lengthscale",
            "inputs",
            &[1.0],
        ),
        ("kernel.second.base.period", "inputs", &[1000.0]),
        (
            "kernel.second.base.base.lengthscale",
            "standardized",
            &[1.0],
        ),
        (
            "kernel.second.base.base.variance",
            "squared-target",
            &[100.0],
        ),
        ("likelihood.noise", "squared-target", &[100.0]),
        ("mean.weights", "target-per-input", &[0.01, 10.0]),
    ] {
        let (first, own) = parameter(&plain, name);
        let (second, _) = parameter(&other, name);
        assert_eq!((own, first.len()), (units, factors.len()), "{name}");
        for ((first, second), factor) in first.iter().zip(&second).zip(factors) {
            // The statistics of the rows differ in their last digits, and so do three steps.
            let ratio = second / first / factor;
            assert!(
                (ratio - 1.0).abs() < 1e-6,
                "{name}: {second} beside {first}"
            );
        }
    }
}

/// The location of a change and the values of a linear mean do not depend on the units.
#[test]
fn locations_and_means_have_the_units_of_the_data() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    write_in_other_units(path);
    let change = "--model exact --steps 3 --mean linear --kernel change-point(rbf,linear)";
    let plain = shown(path, "data.csv", "plain", change);
    let other = shown(path, "other.csv", "other", change);
    let value = |shown: &Value, name: &str| parameter(shown, name).0[0];
    let [location, moved] = [&plain, &other].map(|shown| value(shown, "kernel.location"));
    assert!(
        (1000.0 * location + 7.0 - moved).abs() < 1e-3,
        "{location}, {moved}"
    );
    let [slope, flatter] = [&plain, &other].map(|shown| value(shown, "kernel.steepness"));
    assert!(
        (slope / flatter - 1000.0).abs() < 1e-3,
        "{slope}, {flatter}"
    );
    let mean = |shown: &Value, inputs: [f64; 2]| {
        let (weights, offset) = (
            parameter(shown, "mean.weights").0,
            parameter(shown, "mean.offset").0,
        );
        weights[0] * inputs[0] + weights[1] * inputs[1] + offset[0]
    };
    let (first, second) = (mean(&plain, [0.4, -1.2]), mean(&other, [407.0, -1.2]));
    assert!(
        (10.0 * first - 3.0 - second).abs() < 1e-6,
        "{first}, {second}"
    );
}

#[test]
fn the_text_names_the_model_the_data_and_the_scores() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    let json = shown(path, "data.csv", "run", "--inducing 9 --steps 5");
    let metrics: Value = serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    assert_eq!(json["scores"]["nlpd"], metrics["nlpd"]);
    assert_eq!(json["n_train"], metrics["n_train"]);
    let text = succeed(path, &["show", "run"]);
    for words in [
        "model       svgp, matern52 kernel, gaussian likelihood, whitened posterior, 9 inducing points\n",
        "data        data: 54 rows to train on\n",
        "target      y, standardized: mean ",
        "saved       f64, format version 5\n",
        "training    5 steps in ",
        "RMSE        ",
        "kernel.lengthscale (in the units of the input)\n  a ",
        "likelihood.noise",
        "in the units of y)",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    fs::remove_file(path.join("run/metrics.json")).unwrap();
    let text = succeed(path, &["show", "run"]);
    assert!(
        text.contains("svgp, matern52 kernel") && !text.contains("RMSE"),
        "{text}"
    );
    fs::write(path.join("run/metrics.json"), "{").unwrap();
    let output = run(path, &["show", "run"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("run/metrics.json cannot be read"),
        "{message}"
    );
    assert_eq!(output.status.code(), Some(2));
}

/// A function of classes is not on the scale of the labels, and the output of a network is no input,
/// even if there are as many.
#[test]
fn values_without_units_are_called_standardized() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_classes(&path.join("classes.csv"), 60);
    let classes = "--likelihood bernoulli --inducing 9 --steps 3";
    let json = shown(path, "classes.csv", "classes", classes);
    assert_eq!(parameter(&json, "kernel.variance").1, "standardized");
    assert_eq!(parameter(&json, "kernel.lengthscale").1, "inputs");
    assert_eq!(json["target"]["classes"], serde_json::json!(["1", "2"]));
    write_regression(&path.join("data.csv"), 60);
    let network = "--model dkl --features 2 --steps 3";
    let json = shown(path, "data.csv", "network", network);
    assert_eq!(parameter(&json, "kernel.lengthscale").1, "standardized");
    let shared = shown(
        path,
        "data.csv",
        "shared",
        "--isotropic --inducing 9 --steps 3",
    );
    assert_eq!(parameter(&shared, "kernel.lengthscale").1, "standardized");
}

#[test]
fn a_folder_without_a_model_is_named() {
    let folder = temp_dir::TempDir::new().unwrap();
    let output = run(folder.path(), &["show", "nope"]);
    let message = String::from_utf8(output.stderr).unwrap();
    let expected =
        "error: there is no trained model in nope; check the path, or train one with --out\n";
    assert_eq!(message, expected);
    assert_eq!(output.status.code(), Some(2));
}
