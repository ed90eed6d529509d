//! `predict --intervals conformal`, and the scores of leave-one-out predictions.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed, write_classes};

/// One input, and a target with noise.
fn write_rows(path: &Path, rows: usize, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut text = String::from("x,y\n");
    for _ in 0..rows {
        let x: f64 = random.random_range(-2.0..2.0);
        let noise: f64 = StandardNormal.sample(&mut random);
        text += &format!("{x},{}\n", 100.0 + 10.0 * (2.0 * x).sin() + 4.0 * noise);
    }
    fs::write(path, text).unwrap();
}

/// A folder with a trained model and a file of new rows.
fn trained(options: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    write_rows(&folder.path().join("train.csv"), 160, 5);
    write_rows(&folder.path().join("new.csv"), 800, 6);
    let line = format!("train --data train.csv --out run --quiet {options}");
    let arguments: Vec<&str> = line.split_whitespace().collect();
    succeed(folder.path(), &arguments);
    folder
}

const PREDICT: [&str; 9] = [
    "predict",
    "--model-dir",
    "run",
    "--data",
    "new.csv",
    "--out",
    "new-predictions.csv",
    "--intervals",
    "conformal",
];

/// What a failing command says, after its exit code 2 is checked.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Predicts the new rows, checks the coverage and that the level of each target fits its interval, and returns what
/// the program says.
fn check(folder: &Path, level: f64, at_least: f64) -> String {
    let shown = level.to_string();
    let arguments = [&PREDICT[..], &["--level", &shown, "--overwrite"]].concat();
    let output = run(folder, &arguments);
    assert!(output.status.success(), "{output:?}");
    let path = folder.join("new-predictions.csv");
    let column = |title| numbers(&path, title);
    let (targets, lower, upper, levels) = (
        column("y"),
        column("lower"),
        column("upper"),
        column("level"),
    );
    let inside: Vec<bool> = (0..targets.len())
        .map(|row| lower[row] <= targets[row] && targets[row] <= upper[row])
        .collect();
    for (row, &inside) in inside.iter().enumerate() {
        assert_eq!(
            inside,
            levels[row] < level,
            "{} at {}",
            targets[row],
            levels[row]
        );
    }
    let share = inside.iter().filter(|&&inside| inside).count() as f64 / inside.len() as f64;
    // The new rows, and the rows that intervals come from, are a draw each.
    assert!(share >= at_least, "{share} of the targets at level {level}");
    String::from_utf8(output.stderr).unwrap()
}

/// Noise that is sixteen times too small makes the model's own intervals a quarter as wide.
#[test]
fn intervals_keep_their_guarantee_if_the_noise_is_wrong() {
    let fixed = "--test-fraction 0.3 --set kernel.lengthscale=1 --set likelihood.noise=0.018 --fix kernel --fix \
                 likelihood.noise --steps 200";
    let folder = trained(&format!("--model exact {fixed}"));
    let own = [
        "predict",
        "--model-dir",
        "run",
        "--data",
        "new.csv",
        "--out",
        "own.csv",
    ];
    succeed(folder.path(), &own);
    let own = |title| numbers(&folder.path().join("own.csv"), title);
    let (targets, lower, upper) = (own("y"), own("lower"), own("upper"));
    let covered =
        (0..targets.len()).filter(|&row| lower[row] <= targets[row] && targets[row] <= upper[row]);
    assert!((covered.count() as f64) < 0.6 * targets.len() as f64);
    let said = check(folder.path(), 0.9, 0.85);
    let sentence = "intervals: 90 % jackknife+ from 112 training rows, each predicted from all others; guaranteed for \
                    80 % of new rows that are drawn like these, with the hyperparameters taken as given";
    assert!(said.contains(sentence), "{said}");
    let said = check(folder.path(), 0.95, 0.9);
    assert!(said.contains("guaranteed for 90 % of new rows"), "{said}");

    let folder = trained(&format!("--model svgp --inducing 12 {fixed}"));
    let said = check(folder.path(), 0.9, 0.8);
    let sentence = "intervals: 90 % split conformal from 48 test rows, which the model has not seen; guaranteed for \
                    90 % of new rows that are drawn like these";
    assert!(said.contains(sentence), "{said}");
}

#[test]
fn what_has_no_conformal_intervals_is_refused() {
    let folder = trained("--model svgp --inducing 8 --steps 5 --test-fraction 0.2");
    let (path, level) = (folder.path(), [&PREDICT[..], &["--level", "0.99"]].concat());
    assert_eq!(
        refused(path, &level),
        "error: 99 % conformal intervals need at least 99 test rows, but the model has 32; lower --level\n"
    );
    // A damaged file is found by its checksum.
    let predictions = path.join("run/predictions.csv");
    fs::write(&predictions, read(&predictions).replace("1", "2")).unwrap();
    let said = refused(path, &PREDICT);
    assert!(
        said.contains("predictions.csv") && said.contains("copy the folder again"),
        "{said}"
    );

    let all = "train --data train.csv --out run --overwrite --quiet --model svgp --steps 5 --test-fraction 0";
    succeed(path, &all.split(' ').collect::<Vec<_>>());
    let said = refused(path, &PREDICT);
    assert_eq!(
        said,
        "error: --intervals conformal needs test rows, which the model has not seen, but there are no predictions of \
         any in run; train again with --test-fraction or --test\n"
    );

    write_classes(&path.join("train.csv"), 60);
    let labels = "train --data train.csv --out run --overwrite --quiet --likelihood bernoulli --inducing 8 --steps 5";
    succeed(path, &labels.split(' ').collect::<Vec<_>>());
    fs::write(path.join("new.csv"), "a,b\n0,1\n").unwrap();
    assert_eq!(
        refused(path, &PREDICT),
        "error: --intervals conformal is for numbers, but the targets of this model are labels, which have \
         probabilities; remove the option\n"
    );
}

#[test]
fn scores_of_leave_one_out_predictions() {
    let folder = trained("--model exact --test-fraction 0.3 --steps 50 --dtype f64");
    let path = folder.path();
    let metrics: Value = serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    let own = &metrics["leave_one_out"];
    let number = |key: &str| own[key].as_f64().unwrap();
    assert_eq!(number("rows"), 112.0);
    // The same noise is in the test rows: 48 of them give the error within a fifth.
    let (ours, theirs) = (
        number("rmse_original"),
        metrics["rmse_original"].as_f64().unwrap(),
    );
    assert!(
        (ours / theirs - 1.0).abs() < 0.2,
        "{ours}, test rows {theirs}"
    );
    assert!((number("nlpd") - metrics["nlpd"].as_f64().unwrap()).abs() < 0.3);
    assert!(number("coverage95") > 0.88);
    let line = format!(
        "left out    RMSE {ours:.4} in the units of y, NLPD {:.4}",
        number("nlpd")
    );
    assert!(succeed(path, &["show", "run"]).contains(&line));
    succeed(path, &["report", "run", "--out", "page.html"]);
    assert!(
        read(&path.join("page.html"))
            .contains("of the 112 training rows, each predicted from all others")
    );

    let folder = trained("--model svgp --inducing 8 --steps 5");
    let metrics: Value =
        serde_json::from_str(&read(&folder.path().join("run/metrics.json"))).unwrap();
    assert!(metrics.get("leave_one_out").is_none());
}
