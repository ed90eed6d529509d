//! Numbers of parameters in the units of the data.

use core::f64::consts::TAU;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{read, run, succeed};

/// Monthly numbers with a season of twelve months, and an input of another scale.
fn write_months(folder: &Path) {
    let mut random = ChaCha8Rng::seed_from_u64(21);
    let mut text = String::from("month,b,y\n");
    for month in 0..120 {
        let (b, noise): (f64, f64) = (
            random.random_range(0.0..0.1),
            random.random_range(-3.0..3.0),
        );
        let phase = TAU * f64::from(month) / 12.0;
        let y = 300.0 + 20.0 * phase.sin() + 8.0 * (2.0 * phase).cos() + noise;
        text += &format!("{month},{b},{y}\n");
    }
    fs::write(folder.join("months.csv"), text).unwrap();
}

fn train<'a>(kernel: &'a str, options: &'a [&'a str]) -> Vec<&'a str> {
    train_model("exact", kernel, options)
}

fn train_model<'a>(model: &'a str, kernel: &'a str, options: &'a [&'a str]) -> Vec<&'a str> {
    let line = "train --data months.csv --out run --overwrite --quiet --model";
    line.split(' ')
        .chain([model, "--kernel", kernel])
        .chain(options.iter().copied())
        .collect()
}

/// The parameters as `show` prints them.
fn shown(folder: &Path) -> Vec<Value> {
    let text = succeed(folder, &["show", "run", "--json"]);
    let description: Value = serde_json::from_str(&text).unwrap();
    description["parameters"].as_array().unwrap().clone()
}

fn values(parameters: &[Value], path: &str) -> Vec<f64> {
    let found = parameters.iter().find(|one| one["path"] == path);
    let found = found.unwrap_or_else(|| panic!("{path} is not in {parameters:?}"));
    let values = found["values"].as_array().unwrap().iter();
    values.map(|value| value.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_values(parameters: &[Value], path: &str, expected: &[f64]) {
    let found = values(parameters, path);
    assert_eq!(found.len(), expected.len(), "{path}: {found:?}");
    for (value, expected) in found.iter().zip(expected) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{path}: {found:?}");
    }
}

#[test]
fn numbers_of_a_kernel_are_what_show_prints() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_months(path);
    let kernel = "periodic(rbf(lengthscale=0.7), period=12)[1] + rbf(lengthscale=3, variance=4) \
                  + change-point(scaled(rbf, outputscale=5), linear(variance=0.5), location=60, steepness=0.2) \
                  + rbf(lengthscale=0.5 std, variance=2 std) * matern32(lengthscale=25)[1]";
    succeed(path, &train(kernel, &["--fix", "kernel", "--steps", "1"]));
    let parameters = shown(path);
    for (name, expected) in [
        ("first.first.first.base.period", &[12.0][..]),
        ("first.first.first.base.base.lengthscale", &[0.7]),
        ("first.first.second.lengthscale", &[3.0, 3.0]),
        ("first.first.second.variance", &[4.0]),
        ("first.second.location", &[60.0]),
        ("first.second.steepness", &[0.2]),
        ("first.second.first.outputscale", &[5.0]),
        ("first.second.second.variance", &[0.5, 0.5]),
        ("second.first.variance", &[2.0]),
        ("second.second.base.lengthscale", &[25.0]),
    ] {
        assert_values(&parameters, &format!("kernel.{name}"), expected);
    }
    let metrics: Value = serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    let standardized = &metrics["hyperparameters"]["kernel.second.first.lengthscale"];
    for value in standardized.as_array().unwrap() {
        assert!(
            (value.as_f64().unwrap() - 0.5).abs() < 1e-9,
            "{standardized}"
        );
    }
    // The configuration of a run says the same again.
    succeed(
        path,
        &[
            "train",
            "--config",
            "run/config.toml",
            "--out",
            "again",
            "--quiet",
        ],
    );
    assert_eq!(
        read(&path.join("again/predictions.csv")),
        read(&path.join("run/predictions.csv"))
    );
}

#[test]
fn options_of_parameters_may_have_the_units_of_the_data() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_months(path);
    let options = [
        "--steps",
        "1",
        "--set",
        "kernel.first.period=12 data",
        "--set",
        "kernel.second.lengthscale=30,0.2 data",
        "--fix",
        "kernel",
        "--bound",
        "likelihood.noise=9..10 data",
        "--set",
        "likelihood.noise=9.5data",
        "--prior",
        "likelihood.noise=gamma(2, 0.1) data",
    ];
    succeed(path, &train("periodic(rbf)+rbf", &options[..]));
    let parameters = shown(path);
    assert_values(&parameters, "kernel.first.period", &[12.0, 12.0]);
    assert_values(&parameters, "kernel.second.lengthscale", &[30.0, 0.2]);
    let noise = values(&parameters, "likelihood.noise")[0];
    assert!((9.0..=10.0).contains(&noise), "{noise}");
    let config = read(&path.join("run/config.toml"));
    assert!(config.contains("likelihood.noise=9..10 data"), "{config}");
}

#[test]
fn numbers_without_one_meaning_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_months(path);
    for (kernel, options, message) in [
        (
            "rbf(lengthscale=3)",
            &["--isotropic"][..],
            "lengthscale=3 in --kernel is in the units of the data, but the inputs month, b share it and differ in scale",
        ),
        (
            "spectral-mixture(highest-frequency=0.1)",
            &[],
            "highest-frequency=0.1 in --kernel is in the units of the data",
        ),
        (
            "rbf",
            &["--prior", "kernel.lengthscale=gamma(2, 1) data"],
            "--prior kernel.lengthscale is in the units of the data, but the inputs month, b share it",
        ),
        (
            "polynomial",
            &["--set", "kernel.offset=2 data"],
            "--set kernel.offset has no units of the data in the model exact; remove \"data\"",
        ),
        (
            "rbf(lengthscale=1e-9)[1]",
            &[],
            "but must be a number above 1e-6 in standardized units",
        ),
    ] {
        let output = run(path, &train(kernel, options));
        let found = String::from_utf8(output.stderr).unwrap();
        assert!(found.contains(message), "{kernel}: {found}");
        assert_eq!(output.status.code(), Some(2), "{kernel}");
    }
}

#[test]
fn a_period_longer_than_the_data_is_warned_of() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_months(path);
    let warning = "warning: the period 500 is longer than the range of the input month in the training rows, 1";
    for (kernel, is_warned) in [
        ("periodic(rbf, period=500)[1]", true),
        ("matern52*cosine(period=500)[1]", true),
        ("periodic(rbf, period=12)[1]", false),
    ] {
        let output = run(path, &train(kernel, &["--steps", "1"]));
        assert_eq!(output.status.code(), Some(0), "{kernel}");
        let found = String::from_utf8(output.stderr).unwrap();
        assert_eq!(found.contains(warning), is_warned, "{kernel}: {found}");
    }
}

#[test]
fn a_period_that_is_not_given_comes_from_the_data() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_months(path);
    for model in ["exact", "auto"] {
        succeed(path, &train_model(model, "periodic(rbf)[1]", &[]));
        let parameters = shown(path);
        let period = values(&parameters, "kernel.base.period")[0];
        assert!((period / 12.0 - 1.0).abs() < 0.02, "{model}: {period}");
        // The uniform noise has variance 3.
        let noise = values(&parameters, "likelihood.noise")[0];
        assert!((2.0..4.0).contains(&noise), "{model}: {noise}");
        let config = read(&path.join("run/config.toml"));
        assert!(config.contains("kernel.base.period="), "{model}: {config}");
    }
}

#[test]
fn the_help_says_which_numbers_have_which_units() {
    let folder = TempDir::new().unwrap();
    let help = succeed(folder.path(), &["train", "--help"]);
    let words: Vec<&str> = help.split_whitespace().collect();
    let help = words.join(" ");
    for sentence in [
        "in the units of the data as `show` prints them",
        "Initial value of a parameter, in standardized units",
        "Intervals do not include the uncertainty of the slope of a linear mean",
    ] {
        assert!(help.contains(sentence), "{sentence} is not in {help}");
    }
}
