//! `train --calibrate`: predictions calibrated on training rows that the model has not seen.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{columns, numbers, read, run, succeed};

/// One input, and a target with noise.
fn write_numbers(path: &Path, rows: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut text = String::from("x,y\n");
    for _ in 0..rows {
        let x: f64 = random.random_range(-2.0..2.0);
        let noise: f64 = StandardNormal.sample(&mut random);
        text += &format!("{x},{}\n", 100.0 + 10.0 * (2.0 * x).sin() + 4.0 * noise);
    }
    fs::write(path, text).unwrap();
}

/// One input, and labels that are right three times in four.
fn write_labels(path: &Path, rows: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut text = String::from("x,class\n");
    for _ in 0..rows {
        let x: f64 = random.random_range(-2.0..2.0);
        let is_right = random.random_range(0..4) > 0;
        let label = if (x > 0.0) == is_right { "b" } else { "a" };
        text += &format!("{x},{label}\n");
    }
    fs::write(path, text).unwrap();
}

fn train(folder: &Path, options: &str) -> Value {
    let line = format!("train --data train.csv --quiet --overwrite {options}");
    succeed(folder, &line.split_whitespace().collect::<Vec<&str>>());
    let out = line
        .split("--out ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    serde_json::from_str(&read(&folder.join(out).join("metrics.json"))).unwrap()
}

/// Noise that is sixteen times too small.
const OVERCONFIDENT: &str = "--model exact --set kernel.lengthscale=1 --set likelihood.noise=0.018 --fix kernel --fix \
                             likelihood.noise --steps 200 --test-fraction 0.25";

#[test]
fn intervals_of_an_overconfident_model_get_their_coverage() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_numbers(&path.join("train.csv"), 400, 5);
    write_numbers(&path.join("new.csv"), 800, 6);
    let plain = train(path, &format!("--out plain {OVERCONFIDENT}"));
    let found = train(path, &format!("--out run {OVERCONFIDENT} --calibrate"));
    let again = train(
        path,
        &format!("--out again {OVERCONFIDENT} --calibrate=0.2"),
    );

    assert_eq!(
        (&plain["n_train"], &plain["n_test"]),
        (&300.into(), &100.into())
    );
    assert_eq!(
        (&found["n_train"], &found["n_test"]),
        (&240.into(), &100.into())
    );
    assert_eq!(plain["calibration"], Value::Null);
    let calibration = &found["calibration"];
    assert_eq!(calibration["rows"], 60);
    let without = &calibration["scores_without"];
    let number = |scores: &Value, name: &str| scores[name].as_f64().unwrap();
    // Errors that are four times too large cost about seven nats.
    assert!(
        number(&found, "nlpd") < number(without, "nlpd") - 4.0,
        "{found}"
    );
    assert!(
        number(without, "coverage95") < 0.6 && number(&found, "coverage95") > 0.85,
        "{found}"
    );
    assert!(number(&found, "crps") < number(without, "crps"), "{found}");
    for name in ["nlpd", "crps", "rmse", "coverage95"] {
        assert_eq!(found[name], again[name], "{name}");
    }
    // The test rows are the same, and none was used.
    let rows = |run: &str| columns(&path.join(run).join("predictions.csv"), &["row"]);
    assert_eq!(rows("plain"), rows("run"));

    let predict =
        "predict --model-dir run --data new.csv --out new-predictions.csv --quantiles 0.1,0.9";
    succeed(path, &predict.split(' ').collect::<Vec<&str>>());
    let column = |title| numbers(&path.join("new-predictions.csv"), title);
    let (targets, lower, upper) = (column("y"), column("lower"), column("upper"));
    let inside =
        (0..targets.len()).filter(|&row| lower[row] <= targets[row] && targets[row] <= upper[row]);
    let share = inside.count() as f64 / targets.len() as f64;
    assert!(share > 0.88, "{share} of new targets in 95 % intervals");
    let (low, high, means, deviations) = (
        column("quantile 0.1"),
        column("quantile 0.9"),
        column("mean"),
        column("std"),
    );
    for row in 0..targets.len() {
        assert!(lower[row] < low[row] && low[row] < high[row] && high[row] < upper[row]);
        assert!((means[row] - 0.5 * (low[row] + high[row])).abs() < deviations[row]);
        // The noise has a standard deviation of 4.
        assert!((2.5..6.5).contains(&deviations[row]), "{}", deviations[row]);
    }
}

#[test]
fn draws_of_targets_are_calibrated_and_pages_say_so() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_numbers(&path.join("train.csv"), 300, 7);
    fs::write(path.join("points.csv"), "x\n-1.5\n0.2\n1.1\n").unwrap();
    train(path, &format!("--out run {OVERCONFIDENT} --calibrate"));
    succeed(
        path,
        &[
            "predict",
            "-m",
            "run",
            "-d",
            "points.csv",
            "-o",
            "predicted.csv",
        ],
    );
    let sample = "sample -m run -d points.csv --targets --count 4000 -o draws.csv";
    succeed(path, &sample.split(' ').collect::<Vec<&str>>());
    let of = |title| numbers(&path.join("predicted.csv"), title);
    let (means, deviations) = (of("mean"), of("std"));
    let titles: Vec<String> = (1..=4000).map(|draw| format!("draw {draw}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    for (row, draws) in columns(&path.join("draws.csv"), &titles).iter().enumerate() {
        let draws: Vec<f64> = draws.iter().map(|text| text.parse().unwrap()).collect();
        let mean = draws.iter().sum::<f64>() / 4000.0;
        let squares = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>();
        let deviation = (squares / 4000.0).sqrt();
        // Five standard errors of a mean, and of a standard deviation with tails.
        assert!(
            (mean - means[row]).abs() < 0.08 * deviations[row],
            "{mean}, {}",
            means[row]
        );
        assert!(
            (deviation / deviations[row] - 1.0).abs() < 0.1,
            "{deviation}, {}",
            deviations[row]
        );
    }
    let sentence =
        "map of the predictive distribution, fitted on 45 held-out training rows; without it NLPD";
    let shown = succeed(path, &["show", "run"]);
    assert!(shown.contains(sentence), "{shown}");
    succeed(path, &["report", "run", "--out", "page.html"]);
    assert!(read(&path.join("page.html")).contains(sentence));
}

#[test]
fn probabilities_of_an_overconfident_classifier_get_a_temperature() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_labels(&path.join("train.csv"), 600, 8);
    // A function of large variance and short lengthscale follows single labels.
    let options = "--likelihood bernoulli --inducing 120 --set kernel.lengthscale=0.05 --set kernel.variance=100 --fix \
                   kernel --steps 600 --test-fraction 0.3";
    let found = train(path, &format!("--out run {options} --calibrate=0.3"));
    let calibration = &found["calibration"];
    assert_eq!(calibration["rows"], 126);
    assert!(
        calibration["temperature"].as_f64().unwrap() > 1.5,
        "{found}"
    );
    let without = &calibration["scores_without"];
    for name in ["nlpd", "ece"] {
        let (before, after) = (
            without[name].as_f64().unwrap(),
            found[name].as_f64().unwrap(),
        );
        assert!(
            after < 0.8 * before,
            "{name}: {before} before, {after} after"
        );
    }
    // A temperature does not change the likeliest label.
    assert_eq!(without["error"], found["error"]);
    let table = columns(
        &path.join("run/predictions.csv"),
        &["probability of a", "probability of b"],
    );
    for row in table {
        let sum: f64 = row.iter().map(|p| p.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}

#[test]
fn an_updated_model_keeps_and_shows_its_calibration() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_numbers(&path.join("train.csv"), 200, 13);
    write_numbers(&path.join("more.csv"), 30, 14);
    train(path, &format!("{OVERCONFIDENT} --calibrate --out run"));
    let run = |line: &str| succeed(path, &line.split(' ').collect::<Vec<&str>>());
    run("update --model-dir run --data more.csv --out updated");
    for folder in ["run", "updated"] {
        let shown = run(&format!("show {folder}"));
        let expected =
            "calibrated  map of the predictive distribution, fitted on 30 held-out training rows";
        assert!(shown.contains(expected), "{folder}: {shown}");
    }
}

#[test]
fn what_cannot_be_calibrated_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_numbers(&path.join("train.csv"), 60, 9);
    let refused = |options: &str| {
        let line = format!("train --data train.csv --out run --quiet {options}");
        let output = run(path, &line.split_whitespace().collect::<Vec<&str>>());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        refused("--model exact --calibrate"),
        "error: --calibrate holds out 11 rows, but needs at least 20; use more data or a larger share\n"
    );
    let said = refused("--model exact --calibrate=1.5");
    assert!(
        said.contains("--calibrate is 1.5 but must be at least 0 and below 1"),
        "{said}"
    );
    let said = refused("--model exact --calibrate=0.001");
    assert!(
        said.contains("a calibration fraction of 0.001 leaves no calibration rows"),
        "{said}"
    );
    for (options, other) in [
        ("--model svgp --noise-column x", "noise-column"),
        ("--model svgp --likelihood binomial --trials x", "trials"),
        ("--model svgp --upper-column x", "upper-column"),
    ] {
        let said = refused(&format!("{options} --calibrate --target y"));
        let sentence = format!("--calibrate and --{other} cannot be used together");
        assert!(said.contains(&sentence), "{said}");
    }
    let said = refused("--targets x,y --calibrate");
    assert!(
        said.contains("--calibrate does not apply with --targets"),
        "{said}"
    );
}

/// Held-out rows for the calibration are no training rows, but the test rows are the same.
#[test]
fn a_sweep_over_calibration_is_a_comparison() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_labels(&path.join("train.csv"), 160, 3);
    let line = "sweep --grid calibrate=0,0.25 --data train.csv --model svgp --inducing 8 --steps 5 --out sweep";
    let text = succeed(path, &line.split(' ').collect::<Vec<&str>>());
    assert!(!text.contains("not comparable"), "{text}");
    assert!(
        text.contains("the models were trained on different numbers of rows"),
        "{text}"
    );
    // Scores of labels have no unit.
    assert!(!text.contains("standardized"), "{text}");
}
