//! The tables of the experiments, each on a budget of seconds.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use temp_dir::TempDir;

use crate::numbers::{cell, check};
use crate::support::{
    succeed, write_cifar, write_collection, write_digits, write_gzipped, write_snelson,
};

/// The largest relative difference between runs in double precision.
const DOUBLE: f64 = 1e-9;

/// The same in single precision, where sums in another order change digits after a few steps.
const SINGLE: f64 = 2e-3;

/// An experiment on a small budget.
struct Case {
    name: &'static str,
    options: &'static str,
    tolerance: f64,
}

const fn case(name: &'static str, options: &'static str, tolerance: f64) -> Case {
    Case {
        name,
        options,
        tolerance,
    }
}

const CASES: [Case; 28] = [
    case("snelson", "--steps 3 --dtype f64", DOUBLE),
    case(
        "solve-regression",
        "--data-sets bike --columns svgp-1024,odvgp-1024,solve-1024 --splits 1 --epochs 1 --dtype f64",
        DOUBLE,
    ),
    case(
        "solve-ablation",
        "--data-set bike --inducing 8 --epochs 2 --dtype f64",
        DOUBLE,
    ),
    case("solve-cost", "--sizes 8,16 --steps 3", DOUBLE),
    case(
        "conv-cifar10",
        "--steps 3 --inducing 6 --batch-size 10",
        SINGLE,
    ),
    case(
        "deep-conv-cifar10",
        "--steps 3 --inducing 6 --hidden-inducing 6 --batch-size 10 --layers 3 --models svgp-m,solve-m-m",
        SINGLE,
    ),
    case(
        "inverse-free-toy",
        "--data-sets snelson --steps 6 --dtype f64",
        DOUBLE,
    ),
    case(
        "inverse-free-uci",
        "--protocol table-1 --data-sets kin40k --inducing 8 --steps 3 --dtype f64",
        DOUBLE,
    ),
    case(
        "inverse-free-hutchinson",
        "--data-sets elevators --steps 2 --inducing 256 --dtype f64",
        DOUBLE,
    ),
    case(
        "inverse-free-mnist",
        "--steps 3 --inducing 10 --dtype f64",
        DOUBLE,
    ),
    case(
        "deep-kin40k",
        "--steps 3 --inducing 8 --batch-size 40 --depths 2 --dtype f64",
        DOUBLE,
    ),
    case(
        "deep-uci",
        "--data-sets yacht --steps 3 --inducing 6 --depths 1,2 --posteriors whitened,solve --dtype f64",
        DOUBLE,
    ),
    case(
        "conv-mnist",
        "--steps 3 --inducing 8 --batch-size 20 --dtype f64",
        DOUBLE,
    ),
    case(
        "cagp-uci",
        "--seeds 1 --epochs 3 --actions 8 --inducing 8 --line-searches 3 --data-sets parkinsons",
        SINGLE,
    ),
    case("cagp-toy", "--steps 3", DOUBLE),
    case(
        "cagp-scale",
        "--epochs 2 --actions 8 --sizes 60,120",
        SINGLE,
    ),
    case(
        "cagp-actions",
        "--rows 60 --actions 6 --steps 3 --seeds 1",
        DOUBLE,
    ),
    case(
        "cagp-loss",
        "--rows 80 --actions 8 --steps 3 --seeds 1",
        DOUBLE,
    ),
    case(
        "cagp-coverage",
        "--data-sets parkinsons --seeds 1 --epochs 2 --actions 8 --inducing 8 --methods svgp,exact,cagp-cg --cells cells",
        SINGLE,
    ),
    case(
        "cagp-course",
        "--data-sets parkinsons --epochs 4 --actions 8 --inducing 8",
        SINGLE,
    ),
    case(
        "cagp-inducing",
        "--rows 80 --inducing 8 --epochs 3 --dimensions 1,2",
        DOUBLE,
    ),
    case(
        "dbk-uci",
        "--iterations 3 --epochs 1 --line-searches 2 --data-sets pol",
        SINGLE,
    ),
    case(
        "dbk-synthetic",
        "--sizes 60,200 --dense-limit 100 --steps 3",
        SINGLE,
    ),
    case(
        "dbk-rank",
        "--iterations 2 --epochs 1 --methods dbk,svdbk --ranks 1,8 --data-sets pol",
        SINGLE,
    ),
    case("dbk-theorem1", "--rows 20 --steps 4", DOUBLE),
    case("dbk-cox", "--steps 3 --intensities jump,plane", SINGLE),
    case(
        "map-competition",
        "--methods vecchia,vif,sgpr --neighbors 5 --inducing 8 --steps 2 --dtype f64",
        DOUBLE,
    ),
    case(
        "dbk-mobile",
        "--epochs 1 --data scores.csv --target score",
        SINGLE,
    ),
];

#[test]
fn every_experiment_has_a_case() {
    let folder = TempDir::new().unwrap();
    let list = succeed(folder.path(), &["experiment", "list"]);
    let listed: Vec<&str> = list
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let mut cases: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    cases.sort_unstable();
    assert_eq!(cases, listed);
}

#[test]
fn every_table() {
    let data = TempDir::new().unwrap();
    write_snelson(data.path());
    write_digits(data.path(), 120, 40);
    write_cifar(data.path(), 60, 20);
    write_map(data.path(), "simulated", 240, 40);
    for name in ["bike", "kin40k", "elevators", "yacht", "parkinsons", "pol"] {
        let rows = match name {
            "bike" => 600,
            "pol" => 250,
            "elevators" => 400,
            _ => 150,
        };
        write_collection(data.path(), name, rows);
    }
    for case in &CASES {
        let line = format!(
            "experiment {} {} --data-dir {} --out out --quiet",
            case.name,
            case.options,
            data.path().display()
        );
        let words: Vec<&str> = line.split_whitespace().collect();
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("scores.csv"), scores()).unwrap();
        let printed = succeed(folder.path(), &words);
        let found = table(&printed, &folder.path().join("out/results.csv"));
        check(&format!("table {}", case.name), found, case.tolerance);
    }
}

/// A map in two files, as the experiment about maps reads it.
fn write_map(folder: &Path, name: &str, train: usize, test: usize) {
    fs::create_dir_all(folder.join("spatial")).unwrap();
    for (part, rows) in [("train", 0..train), ("test", train..train + test)] {
        let mut text = String::from("lon,lat,temp\n");
        for row in rows {
            let [a, b] = [101, 103].map(|prime| ((37 * row) % prime) as f64 / prime as f64);
            let temp = 40.0 + (7.0 * a).sin() + (5.0 * b).cos();
            text += &format!("{},{},{temp}\n", a - 95.0, b + 35.0);
        }
        write_gzipped(&folder.join(format!("spatial/{name}.{part}.csv.gz")), &text);
    }
}

/// Scores at many locations.
fn scores() -> String {
    let row = |row: u32| {
        let [a, b] = [37, 53].map(|prime| f64::from(7 * row % prime) / f64::from(prime));
        let score = (3.0 * a).sin() + b + 2.0;
        format!("{},{score},{}\n", -85.5 + 4.5 * a, 30.5 + 4.5 * b)
    };
    format!(
        "longitude,score,latitude\n{}",
        (0..240).map(row).collect::<String>()
    )
}

/// Words in the titles of columns with measured values, which differ between runs.
const MEASURED: [&str; 5] = ["second", "millisecond", "mebibytes", "ms", "ratio"];

/// The rows of the file without measured columns, and the terminal output with all numbers hidden,
/// because the file has the same numbers.
fn table(printed: &str, file: &Path) -> Value {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).from_path(file);
    let rows: Vec<csv::StringRecord> = (reader.expect("a table").into_records())
        .map(|row| row.expect("a row"))
        .collect();
    let is_kept = |title: &str| {
        !MEASURED
            .iter()
            .any(|&word| title.split('_').any(|part| part.starts_with(word)))
    };
    let kept: Vec<bool> = rows[0].iter().map(is_kept).collect();
    let rows: Vec<Value> = (rows.iter())
        .map(|row| {
            let fields = row.iter().zip(&kept).filter(|(_, kept)| **kept);
            fields.map(|(field, _)| cell(field)).collect()
        })
        .collect();
    let lines: Vec<String> = printed.lines().map(shape).collect();
    json!({ "rows": rows, "printed": lines })
}

/// A line with single spaces and with `#` in place of each number.
fn shape(line: &str) -> String {
    let shape = |word: &str| {
        let number = word.trim_matches(|letter: char| "(),;:".contains(letter));
        match number.parse::<f64>() {
            Ok(_) => word.replace(number, "#"),
            Err(_) => word.to_owned(),
        }
    };
    line.split_whitespace()
        .map(shape)
        .collect::<Vec<String>>()
        .join(" ")
}
