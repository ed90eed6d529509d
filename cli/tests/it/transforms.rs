//! `--transform`: predictions and scores of transformed columns stay in the units of the data.

use std::f64::consts::PI;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{columns, numbers, read, run, succeed};

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Prices whose logarithms are a function of the logarithm of an area, with noise, and a file with these logarithms.
fn write_prices(folder: &Path) {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let (mut text, mut logarithms) = ("area,b,price\n".to_owned(), "area,b,price\n".to_owned());
    for _ in 0..140 {
        let log_area: f64 = random.random_range(0.0..5.0);
        let b: f64 = random.random_range(-1.0..1.0);
        let noise: f64 = StandardNormal.sample(&mut random);
        let log_price = 3.0 + log_area.sin() + 0.5 * b + 0.4 * noise;
        text += &format!("{},{b},{}\n", log_area.exp(), log_price.exp());
        logarithms += &format!("{log_area},{b},{log_price}\n");
    }
    fs::write(folder.join("prices.csv"), text).unwrap();
    fs::write(folder.join("logarithms.csv"), logarithms).unwrap();
}

fn train(folder: &Path, options: &str) -> String {
    let line = format!("train --test-fraction 0.3 --dtype f64 --quiet --overwrite {options}");
    succeed(folder, &line.split_whitespace().collect::<Vec<_>>())
}

fn metrics(folder: &Path, run: &str) -> Value {
    serde_json::from_str(&read(&folder.join(run).join("metrics.json"))).unwrap()
}

fn refused(folder: &Path, options: &str) -> String {
    let output = run(folder, &options.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A logarithm by the program is that of a file of logarithms: quantiles are its exponentials, and means, standard
/// deviations and scores follow from the log-normal distribution.
#[test]
fn logarithms_are_those_of_a_file_of_logarithms() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_prices(path);
    let model = "--model exact --steps 40";
    train(
        path,
        &format!("--data prices.csv --out run --transform price=log --transform area=log {model}"),
    );
    train(path, &format!("--data logarithms.csv --out plain {model}"));
    for (run, data) in [("run", "prices.csv"), ("plain", "logarithms.csv")] {
        let line =
            format!("predict --model-dir {run} --data {data} --quantiles 0.5,0.1 --out {run}.csv");
        succeed(path, &line.split(' ').collect::<Vec<_>>());
    }
    let column = |run: &str, title: &str| numbers(&path.join(run), title);
    for title in ["lower", "upper", "quantile 0.5", "quantile 0.1"] {
        let pairs = column("run.csv", title)
            .into_iter()
            .zip(column("plain.csv", title));
        for (own, logarithm) in pairs {
            // Both runs take the same steps, up to rounding.
            assert!(
                (own.ln() - logarithm).abs() < 1e-6,
                "{title}: {own}, {logarithm}"
            );
        }
    }
    // The test rows, from the distribution of their logarithms.
    let own = |title: &str| column("run/predictions.csv", title);
    let (targets, lower, upper) = (own("y"), own("lower"), own("upper"));
    let (mut means, mut densities) = (Vec::new(), Vec::new());
    for row in 0..targets.len() {
        let (low, high) = (lower[row].ln(), upper[row].ln());
        let (location, spread) = (0.5 * (low + high), (high - low) / (2.0 * Z));
        let expected = (location + 0.5 * spread * spread).exp();
        let deviation = expected * (spread * spread).exp_m1().sqrt();
        assert!((own("mean")[row] / expected - 1.0).abs() < 1e-8);
        assert!((own("std")[row] / deviation - 1.0).abs() < 1e-6);
        means.push(expected);
        let z = (targets[row].ln() - location) / spread;
        densities.push(-0.5 * (z * z + (2.0 * PI).ln()) - spread.ln() - targets[row].ln());
    }
    let metrics = metrics(path, "run");
    let score = |key: &str| metrics[key].as_f64().unwrap();
    let squares: Vec<f64> = targets
        .iter()
        .zip(&means)
        .map(|(y, mean)| (y - mean).powi(2))
        .collect();
    assert!((score("rmse_original") / mean(&squares).sqrt() - 1.0).abs() < 1e-8);
    // Densities are those of prices in standard deviations of the training rows.
    let scale = score("rmse_original") / score("rmse");
    assert!((score("nlpd") + mean(&densities) + scale.ln()).abs() < 1e-8);
    let tested = own("row");
    let all = numbers(&path.join("prices.csv"), "price");
    let rows = (0..all.len()).filter(|row| !tested.contains(&(*row as f64)));
    let training: Vec<f64> = rows.map(|row| all[row]).collect();
    let center = mean(&training);
    let squares: Vec<f64> = training.iter().map(|y| (y - center).powi(2)).collect();
    assert!((scale / mean(&squares).sqrt() - 1.0).abs() < 1e-12);
    let inside =
        (0..targets.len()).filter(|&row| lower[row] <= targets[row] && targets[row] <= upper[row]);
    assert!((score("coverage95") - inside.count() as f64 / targets.len() as f64).abs() < 1e-12);
}

/// With a transformation, multiplicative noise is predicted better, and the score that shows it has the Jacobian.
#[test]
fn transformed_targets_are_predicted_better_in_the_units_of_the_data() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_prices(path);
    let nlpd = |transform: &str| {
        let transform = match transform {
            "none" => String::new(),
            name => format!("--transform price={name}"),
        };
        let inputs = "--transform area=quantile --model exact --steps 40";
        train(
            path,
            &format!("--data prices.csv --out run {inputs} {transform}"),
        );
        let left_out = metrics(path, "run")["leave_one_out"]["nlpd"]
            .as_f64()
            .unwrap();
        let test = metrics(path, "run")["nlpd"].as_f64().unwrap();
        // 42 test rows and 98 others have the same distribution.
        assert!((left_out - test).abs() < 0.5, "{left_out}, {test}");
        test
    };
    let none = nlpd("none");
    for name in ["log", "box-cox", "yeo-johnson"] {
        let own = nlpd(name);
        assert!(own < none - 0.1, "{name}: {own}, without {none}");
    }
    // The last run, by Yeo-Johnson.
    let shown = succeed(path, &["show", "run"]);
    assert!(
        shown.contains("price after yeo-johnson with power"),
        "{shown}"
    );
    assert!(shown.contains("area after quantile"), "{shown}");
    succeed(path, &["report", "run", "--out", "page.html"]);
    let drawn = [
        "sample",
        "--model-dir",
        "run",
        "--data",
        "prices.csv",
        "--count",
        "2",
        "--out",
        "draws.csv",
    ];
    succeed(path, &drawn);
    // Prices around e³, whose transformed values are a few.
    let draws = numbers(&path.join("draws.csv"), "draw 1");
    assert!((mean(&draws) - mean(&numbers(&path.join("prices.csv"), "price"))).abs() < 15.0);
    let conformal =
        "predict --model-dir run --data prices.csv --intervals conformal --level 0.9 --out new.csv";
    succeed(path, &conformal.split(' ').collect::<Vec<_>>());
    let new = |title| numbers(&path.join("new.csv"), title);
    let (targets, lower, upper) = (new("y"), new("lower"), new("upper"));
    let inside = (0..140).filter(|&row| lower[row] <= targets[row] && targets[row] <= upper[row]);
    assert!(inside.count() >= 120);
}

#[test]
fn values_that_a_transformation_does_not_take() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_prices(path);
    let train = "train --data prices.csv --out run --quiet --model exact --steps 2";
    let said = |options: &str| refused(path, &format!("{train} {options}"));
    assert_eq!(
        said("--transform b=log")
            .split_once(": ")
            .unwrap()
            .1
            .split_once(" is ")
            .unwrap()
            .1
            .split_once(", ")
            .unwrap()
            .1,
        "but log takes positive numbers; correct it, or use --transform b=yeo-johnson\n"
    );
    assert!(said("--transform ares=log").contains(
        "no number among the inputs, and no target, has this name (did you mean \"area\"?)"
    ));
    assert!(said("--transform price=quantile").contains("quantile is for inputs"));
    assert!(
        said("--transform price=log --transform price=box-cox")
            .contains("two transformations of \"price\"")
    );
    assert!(
        said("--transform price=root")
            .contains("choose log, box-cox, yeo-johnson, quantile or none")
    );
    let line = "train --data prices.csv --out run --model svgp --likelihood student-t --transform price=log";
    assert!(refused(path, line).contains("needs the likelihood gaussian, but it is student-t"));

    let negative = read(&path.join("prices.csv")).replacen("\n", "\n1,0,-3\n", 1);
    fs::write(path.join("negative.csv"), negative).unwrap();
    let line = "train --data negative.csv --out run --quiet --model exact --transform price=log";
    assert_eq!(
        refused(path, line),
        "error: negative.csv:2: \"price\" is -3, but log takes positive numbers; correct it, or use --transform price=yeo-johnson\n"
    );
    succeed(
        path,
        &format!("{train} --transform price=log --transform area=box-cox")
            .split(' ')
            .collect::<Vec<_>>(),
    );
    // A known target is not scored.
    let strict = "predict --model-dir run --data negative.csv --strict";
    assert!(refused(path, strict).contains("negative.csv:2"));
    let line = [
        "predict",
        "--model-dir",
        "run",
        "--data",
        "negative.csv",
        "--out",
        "p.csv",
    ];
    let said = String::from_utf8(run(path, &line).stderr).unwrap();
    assert!(
        said.contains("not scored; the first: negative.csv:2"),
        "{said}"
    );
    assert_eq!(columns(&path.join("p.csv"), &["y"])[0], [""]);
    // An input, and a row that can be predicted.
    fs::write(path.join("new.csv"), "area,b\n-2,0\n0,0\n3,0.5\n").unwrap();
    let output = run(
        path,
        &["predict", "--model-dir", "run", "--data", "new.csv"],
    );
    let table = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[1..3], ["0,,,,", "1,,,,"]);
    assert!(lines[3].starts_with("2,") && !lines[3].contains(",,"));
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("2 of 3 rows have no prediction; the first: new.csv:2: \"area\" is -2, but box-cox takes"), "{warning}");
    assert!(
        refused(path, "predict --model-dir run --data new.csv --strict").contains("\"area\" is -2")
    );
    assert!(refused(path, "sample --model-dir run --data new.csv").contains("\"area\" is -2"));
}

/// Without a word about it, `auto` models the logarithm of prices, which vary in proportion to their size; it says so, and
/// leaves them as they are if it is told to. Targets that are not skewed stay as they are.
#[test]
fn auto_transforms_a_skewed_target_that_is_predicted_better() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_prices(path);
    let train = |data: &str, more: &[&str]| {
        let text = succeed(
            path,
            &[
                &["train", "--data", data, "--out", "run", "--overwrite"],
                more,
            ]
            .concat(),
        );
        let metrics: Value = serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
        (text, metrics["nlpd"].as_f64().unwrap())
    };
    let (text, with) = train("prices.csv", &[]);
    assert!(text.contains("the logarithm of price is modeled"), "{text}");
    let config = read(&path.join("run/config.toml"));
    assert!(config.contains("price=log"), "{config}");
    // A price of zero in new rows is not scored.
    fs::write(path.join("new.csv"), "area,b,price\n3,0.1,0\n4,0.2,30\n").unwrap();
    succeed(
        path,
        &["predict", "--model-dir", "run", "--data", "new.csv"],
    );
    let (text, without) = train("prices.csv", &["--transform", "price=none"]);
    assert!(!text.contains("logarithm"), "{text}");
    assert!(with < without - 0.1, "{with} and {without}");
    let (text, _) = train("logarithms.csv", &[]);
    assert!(!text.contains("is modeled"), "{text}");
}
