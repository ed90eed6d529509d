//! `train --score-every`: scores of the test rows in the course of training.

use std::path::Path;

use serde_json::Value;

use crate::support::{
    columns, fields, numbers, read, run, succeed, write_classes, write_regression,
};

/// Values that differ between runs.
const MEASURED: [&str; 3] = ["train_seconds", "seconds_per_step", "peak_memory"];

fn train(folder: &Path, out: &str, options: &str) {
    let line = format!("train --data data.csv --out {out} --quiet --dtype f64 {options}");
    succeed(folder, &line.split_whitespace().collect::<Vec<&str>>());
}

fn metrics(run: &Path) -> serde_json::Map<String, Value> {
    serde_json::from_str(&read(&run.join("metrics.json"))).unwrap()
}

/// The value of a hyperparameter, whose path has the number of the value if there are several.
fn value_at<'a>(hyperparameters: &'a Value, path: &str) -> &'a Value {
    match hyperparameters.get(path) {
        Some(values) => &values[0],
        None => {
            let (path, number) = path.rsplit_once('.').unwrap();
            &hyperparameters[path][number.parse::<usize>().unwrap() - 1]
        }
    }
}

/// Checks that the last line of a curve has the scores of the run.
fn assert_ends_with_the_metrics(run: &Path) {
    let metrics = metrics(run);
    let curve = run.join("learning_curve.csv");
    let names = fields(&read(&curve)).remove(0);
    for name in names.iter().filter(|&name| name != "loss") {
        let in_metrics = match name.as_str() {
            "step" => &metrics["steps"],
            "seconds" => &metrics["train_seconds"],
            path if path.contains('.') => value_at(&metrics["hyperparameters"], path),
            name => &metrics[name],
        };
        let last = numbers(&curve, name).pop();
        assert_eq!(last, in_metrics.as_f64(), "{name}");
    }
}

#[test]
fn looks_change_nothing_and_the_last_has_the_scores_of_the_run() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 90);
    for options in [
        "--model svgp --inducing 8 --batch-size 20",
        "--model inverse-free --inducing 8 --probes 3",
        "--model deep-gp --inducing 8 --batch-size 20",
        "--model sgpr --inducing 8",
        "--model cagp-opt --actions 8",
    ] {
        let [without, with] = ["without", "with"].map(|name| path.join(name));
        train(
            path,
            "without",
            &format!("--overwrite {options} --steps 16"),
        );
        train(
            path,
            "with",
            &format!("--overwrite {options} --steps 16 --score-every 7"),
        );
        let [mut expected, mut found] = [&without, &with].map(|run| metrics(run));
        for name in MEASURED {
            expected.remove(name);
            found.remove(name);
        }
        assert_eq!(expected, found, "{options}");
        for file in ["predictions.csv", "weights.bpk"] {
            let bytes = |run: &Path| std::fs::read(run.join(file)).unwrap();
            assert!(bytes(&without) == bytes(&with), "{options}: {file}");
        }
        assert!(!read(&without.join("config.toml")).contains("score_every"));
        assert!(!without.join("learning_curve.csv").exists());
        assert!(with.join("learning-curve.svg").exists());
        assert_ends_with_the_metrics(&with);
        let steps = numbers(&with.join("learning_curve.csv"), "step");
        assert_eq!(steps, [7.0, 14.0, 16.0], "{options}");
        let log = numbers(&with.join("training_log.csv"), "loss");
        let loss = numbers(&with.join("learning_curve.csv"), "loss");
        assert_eq!(loss[0], log[..7].iter().sum::<f64>() / 7.0, "{options}");
        assert_eq!(loss[2], 0.5 * (log[14] + log[15]), "{options}");
    }
}

#[test]
fn a_number_below_one_is_a_share_of_the_steps() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    let steps = |every: &str| {
        let options = format!(
            "--overwrite --inducing 5 --steps 20 --early-stopping 0.2 --score-every {every}"
        );
        train(path, "run", &options);
        // The steps that find the length have no scores of test rows.
        assert_ends_with_the_metrics(&path.join("run"));
        numbers(&path.join("run/learning_curve.csv"), "step")
    };
    let all = steps("0.001");
    let count = all.len();
    assert_eq!(all, (1..=count).map(|step| step as f64).collect::<Vec<_>>());
    assert_eq!(steps("0.9").last(), Some(&(count as f64)));
    let quarters = [0.25, 0.5, 0.75, 1.0].map(|share| (share * count as f64).ceil());
    assert_eq!(steps("0.25"), quarters);
    let words = "train --data data.csv --out other --score-every 0";
    let output = run(path, &words.split(' ').collect::<Vec<&str>>());
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("--score-every is 0 but"), "{message}");
}

#[test]
fn a_curve_of_labels_has_the_share_of_wrong_ones() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_classes(&path.join("data.csv"), 80);
    train(
        path,
        "run",
        "--likelihood bernoulli --inducing 6 --steps 9 --score-every 3",
    );
    let run = path.join("run");
    assert_ends_with_the_metrics(&run);
    let errors = columns(&run.join("learning_curve.csv"), &["step", "error", "ece"]);
    assert_eq!(errors.len(), 3);
    let plot = read(&run.join("learning-curve.svg"));
    assert!(plot.contains("wrong labels of the test rows"), "{plot}");
}
