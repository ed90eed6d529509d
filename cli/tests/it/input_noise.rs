//! `train --input-noise`: inputs that were measured with errors.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed};

/// The standard deviation of the errors of the input.
const INPUT: f64 = 0.1;
/// The standard deviation of the noise of the target.
const NOISE: f64 = 0.5;

/// Readings near a steep place, where the slope is 40, with two inputs of which one has errors, and a category.
fn write_readings(path: &Path, rows: usize, deviation: f64, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut text = "depth,b,wall,y\n".to_owned();
    for _ in 0..rows {
        let depth: f64 = random.random_range(-2.0..2.0);
        let b: f64 = random.random_range(-1.0..1.0);
        let wall = ["brick", "wood"][random.random_range(0..2)];
        let [off, noise]: [f64; 2] = [(); 2].map(|()| StandardNormal.sample(&mut random));
        let y = 20.0 / (1.0 + (-8.0 * depth).exp()) + 3.0 * b + NOISE * noise;
        text += &format!("{},{b},{wall},{}\n", depth + deviation * off, 100.0 + y);
    }
    fs::write(path, text).unwrap();
}

fn train(folder: &Path, options: &str) -> Value {
    let line =
        format!("train --data readings.csv --kernel rbf --quiet --overwrite --out run {options}");
    succeed(folder, &line.split_whitespace().collect::<Vec<_>>());
    serde_json::from_str(&read(&folder.join("run/metrics.json"))).unwrap()
}

fn refused(folder: &Path, options: &str) -> String {
    let output = run(folder, &options.split_whitespace().collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn noise(metrics: &Value, scale: f64) -> f64 {
    metrics["hyperparameters"]["likelihood.noise"][0]
        .as_f64()
        .unwrap()
        .sqrt()
        * scale
}

/// The noise of the target is 0.5. Two hundred rows tell it to 0.5/√400 = 0.025; the expansion to first order where the
/// function bends adds more. The test allows 0.25. Without `--input-noise`, all of the scatter is noise, of more than 1.
#[test]
fn noise_of_the_target_is_told_from_errors_of_an_input() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_readings(&path.join("readings.csv"), 250, INPUT, 21);
    write_readings(&path.join("exact.csv"), 300, 0.0, 22);
    let targets = numbers(&path.join("exact.csv"), "y");
    let mut plain_width = 0.0;
    for model in ["exact", "sgpr --inducing 80", "auto --minutes 0.2"] {
        let options = format!("--drop wall --test-fraction 0.2 --model {model}");
        let plain = train(path, &options);
        assert_eq!(plain["input_noise"], Value::Null);
        let found = train(
            path,
            &format!("{options} --input-noise depth=0.1 --input-noise b=0"),
        );
        let scale = found["rmse_original"].as_f64().unwrap() / found["rmse"].as_f64().unwrap();
        let (before, after) = (noise(&plain, scale), noise(&found, scale));
        assert!(before > 1.0, "{model}: {before}");
        assert!((after - NOISE).abs() < 0.25, "{model}: {after}");
        let own = &found["input_noise"];
        assert_eq!(own["columns"], serde_json::json!(["depth=0.1", "b=0"]));
        assert!(
            own["rounds"].as_u64().unwrap() >= 1
                && own["standard_deviation"].as_f64().unwrap() > 0.5
        );
        // The test rows have errors, too, and are scored with them.
        let covered = found["coverage95"].as_f64().unwrap();
        assert!(covered > 0.85, "{model}: {covered}");
        // New rows without errors are predicted with the noise of the target alone.
        succeed(
            path,
            &"predict --model-dir run --data exact.csv --out new.csv --overwrite"
                .split(' ')
                .collect::<Vec<_>>(),
        );
        let column = |title| numbers(&path.join("new.csv"), title);
        let (lower, upper) = (column("lower"), column("upper"));
        let inside = (0..targets.len())
            .filter(|&row| lower[row] <= targets[row] && targets[row] <= upper[row]);
        let share = inside.count() as f64 / targets.len() as f64;
        assert!(share > 0.85, "{model}: {share}");
        plain_width =
            upper.iter().zip(&lower).map(|(b, a)| b - a).sum::<f64>() / targets.len() as f64;
    }
    assert!(plain_width < 2.0 * 1.96 * 1.0, "{plain_width}");
}

/// The model, its configuration and its reports say what the errors were.
#[test]
fn the_results_of_a_run_name_the_errors() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_readings(&path.join("readings.csv"), 80, INPUT, 23);
    let first = train(path, "--model exact --drop wall --input-noise depth=0.1");
    assert!(read(&path.join("run/config.toml")).contains("depth=0.1"));
    let shown = succeed(path, &["show", "run"]);
    assert!(
        shown.contains("input noise") && shown.contains("depth=0.1"),
        "{shown}"
    );
    succeed(path, &["report", "run", "--out", "report.html"]);
    assert!(read(&path.join("report.html")).contains("input noise"));
    // The same again from the configuration.
    let line = "train --config run/config.toml --out again --quiet";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    let again: Value = serde_json::from_str(&read(&path.join("again/metrics.json"))).unwrap();
    for key in ["nlpd", "hyperparameters", "input_noise", "leave_one_out"] {
        assert_eq!(first[key], again[key], "{key}");
    }
    // The log goes on over all rounds.
    let steps = numbers(&path.join("run/training_log.csv"), "step");
    assert!(steps.windows(2).all(|pair| pair[1] == pair[0] + 1.0));
    assert_eq!(first["steps"].as_f64(), steps.last().copied());
    // New rows would count as exact.
    let error = refused(
        path,
        "update --model-dir run --data readings.csv --out updated",
    );
    assert!(error.contains("was trained with --input-noise"), "{error}");
    assert!(
        error.contains("--data FILE --input-noise depth=0.1"),
        "{error}"
    );
}

#[test]
fn errors_of_inputs_that_cannot_be() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_readings(&path.join("readings.csv"), 40, INPUT, 24);
    let refuse = |options: &str| {
        refused(
            path,
            &format!("train --data readings.csv --out run --overwrite --steps 2 {options}"),
        )
    };
    for (options, message) in [
        (
            "--model exact --input-noise depht=0.1",
            "--input-noise depht: no input has this name (did you mean \"depth\"?); correct it",
        ),
        (
            "--model exact --input-noise y=0.1",
            "--input-noise y: no input has this name; correct it",
        ),
        (
            "--model exact --input-noise wall=0.1",
            "--input-noise wall: only columns of plain numbers have errors, and this one is read as another kind; \
             remove it",
        ),
        (
            "--model exact --input-noise depth=-0.1",
            "\"-0.1\" is not a standard deviation; give zero or a positive number",
        ),
        (
            "--model exact --input-noise depth",
            "\"depth\" is not of the form COLUMN=SD, such as depth=0.5",
        ),
        (
            "--model exact --input-noise depth=0.1 --input-noise depth=0.2",
            "--input-noise gives two standard deviations of \"depth\"; keep one",
        ),
        (
            "--model exact --input-noise depth=0.1 --transform depth=quantile",
            "--input-noise depth and --transform depth cannot be used together, because the error of a transformed \
             value depends on the value; remove one of them",
        ),
        (
            "--model vecchia --input-noise depth=0.1",
            "--input-noise does not apply to model 'vecchia'; remove it",
        ),
        (
            "--model svgp --likelihood student-t --input-noise depth=0.1",
            "--input-noise does not apply to likelihood 'student-t', whose noise is not normal; remove it or use \
             --likelihood gaussian",
        ),
        (
            "--model svgp --validation-fraction 0.2 --input-noise depth=0.1",
            "--input-noise and --validation-fraction cannot be used together; give only one",
        ),
        (
            "--model exact --calibrate --input-noise depth=0.1",
            "--input-noise and --calibrate cannot be used together; give only one",
        ),
        (
            "--targets b,y --input-noise depth=0.1",
            "--input-noise does not apply with --targets; remove it",
        ),
    ] {
        let error = refuse(options);
        assert!(error.contains(message), "{options}: {error}");
    }
}
