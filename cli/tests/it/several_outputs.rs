//! `train --targets` and `--task-column`: several outputs, some of whose cells are empty.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed};

/// A wave and its opposite with another unit; the second is empty in most rows, and one row has neither.
fn rows() -> Vec<(f64, Option<f64>, Option<f64>)> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut row = |index: u32| {
        let x = f64::from(index) / 6.0;
        let mut noisy = |value: f64| value + random.random_range(-0.05..0.05);
        let (temp, humidity) = (noisy(x.sin()), 50.0 - 20.0 * noisy(x.sin()));
        let is_known = index.is_multiple_of(3);
        (
            x,
            (index % 7 != 6 && index != 40).then_some(temp),
            (is_known && index != 40).then_some(humidity),
        )
    };
    (0..60).map(&mut row).collect()
}

fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:.4}"))
}

fn write_wide(path: &Path) {
    let mut text = String::from("x,temp,humidity\n");
    for (x, temp, humidity) in rows() {
        writeln!(text, "{x:.4},{},{}", cell(temp), cell(humidity)).unwrap();
    }
    fs::write(path, text).unwrap();
}

fn write_long(path: &Path) {
    let mut text = String::from("x,sensor,value\n");
    for (x, temp, humidity) in rows() {
        for (sensor, value) in [("temp", temp), ("humidity", humidity)] {
            if value.is_some() {
                writeln!(text, "{x:.4},{sensor},{}", cell(value)).unwrap();
            }
        }
    }
    fs::write(path, text).unwrap();
}

fn metrics(folder: &Path) -> Value {
    serde_json::from_str(&read(&folder.join("metrics.json"))).unwrap()
}

#[test]
fn outputs_with_empty_cells_are_predicted_together() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_wide(&path.join("air.csv"));
    let line = "train -d air.csv --targets temp,humidity --kernel rbf -o run";
    let text = succeed(path, &line.split(' ').collect::<Vec<_>>());
    let lines: Vec<&str> = text.lines().collect();
    // Six rows have no target.
    let first = "air: 54 rows with 1 inputs, of which";
    assert!(lines[0].starts_with(first), "{text}");
    assert!(
        lines[0].ends_with("6 rows without a target or an input are left out"),
        "{text}"
    );
    assert!(
        lines[0].contains("known targets: temp 51, humidity 20"),
        "{text}"
    );
    assert!(
        text.contains("correlation") && text.contains("coverage"),
        "{text}"
    );

    let run_folder = path.join("run");
    let metrics = metrics(&run_folder);
    let score = |name: &str| {
        metrics[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {metrics}"))
    };
    // A hundredth of the range of the wave is noise; predictions that know nothing have an error of 0.7.
    assert!(score("rmse[temp]") < 0.2, "{metrics}");
    assert!(score("rmse[humidity]") < 4.0, "{metrics}");
    assert!(score("msll[pooled]") < -0.5, "{metrics}");
    assert!(score("rmse[macro]") < 0.4, "{metrics}");
    assert!(
        metrics["correlations"][0][1].as_f64().unwrap() < -0.8,
        "{metrics}"
    );
    // Uniform noise of width 0.1 has a standard deviation of 0.029, twenty times that in the other unit.
    assert!(
        score("noise[temp]") < 0.1 && score("noise[humidity]") < 2.0,
        "{metrics}"
    );

    // Every row has predictions of both outputs, and holes stay empty beside them.
    let table = run_folder.join("predictions.csv");
    let (known, mean) = (
        numbers(&table, "humidity"),
        numbers(&table, "humidity mean"),
    );
    assert_eq!(known.len(), 54);
    assert!(known.iter().any(|value| value.is_nan()) && mean.iter().all(|value| value.is_finite()));
    let (lower, upper) = (numbers(&table, "temp lower"), numbers(&table, "temp upper"));
    assert!(lower.iter().zip(upper).all(|(lower, upper)| *lower < upper));
}

#[test]
fn a_column_of_tasks_is_the_same_table() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_wide(&path.join("air.csv"));
    write_long(&path.join("long.csv"));
    let wide =
        "train -d air.csv --targets humidity,temp --test-fraction 0 --steps 5 -o wide --quiet";
    let long = "train -d long.csv --target value --task-column sensor --test-fraction 0 --steps 5 -o long --quiet";
    for line in [wide, long] {
        assert_eq!(succeed(path, &line.split(' ').collect::<Vec<_>>()), "");
    }
    let [wide, long] = ["wide", "long"].map(|run| path.join(run).join("predictions.csv"));
    for column in ["humidity mean", "temp std", "temp", "humidity"] {
        let pairs = numbers(&wide, column)
            .into_iter()
            .zip(numbers(&long, column));
        for (wide, long) in pairs {
            let close = (wide - long).abs() < 1e-9 * (1.0 + wide.abs());
            assert!(
                close || wide.is_nan() && long.is_nan(),
                "{column}: {wide}, {long}"
            );
        }
    }
}

#[test]
fn trained_outputs_are_shown_and_predict_new_rows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_wide(&path.join("air.csv"));
    let line = "train -d air.csv --targets temp,humidity --test-fraction 0 --kernel rbf -o run";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    let shown = succeed(path, &["show", "run"]);
    assert!(
        shown.contains("noise of humidity") && shown.contains("correlation"),
        "{shown}"
    );
    // A wave of period 2π, in the units of x.
    let lengthscale = shown
        .lines()
        .find_map(|line| line.strip_prefix("lengthscale of x: "));
    let lengthscale: f64 = lengthscale
        .and_then(|text| text.parse().ok())
        .unwrap_or(f64::NAN);
    assert!((1.0..4.0).contains(&lengthscale), "{shown}");
    let json: Value = serde_json::from_str(&succeed(path, &["show", "run", "--json"])).unwrap();
    assert_eq!(json["outputs"], serde_json::json!(["temp", "humidity"]));

    // Far from the data, humidity follows temperature if it is given.
    fs::write(path.join("new.csv"), "x,temp,humidity\n30,0.9,\n2.0,,\n").unwrap();
    let predict = |more: &[&str]| {
        let arguments = [
            "predict",
            "-m",
            "run",
            "-d",
            "new.csv",
            "-o",
            "new-predictions.csv",
        ];
        succeed(path, &[&arguments[..], more].concat());
        let table = path.join("new-predictions.csv");
        let found = ["humidity mean", "humidity std"].map(|column| numbers(&table, column));
        fs::remove_file(table).unwrap();
        found
    };
    let ([without, before], [given, after]) = (predict(&[]), predict(&["--given"]));
    assert!(given[0] < without[0] - 5.0, "{without:?} {given:?}");
    assert!(after[0] < before[0], "{before:?} {after:?}");
    assert!(
        (without[1] - (50.0 - 20.0 * 2.0_f64.sin())).abs() < 5.0,
        "{without:?}"
    );
}

#[test]
fn impossible_outputs_are_refused_with_advice() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_wide(&path.join("air.csv"));
    fs::write(path.join("none.csv"), "x,a,b\n1,2,\n2,3,\n3,1,\n4,2,\n").unwrap();
    for (line, expected) in [
        (
            "-d none.csv --targets a,b",
            "target column 'b' has no values",
        ),
        ("-d air.csv --targets temp", "use --target for one"),
        (
            "-d air.csv --targets temp,temp",
            "--targets names temp twice",
        ),
        ("-d air.csv --targets temp,rain", "rain"),
        (
            "-d air.csv --targets temp,humidity --model sgpr",
            "the model sgpr takes one target column",
        ),
        (
            "-d air.csv --targets temp,humidity --folds 3",
            "--folds does not apply with --targets",
        ),
        (
            "-d air.csv --targets temp,humidity --target x",
            "--target does not apply with --targets",
        ),
        (
            "-d air.csv --targets temp,humidity --kernel rbf(lengthscale=2)",
            "numbers in --kernel",
        ),
        ("-d air.csv --targets temp,humidity --rank 3", "rank 3"),
        ("-d air.csv --task-column rain", "rain"),
    ] {
        let arguments = ["train", "-o", "run"].into_iter().chain(line.split(' '));
        let output = run(path, &arguments.collect::<Vec<_>>());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{line}");
        assert!(errors.contains(expected), "{line}: {errors}");
    }
    // What is for several outputs only says so.
    succeed(
        path,
        &"train -d air.csv --target temp --inputs x --missing drop --model exact --steps 2 -o one"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    let output = run(path, &["predict", "-m", "one", "-d", "air.csv", "--given"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && errors.contains("--given is for models of several outputs"),
        "{errors}"
    );
}

/// Codes of levels reach the kernel as they are, in any model.
#[test]
fn an_index_kernel_reads_codes_of_the_table() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = String::from("x,level,y\n");
    for index in 0..90 {
        let (x, level) = (f64::from(index / 3) / 5.0, index % 3);
        let sign = [1.0, -1.0, 0.5][level as usize];
        writeln!(text, "{x},{level},{:.5}", sign * x.sin()).unwrap();
    }
    fs::write(path.join("levels.csv"), text).unwrap();
    let kernel = "index(input=2,levels=3,rank=1)*matern52[1]";
    for model in ["exact", "sgpr"] {
        let line = format!(
            "train -d levels.csv --kind level=number --kernel {kernel} --model {model} -o {model}"
        );
        succeed(path, &line.split(' ').collect::<Vec<_>>());
        let metrics = metrics(&path.join(model));
        let error = metrics["test"]["rmse"]
            .as_f64()
            .or(metrics["rmse"].as_f64());
        let error = error.unwrap_or_else(|| panic!("{metrics}"));
        assert!(error < 0.1, "{model}: {error}");
    }
    let categories = "train -d levels.csv --kind level=number --kernel exchangeable[2]*matern52[1] --model exact -o exchangeable";
    succeed(path, &categories.split(' ').collect::<Vec<_>>());
    let shown = succeed(path, &["show", "exchangeable"]);
    assert!(shown.contains("correlation"), "{shown}");
}
