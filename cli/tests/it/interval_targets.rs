//! Targets of which a lower and an upper limit are known, on the command line.

use std::fs;
use std::path::Path;

use crate::support::{fields, read, run, succeed};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;
use temp_dir::TempDir;

const ROWS: usize = 90;

/// How a row says its value.
#[derive(Clone, Copy)]
enum Row {
    Exact,
    Between,
    AtLeast,
    AtMost,
}

/// A table with the columns `x`, `start` and `end` of values around `100 + 30·sin x`, and the lines of the table.
fn write(path: &Path, kinds: &[Row]) -> Vec<String> {
    let mut random = ChaCha8Rng::seed_from_u64(41);
    let mut lines = vec!["x,start,end".to_owned()];
    for row in 0..ROWS {
        let x: f64 = random.random_range(0.0..6.0);
        let value = 100.0 + 30.0 * x.sin() + random.random_range(-4.0..4.0);
        lines.push(match kinds[row % kinds.len()] {
            Row::Exact => format!("{x},{value},{value}"),
            Row::Between => format!("{x},{},{}", value.floor() - 3.0, value.ceil() + 2.0),
            Row::AtLeast => format!("{x},{},", value - 5.0),
            Row::AtMost => format!("{x},,{}", value + 5.0),
        });
    }
    fs::write(path, lines.join("\n") + "\n").unwrap();
    lines
}

const TRAIN: &str = "train --data data.csv --target start --upper-column end --model svgp --steps 150 --inducing 15 \
                     --test-fraction 0.3 --out run --quiet --overwrite";

fn arguments(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn metrics(path: &Path) -> Value {
    serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// The option chooses the likelihood. Scores of values are those of the rows whose value is known; the log density is
/// that of all rows, and the program says so. The same rows in a new file have the same predictions and scores.
#[test]
fn scores_are_those_of_exact_rows_and_densities_those_of_all() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let kinds = [Row::Exact, Row::Between, Row::AtLeast, Row::AtMost];
    let lines = write(&path.join("data.csv"), &kinds);
    let loud = TRAIN.replace(" --quiet", "");
    let said = succeed(path, &arguments(&loud));
    let metrics = metrics(path);
    assert_eq!(metrics["likelihood"], "interval-censored");
    let (all, exact) = (metrics["n_test"].as_u64(), metrics["n_test_exact"].as_u64());
    let (all, exact) = (all.unwrap(), exact.unwrap());
    assert!(0 < exact && exact < all, "{exact} of {all}");
    let sentence = format!(
        "NLPD is that of {all} test rows, other scores those of the {exact} with an exact target"
    );
    assert!(said.contains(&sentence), "{said}");
    // The noise has a standard deviation of 2.3, and nothing else is unknown.
    let rmse = metrics["rmse_original"].as_f64().unwrap();
    assert!((1.0..6.0).contains(&rmse), "{rmse}");
    assert!(
        metrics["msll"].is_null() && metrics["baselines"].is_null(),
        "{metrics}"
    );
    let written = fields(&read(&path.join("run/predictions.csv")));
    let known: Vec<&Vec<String>> = written[1..]
        .iter()
        .filter(|row| !row[1].is_empty())
        .collect();
    assert_eq!((written.len() as u64 - 1, known.len() as u64), (all, exact));
    let errors = known
        .iter()
        .map(|row| (number(&row[1]) - number(&row[2])).powi(2));
    let expected = (errors.sum::<f64>() / exact as f64).sqrt();
    assert!(
        (rmse - expected).abs() < 1e-9 * expected,
        "{rmse}, {expected}"
    );
    let inside = known.iter().filter(|row| {
        let [y, lower, upper] = [1, 4, 5].map(|column: usize| number(&row[column]));
        (lower..=upper).contains(&y)
    });
    let share = inside.count() as f64 / exact as f64;
    assert!(
        (metrics["coverage95"].as_f64().unwrap() - share).abs() < 1e-12,
        "{metrics}"
    );
    // The same rows as a new file.
    let mut chosen = vec![lines[0].clone()];
    chosen.extend(
        written[1..]
            .iter()
            .map(|row| lines[row[0].parse::<usize>().unwrap() + 1].clone()),
    );
    fs::write(path.join("new.csv"), chosen.join("\n")).unwrap();
    let output = run(path, &arguments("predict --model-dir run --data new.csv"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let nlpd = format!("NLPD {:.4}", metrics["nlpd"].as_f64().unwrap());
    assert!(said.contains(&nlpd), "{said}, {nlpd}");
    let printed = fields(&String::from_utf8(output.stdout).unwrap());
    for (printed, written) in printed[1..].iter().zip(&written[1..]) {
        assert_eq!(printed[1..], written[1..]);
    }
    // A test file has the same scores, and draws are those of values.
    succeed(
        path,
        &arguments("train --config run/config.toml --out again --test-fraction 0.3 --quiet"),
    );
    let again: Value = serde_json::from_str(&read(&path.join("again/metrics.json"))).unwrap();
    assert_eq!(again["nlpd"], metrics["nlpd"]);
    let draws = succeed(
        path,
        &arguments("sample --model-dir run --data new.csv --count 3 --targets"),
    );
    let draws = fields(&draws);
    assert!(
        draws[1..]
            .iter()
            .flat_map(|row| &row[1..])
            .all(|own| (0.0..200.0).contains(&number(own)))
    );
}

/// Predictions of new values do not need limits; a table with one limit alone is not scored.
#[test]
fn new_rows_need_no_limits() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("data.csv"), &[Row::Exact, Row::AtLeast]);
    succeed(path, &arguments(TRAIN));
    let predict = |data: &str| {
        fs::write(path.join("new.csv"), data).unwrap();
        let output = run(path, &arguments("predict --model-dir run --data new.csv"));
        assert!(output.status.success());
        let printed = fields(&String::from_utf8(output.stdout).unwrap());
        (printed, String::from_utf8(output.stderr).unwrap())
    };
    let (alone, said) = predict("x\n1.5\n3\n");
    assert_eq!(said, "");
    let (mean, lower, upper) = (
        number(&alone[1][1]),
        number(&alone[1][3]),
        number(&alone[1][4]),
    );
    // The function there is 129.9.
    assert!(
        lower < mean && mean < upper && (mean - 129.9).abs() < 8.0,
        "{alone:?}"
    );
    let (same, said) = predict("x,start\n1.5,120\n3,100\n");
    assert!(
        said.contains("there is no column \"end\", so targets are not scored"),
        "{said}"
    );
    assert_eq!(same[1].last(), alone[1].last());
    let (_, said) = predict("x,end\n1.5,120\n3,100\n");
    assert!(!said.contains("NLPD"), "{said}");
    // The first row is scored; the second lacks both limits.
    let (_, said) = predict("x,start,end\n1.5,120,\n3,,\n");
    assert!(said.contains("NLPD") && !said.contains("RMSE"), "{said}");
    let (_, infinite) = predict("x,start,end\n1.5,120,inf\n3,-inf,Inf\n");
    assert_eq!(infinite, said);
    let refused = run(
        path,
        &arguments("predict --model-dir run --data new.csv --intervals conformal"),
    );
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("--intervals conformal needs targets that are known exactly"),
        "{said}"
    );
}

/// Where no value is known exactly, only the log density is scored.
#[test]
fn intervals_alone_have_no_errors() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(
        &path.join("data.csv"),
        &[Row::Between, Row::AtLeast, Row::AtMost],
    );
    let said = succeed(path, &arguments(&TRAIN.replace(" --quiet", "")));
    assert!(said.contains("no target is known exactly"), "{said}");
    let metrics = metrics(path);
    assert!(metrics["nlpd"].is_f64(), "{metrics}");
    for score in ["rmse", "mae", "crps", "coverage95", "interval_score95"] {
        assert!(metrics[score].is_null(), "{score}: {metrics}");
    }
    let shown = succeed(path, &arguments("show run"));
    assert!(
        shown.contains("interval-censored") && !shown.contains("NaN"),
        "{shown}"
    );
    succeed(path, &arguments("report run"));
    let page = read(&path.join("report.html"));
    assert!(!page.contains("NaN"), "a score without a value");
}

/// Rows without both limits are left out, and the model is chosen automatically.
#[test]
fn rows_without_limits_are_left_out() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let lines = write(
        &path.join("data.csv"),
        &[Row::Exact, Row::AtMost, Row::Between],
    );
    let mut text = lines.join("\n");
    text += "\n1.5,,\n2.5,,\n";
    fs::write(path.join("data.csv"), text).unwrap();
    let line = "train --data data.csv --target start --upper-column end --minutes 0.02 --out run";
    let output = run(path, &arguments(line));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("2 rows are left out because the target \"start\" is missing"),
        "{said}"
    );
    assert_eq!(metrics(path)["likelihood"], "interval-censored");
}

/// An upper limit below the lower one is named by its file, line and column, and transformations are refused.
#[test]
fn impossible_limits_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let train =
        "train --data data.csv --target start --upper-column end --test-fraction 0 --out run";
    let cases = [
        (
            "x,start,end\n1,5,7\n2,5,4.5\n3,4,\n",
            train.to_owned(),
            "data.csv:3: column 3 (\"end\") is 4.5, but the lower limit of the target is 5; correct it or remove the row",
        ),
        (
            "x,start,end\n1,5,7\n2,5,many\n3,4,\n",
            train.to_owned(),
            "\"many\"",
        ),
        (
            "x,start,end\n1,5,7\n2,5,7\n3,5,7\n",
            train.to_owned(),
            "so there is nothing to learn",
        ),
        (
            "x,start,end\n1,5,7\n2,6,7\n3,5,9\n",
            format!("{train} --transform start=log"),
            "interval-censored",
        ),
    ];
    for (data, line, expected) in cases {
        fs::write(path.join("data.csv"), data).unwrap();
        let refused = run(path, &arguments(&line));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}
