//! `sample`: joint draws from a trained model.

use std::fs;
use std::path::Path;

use temp_dir::TempDir;

use crate::support::{columns, fields, numbers, run, succeed, write_classes, write_regression};

fn points(path: &Path) {
    let rows = (0..12).map(|row| format!("{},{}\n", 0.1 * row as f64, 0.3));
    fs::write(path, format!("a,b\n{}", rows.collect::<String>())).unwrap();
}

/// The moments of many draws are those that `predict` gives. 4000 draws have means with a standard
/// error of 1/63 of the standard deviation, and standard deviations with one of 1/89.
#[test]
fn the_moments_of_draws_are_those_of_predictions() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    points(&path.join("points.csv"));
    let train = [
        "train", "--data", "data.csv", "--model", "exact", "--steps", "30",
    ];
    succeed(path, &[&train[..], &["--quiet", "--out", "run"]].concat());
    let predict = [
        "predict",
        "-m",
        "run",
        "-d",
        "points.csv",
        "-o",
        "predicted.csv",
    ];
    succeed(path, &predict);
    let sample = [
        "sample",
        "-m",
        "run",
        "-d",
        "points.csv",
        "--count",
        "4000",
        "-o",
        "draws.csv",
    ];
    succeed(path, &[&sample[..], &["--targets"]].concat());
    let (mean, deviation) = (
        numbers(&path.join("predicted.csv"), "mean"),
        numbers(&path.join("predicted.csv"), "std"),
    );
    let titles: Vec<String> = (1..=4000).map(|draw| format!("draw {draw}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let draws = columns(&path.join("draws.csv"), &titles);
    assert_eq!(draws.len(), 12);
    for (row, draws) in draws.iter().enumerate() {
        let draws: Vec<f64> = draws.iter().map(|text| text.parse().unwrap()).collect();
        let average = draws.iter().sum::<f64>() / 4000.0;
        let squares = draws.iter().map(|draw| (draw - average).powi(2));
        let spread = (squares.sum::<f64>() / 3999.0).sqrt();
        assert!(
            (average - mean[row]).abs() < 5.0 * deviation[row] / 63.0,
            "row {row}"
        );
        assert!(
            (spread / deviation[row] - 1.0).abs() < 5.0 / 89.0,
            "row {row}"
        );
    }
    // A function is smooth: neighbors differ by less than targets with noise do.
    let roughness = |file: &str, options: &[&str]| {
        let sample = [
            "sample",
            "-m",
            "run",
            "-d",
            "points.csv",
            "--count",
            "1",
            "-o",
            file,
        ];
        succeed(path, &[&sample[..], options].concat());
        let draw = numbers(&path.join(file), "draw 1");
        let steps = draw.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
        steps.sum::<f64>()
    };
    let smooth = roughness("function.csv", &[]);
    assert!(smooth < roughness("targets.csv", &["--targets"]));
    assert_eq!(smooth, roughness("again.csv", &["--seed", "0"]));
    assert_ne!(smooth, roughness("other.csv", &["--seed", "1"]));
}

#[test]
fn labels_are_drawn_by_name_and_their_functions_without_units() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_classes(&path.join("data.csv"), 90);
    let train = [
        "train",
        "--data",
        "data.csv",
        "--likelihood",
        "softmax",
        "--steps",
        "20",
    ];
    let more = ["--inducing", "8", "--quiet", "--out", "run"];
    succeed(path, &[&train[..], &more].concat());
    let sample = ["sample", "-m", "run", "-d", "data.csv", "--count", "2"];
    let labels = succeed(path, &[&sample[..], &["--targets"]].concat());
    assert!(labels.starts_with("row,draw 1,draw 2\n"), "{labels}");
    let is_label = |line: &str| {
        line.split(',')
            .skip(1)
            .all(|cell| ["1", "2"].contains(&cell))
    };
    assert!(labels.lines().skip(1).all(is_label), "{labels}");
    let functions = succeed(path, &sample);
    assert!(
        functions.starts_with("row,draw 1 function 1,draw 1 function 2"),
        "{functions}"
    );
    let json = succeed(path, &[&sample[..], &["--json"]].concat());
    assert!(json.starts_with("{\"row\": 0,"), "{json}");
}

#[test]
fn draws_that_cannot_be_made_are_refused_in_a_sentence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 40);
    let train = [
        "train", "--data", "data.csv", "--model", "exact", "--steps", "3",
    ];
    succeed(path, &[&train[..], &["--quiet", "--out", "run"]].concat());
    let many: String = (0..10_001).map(|row| format!("{row},1\n")).collect();
    fs::write(path.join("many.csv"), format!("a,b\n{many}")).unwrap();
    for (arguments, sentence) in [
        (&["-d", "many.csv"][..], "the number of points"),
        (
            &["-d", "data.csv", "--count", "0"],
            "--count is 0 but must be at least 1",
        ),
        (
            &["-d", "data.csv", "-o", "data.csv"],
            "data.csv is the input data",
        ),
    ] {
        let output = run(path, &[&["sample", "-m", "run"], arguments].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(sentence), "{arguments:?}: {text}");
    }
}

/// Where the trials are known, draws of targets count the successes among them; elsewhere they are shares.
#[test]
fn draws_count_successes_among_trials() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let row = |row: usize| {
        let x = row as f64 / 10.0;
        let (trials, share) = (5 + row % 20, 0.5 + 0.3 * x.sin());
        format!("{x},{trials},{}\n", (share * trials as f64).round())
    };
    let text: String = (0..80).map(row).collect();
    fs::write(path.join("data.csv"), format!("x,tries,y\n{text}")).unwrap();
    let train = "train --data data.csv --target y --trials tries --likelihood binomial --steps 60 --inducing 8 --quiet \
                 --test-fraction 0 --out run";
    succeed(path, &train.split_whitespace().collect::<Vec<_>>());
    let drawn = |text: &str, command: &str| -> (Vec<Vec<f64>>, String) {
        fs::write(path.join("new.csv"), text).unwrap();
        let line = format!("{command} --model-dir run --data new.csv");
        let output = run(path, &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success());
        let table = fields(&String::from_utf8(output.stdout).unwrap());
        let numbers = |row: &Vec<String>| row[1..].iter().map(|own| own.parse().unwrap()).collect();
        let said = String::from_utf8(output.stderr).unwrap();
        (table[1..].iter().map(numbers).collect(), said)
    };
    let rows = "x,tries\n1.5,10\n4.5,1000\n";
    let (draws, said) = drawn(rows, "sample --targets --count 400");
    assert_eq!(said, "");
    let (predicted, _) = drawn(rows, "predict");
    for ((own, expected), trials) in draws.iter().zip(&predicted).zip([10.0, 1000.0]) {
        let is_count = |own: &f64| own.fract() == 0.0 && (0.0..=trials).contains(own);
        assert!(own.len() == 400 && own.iter().all(is_count), "{own:?}");
        // The mean of 400 draws is within five of its standard errors, a quarter of a standard deviation.
        let mean = own.iter().sum::<f64>() / 400.0;
        assert!(
            (mean - expected[0]).abs() < 0.25 * expected[1],
            "{mean}, {expected:?}"
        );
    }
    let (shares, said) = drawn("x\n1.5\n4.5\n", "sample --targets --count 3");
    assert!(
        shares.iter().flatten().all(|own| (0.0..1.0).contains(own)),
        "{shares:?}"
    );
    assert!(
        said.contains("there is no column \"tries\", so draws are shares of successes"),
        "{said}"
    );
}
