//! `train --targets` and `--task-column`: several outputs, some of whose cells are empty.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{columns, numbers, program, read, run, succeed};

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
    let first = "air: 54 rows with 1 input, of which";
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
        text.contains("correlation") && text.contains("coverage %"),
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
        (
            "-d air.csv --targets temp,humidity --rank 3",
            "--rank 3 is more than the 2 outputs",
        ),
        ("-d air.csv --task-column rain", "rain"),
    ] {
        let arguments = ["train", "-o", "run"].into_iter().chain(line.split(' '));
        let output = run(path, &arguments.collect::<Vec<_>>());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{line}");
        assert!(errors.contains(expected), "{line}: {errors}");
    }
    // One value of an output is not the only row of the table.
    fs::write(path.join("one.csv"), "x,a,b\n1,2,\n2,3,1\n3,1,\n4,2,\n").unwrap();
    let single = "train -d one.csv --targets a,b -o run";
    let output = run(path, &single.split(' ').collect::<Vec<_>>());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.contains("target column 'b' has a single value"),
        "{errors}"
    );
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

/// Runs the program with these arguments, separated by spaces.
fn succeed_at(folder: &Path, line: &str) -> String {
    succeed(folder, &line.split(' ').collect::<Vec<_>>())
}

/// Asserts that the program ends with an error that contains this text.
fn assert_refused(folder: &Path, line: &str, expected: &str) {
    let output = run(folder, &line.split(' ').collect::<Vec<_>>());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{line}");
    assert!(errors.contains(expected), "{line}: {errors}");
}

/// Three functions of two inputs that are not there.
#[test]
fn outputs_of_noise_have_no_correlations() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut text = String::from("u,v,a,b,c\n");
    for _ in 0..30 {
        let mut draw = || random.random_range(-1.7..1.7_f64);
        writeln!(
            text,
            "{:.4},{:.4},{:.4},{:.4},{:.4}",
            draw(),
            draw(),
            draw(),
            draw(),
            draw()
        )
        .unwrap();
    }
    fs::write(path.join("noise.csv"), text).unwrap();
    let text = succeed_at(
        path,
        "train -d noise.csv --targets a,b,c --test-fraction 0 -o run",
    );
    assert!(text.contains("so the outputs are independent"), "{text}");
    assert!(text.contains("signal") && text.contains("noise"), "{text}");
    let found = metrics(&path.join("run"));
    for (first, second) in [(0, 1), (0, 2), (1, 2)] {
        let correlation = &found["correlations"][first][second];
        assert!(
            correlation.is_null() || correlation.as_f64() == Some(0.0),
            "{found}"
        );
    }
    // Test targets of noise are predicted no better than by their mean.
    succeed_at(
        path,
        "train -d noise.csv --targets a,b,c --test-fraction 0.3 -o tested",
    );
    let warnings = metrics(&path.join("tested"))["warnings"].to_string();
    assert!(
        warnings.contains("no better than the mean and variance"),
        "{warnings}"
    );
}

#[test]
fn folders_of_several_outputs_have_their_place_and_their_commands() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_wide(&path.join("air.csv"));
    let text = succeed_at(path, "train -d air.csv --targets temp,humidity --steps 2");
    let place = Path::new("out").join("air-exact");
    assert!(path.join(&place).join("outputs.json").is_file(), "{text}");
    let line = format!(
        "predict     burn-gp predict --model-dir {} --data FILE",
        place.display()
    );
    assert!(
        text.contains("folder      ") && text.contains(&line),
        "{text}"
    );
    for line in ["report out/air-exact", "sample -m out/air-exact -d air.csv"] {
        assert_refused(path, line, "does not apply to a model of several outputs");
    }
    // The table is read once for every output.
    let predict = ["predict", "-m", "out/air-exact", "-d"];
    let mut command = program();
    command.current_dir(path).args(predict).arg("-");
    command.stdin(fs::File::open(path.join("air.csv")).unwrap());
    let typed = command.output().unwrap();
    assert!(typed.status.success(), "{typed:?}");
    let of_file = succeed(path, &[&predict[..], &["air.csv"]].concat());
    assert_eq!(String::from_utf8_lossy(&typed.stdout), of_file);
}

#[test]
fn new_rows_may_name_their_output() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_long(&path.join("long.csv"));
    succeed_at(
        path,
        "train -d long.csv --target value --task-column sensor --test-fraction 0 --kernel rbf -o run",
    );
    fs::write(
        path.join("new.csv"),
        "x,sensor,value\n30,temp,0.9\n30,humidity,\n2,humidity,31.8\n2,temp,\n",
    )
    .unwrap();
    let output = run(
        path,
        &"predict -m run -d new.csv -o own.csv"
            .split(' ')
            .collect::<Vec<_>>(),
    );
    assert!(output.status.success(), "{output:?}");
    let scores = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        scores.contains("humidity: 1 known target, RMSE"),
        "{scores}"
    );
    let own = path.join("own.csv");
    let sensors = columns(&own, &["sensor"]).concat();
    assert_eq!(sensors, ["temp", "humidity", "humidity", "temp"]);
    let (values, mean) = (numbers(&own, "value"), numbers(&own, "mean"));
    assert!(values[0] == 0.9 && values[1].is_nan());
    assert!(
        (mean[2] - 31.8).abs() < 5.0 && (mean[3] - 0.91).abs() < 0.3,
        "{mean:?}"
    );
    // All outputs of rows that name none.
    fs::write(path.join("all.csv"), "x\n2\n").unwrap();
    succeed_at(path, "predict -m run -d all.csv -o all-predictions.csv");
    let all = path.join("all-predictions.csv");
    let pairs = [("humidity mean", mean[2]), ("temp mean", mean[3])];
    for (column, expected) in pairs {
        assert!((numbers(&all, column)[0] - expected).abs() < 1e-5 * expected.abs());
    }
    // Temperature tells of humidity in the same place.
    succeed_at(path, "predict -m run -d new.csv --given -o given.csv");
    let given = numbers(&path.join("given.csv"), "mean");
    assert!(given[1] < mean[1] - 5.0, "{mean:?} {given:?}");
    fs::write(path.join("other.csv"), "x,sensor\n2,rain\n").unwrap();
    for (line, expected) in [
        (
            "predict -m run -d other.csv",
            "\"rain\" in column \"sensor\" is no output of the model; it has humidity, temp",
        ),
        (
            "predict -m run -d all.csv --given",
            "--given needs the columns \"sensor\"",
        ),
    ] {
        assert_refused(path, line, expected);
    }
}
