//! `update`: rows added to a trained model, and removed from it.

use std::fs;
use std::path::Path;

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{likelihoods::Gaussian, ops::numbers as values};
use burn_gp_models::SavedModel;
use burn_gp_runs::output::ModelContext;
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed, write_regression};

/// Lines of the regression data: a header, and some of the rows.
fn write_rows(path: &Path, from: &str, rows: std::ops::Range<usize>, to: &str) {
    let text = read(&path.join(from));
    let mut lines = text.lines();
    let header = lines.next().unwrap();
    let rows: Vec<&str> = lines.skip(rows.start).take(rows.len()).collect();
    fs::write(path.join(to), format!("{header}\n{}\n", rows.join("\n"))).unwrap();
}

/// 30 rows in old.csv, 12 in more.csv, and five points.
fn write(path: &Path) {
    write_regression(&path.join("all.csv"), 42);
    write_rows(path, "all.csv", 0..30, "old.csv");
    write_rows(path, "all.csv", 30..42, "more.csv");
    fs::write(
        path.join("points.csv"),
        "a,b\n0.1,0.2\n-1.4,1\n1.9,-1.9\n0.5,-0.7\n-0.3,1.6\n",
    )
    .unwrap();
}

fn train(path: &Path, model: &str, options: &[&str]) {
    let words = "train --data old.csv --test-fraction 0 --steps 5 --dtype f64 --mean zero --quiet --out run";
    let words: Vec<&str> = words.split(' ').chain(["--model", model]).collect();
    succeed(path, &[&words[..], options].concat());
}

fn update(path: &Path, options: &[&str]) -> String {
    succeed(path, &[&["update", "-m", "run"], options].concat())
}

/// The exit code and the message of an update that fails.
fn refused(path: &Path, options: &[&str]) -> (i32, String) {
    let output = run(path, &[&["update", "-m", "run"], options].concat());
    let message = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), message.trim_end().to_owned())
}

/// The means and standard deviations at the points.
fn predicted(path: &Path, folder: &str, points: &str) -> [Vec<f64>; 2] {
    let words = [
        "predict",
        "-m",
        folder,
        "-d",
        points,
        "--overwrite",
        "-o",
        "predicted.csv",
    ];
    succeed(path, &words);
    ["mean", "std"].map(|title| numbers(&path.join("predicted.csv"), title))
}

type Matrix = Vec<Vec<f64>>;

/// A model with the covariances of its prior, for dense algebra that shares no code with the library.
struct Dense {
    saved: SavedModel<ModelContext>,
}

impl Dense {
    fn of(run: &Path) -> Self {
        let saved = SavedModel::load(run, &Device::flex()).unwrap();
        Self { saved }
    }

    /// Standardized rows of a file, with their targets if it has any.
    fn rows(&self, file: &Path, inputs: &[&str]) -> (Matrix, Vec<f64>) {
        let scale = &self.saved.context.standardizer;
        let columns: Vec<Vec<f64>> = inputs.iter().map(|name| numbers(file, name)).collect();
        let row = |row: usize| {
            let input = |(column, values): (usize, &Vec<f64>)| {
                (values[row] - scale.input_mean[column]) / scale.input_scale[column]
            };
            columns.iter().enumerate().map(input).collect()
        };
        let targets = match read(file).lines().next().unwrap().ends_with(",y") {
            true => numbers(file, "y"),
            false => Vec::new(),
        };
        let targets = targets
            .iter()
            .map(|y| (y - scale.target_mean) / scale.target_scale);
        ((0..columns[0].len()).map(row).collect(), targets.collect())
    }

    /// The prior covariances of two sets of rows.
    fn covariance(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let device = Device::flex();
        let tensor = |rows: &Matrix| {
            let vector = Tensor::<1>::from_data(rows.concat().as_slice(), (&device, DType::F64));
            vector.reshape([rows.len(), rows[0].len()])
        };
        let covariance = self.saved.model.covariance(tensor(a), tensor(b)).unwrap();
        values(covariance)
            .chunks_exact(b.len())
            .map(<[f64]>::to_vec)
            .collect()
    }

    fn noise(&self) -> f64 {
        let likelihood = self.saved.model.likelihood();
        values(likelihood.downcast_ref::<Gaussian>().unwrap().noise())[0]
    }

    /// Means and standard deviations of targets in the units of the data, from those of standardized functions.
    fn in_units(&self, mean: Vec<f64>, variance: Vec<f64>) -> [Vec<f64>; 2] {
        let (scale, noise) = (&self.saved.context.standardizer, self.noise());
        let deviation = |v: &f64| (v + noise).sqrt() * scale.target_scale;
        [
            mean.iter()
                .map(|m| m * scale.target_scale + scale.target_mean)
                .collect(),
            variance.iter().map(deviation).collect(),
        ]
    }

    /// Exact regression on rows.
    fn exact(&self, (x, y): &(Matrix, Vec<f64>), points: &Matrix) -> [Vec<f64>; 2] {
        let mut noisy = self.covariance(x, x);
        (0..x.len()).for_each(|row| noisy[row][row] += self.noise());
        let cross = self.covariance(x, points);
        let weights = solve(noisy.clone(), y.iter().map(|y| vec![*y]).collect());
        let solved = solve(noisy, cross.clone());
        let prior = self.covariance(points, points);
        let sum = |at: usize, other: &Matrix, column: usize| -> f64 {
            (0..x.len())
                .map(|row| cross[row][at] * other[row][column])
                .sum()
        };
        let each = 0..points.len();
        let mean = each.clone().map(|at| sum(at, &weights, 0)).collect();
        let variance = each
            .map(|at| prior[at][at] - sum(at, &solved, at))
            .collect();
        self.in_units(mean, variance)
    }

    /// Sparse regression on rows (M. Titsias, 2009, eq. 6), with the inducing points of the model.
    fn sparse(&self, (x, y): &(Matrix, Vec<f64>), points: &Matrix) -> [Vec<f64>; 2] {
        let columns = x[0].len();
        let inducing = self.saved.model.inducing_points();
        let z: Matrix = inducing
            .chunks_exact(columns)
            .map(<[f64]>::to_vec)
            .collect();
        let (kuf, kus) = (self.covariance(&z, x), self.covariance(&z, points));
        let (mut kuu, noise) = (self.covariance(&z, &z), self.noise());
        let size = z.len();
        // The jitter of inducing points in double precision, relative to the variance.
        (0..size).for_each(|i| kuu[i][i] *= 1.0 + 1e-8);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / noise;
        // K_uu + σ⁻²K_uf·K_fu and σ⁻²K_uf·y
        let rows = kuu.iter().zip(&kuf);
        let sum: Matrix = rows
            .map(|(own, a)| own.iter().zip(&kuf).map(|(k, b)| k + dot(a, b)).collect())
            .collect();
        let right = kuf.iter().map(|a| vec![dot(a, y)]).collect();
        let weights = solve(sum.clone(), right);
        let (with, without) = (solve(sum, kus.clone()), solve(kuu, kus.clone()));
        let prior = self.covariance(points, points);
        let product = |at: usize, other: &Matrix, column: usize| -> f64 {
            (0..size).map(|i| kus[i][at] * other[i][column]).sum()
        };
        let each = 0..points.len();
        let mean = each.clone().map(|at| product(at, &weights, 0)).collect();
        let variance =
            each.map(|at| prior[at][at] - product(at, &without, at) + product(at, &with, at));
        self.in_units(mean, variance.collect())
    }
}

/// `A⁻¹B` by elimination with pivots.
fn solve(mut a: Matrix, mut b: Matrix) -> Matrix {
    let size = a.len();
    for step in 0..size {
        let pivot = (step..size).max_by(|&i, &j| a[i][step].abs().total_cmp(&a[j][step].abs()));
        let pivot = pivot.unwrap();
        a.swap(step, pivot);
        b.swap(step, pivot);
        let (own, right) = (a[step].clone(), b[step].clone());
        for row in (0..size).filter(|row| *row != step) {
            let factor = a[row][step] / own[step];
            let subtract = |values: &mut Vec<f64>, own: &[f64]| {
                let pairs = values.iter_mut().zip(own);
                pairs.for_each(|(value, own)| *value -= factor * own);
            };
            subtract(&mut a[row], &own);
            subtract(&mut b[row], &right);
        }
    }
    for (row, values) in b.iter_mut().enumerate() {
        values.iter_mut().for_each(|value| *value /= a[row][row]);
    }
    b
}

#[track_caller]
fn assert_close(found: &[Vec<f64>; 2], expected: &[Vec<f64>; 2], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() < tolerance,
                "{found}, not {expected}"
            );
        }
    }
}

/// Predictions are those of dense algebra on all rows. Those of nearest neighbors are exact here because each row has
/// all rows before it as neighbors. The tolerance is that of digits in CSV files.
#[test]
fn an_updated_model_is_conditioned_on_all_rows() {
    for (model, options) in [
        ("exact", &[][..]),
        (
            "vecchia",
            &["--neighbors", "60", "--prediction-neighbors", "200"],
        ),
        ("sgpr", &["--inducing", "15"]),
    ] {
        let folder = TempDir::new().unwrap();
        let path = folder.path();
        write(path);
        train(path, model, options);
        let dense = Dense::of(&path.join("run"));
        let points = dense.rows(&path.join("points.csv"), &["a", "b"]).0;
        let expected = |file: &str| {
            let rows = dense.rows(&path.join(file), &["a", "b"]);
            match model {
                "sgpr" => dense.sparse(&rows, &points),
                _ => dense.exact(&rows, &points),
            }
        };
        assert_close(
            &predicted(path, "run", "points.csv"),
            &expected("old.csv"),
            1e-6,
        );
        let text = update(path, &["-d", "more.csv", "--out", "new"]);
        let counts = format!(
            "{model}: 30 rows before, 12 added, 0 removed, 42 after; the hyperparameters and the standardization are \
             those of training"
        );
        assert!(text.contains(&counts), "{text}");
        assert!(text.contains("RMSE"), "{text}");
        assert_close(
            &predicted(path, "new", "points.csv"),
            &expected("all.csv"),
            1e-6,
        );
        // The old model stays, and the new one can be used like a trained one.
        assert_close(
            &predicted(path, "run", "points.csv"),
            &expected("old.csv"),
            1e-6,
        );
        let shown = succeed(path, &["show", "new"]);
        assert!(shown.contains("42"), "{shown}");
        succeed(
            path,
            &["sample", "-m", "new", "-d", "points.csv", "-o", "draws.csv"],
        );
        succeed(path, &["report", "new", "-o", "report.html"]);
        let again = succeed(
            path,
            &["update", "-m", "new", "-d", "more.csv", "--out", "newer"],
        );
        assert!(again.contains("42 rows before, 12 added"), "{again}");
    }
}

/// A window over time: rows leave as others come. With one input, the model over time is exact regression.
#[test]
fn rows_before_a_value_leave() {
    for model in ["exact", "markov"] {
        let folder = TempDir::new().unwrap();
        let path = folder.path();
        let row = |row: usize| format!("{},{}\n", row as f64 / 4.0, (0.7 * row as f64).sin());
        let lines = |rows: std::ops::Range<usize>| -> String {
            std::iter::once("t,y\n".to_owned())
                .chain(rows.map(row))
                .collect()
        };
        for (name, rows) in [
            ("old", 0..30),
            ("more", 30..40),
            ("kept", 12..40),
            ("late", 12..30),
        ] {
            fs::write(path.join(format!("{name}.csv")), lines(rows)).unwrap();
        }
        fs::write(path.join("points.csv"), "t\n0.5\n3.1\n7.4\n10.5\n").unwrap();
        train(path, model, &[]);
        let dense = Dense::of(&path.join("run"));
        let points = dense.rows(&path.join("points.csv"), &["t"]).0;
        let expected = |file: &str| {
            let rows = dense.rows(&path.join(file), &["t"]);
            dense.exact(&rows, &points)
        };
        // The row at 3 is not before 3.
        let text = update(
            path,
            &["-d", "more.csv", "--remove-before", "t=3", "--out", "new"],
        );
        assert!(
            text.contains("30 rows before, 10 added, 12 removed, 28 after"),
            "{text}"
        );
        assert_close(
            &predicted(path, "new", "points.csv"),
            &expected("kept.csv"),
            1e-6,
        );
        let text = update(path, &["--remove-before", "t=3", "--overwrite"]);
        assert!(
            text.contains("30 rows before, 0 added, 12 removed, 18 after"),
            "{text}"
        );
        assert_close(
            &predicted(path, "run", "points.csv"),
            &expected("late.csv"),
            1e-6,
        );
        let (code, message) = refused(path, &["--remove-before", "t=99", "--out", "none"]);
        assert_eq!(code, 2);
        assert_eq!(
            message,
            "error: --remove-before t=99 would remove all 18 rows; choose an earlier value"
        );
        for (option, part) in [
            ("t", "expected COLUMN=VALUE"),
            ("u=1", "no input column \"u\"; it has t"),
            ("t=soon", "\"soon\" is not a number"),
        ] {
            let (code, message) = refused(path, &["--remove-before", option, "--out", "none"]);
            assert!(code == 2 && message.contains(part), "{code} {message}");
        }
        assert!(!path.join("none").exists());
    }
}

#[test]
fn dates_have_an_order() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let row = |row: usize| {
        format!(
            "2024-{:02}-{:02},{}\n",
            1 + row / 28,
            1 + row % 28,
            (row as f64).sin()
        )
    };
    let rows: String = (0..56).map(row).collect();
    fs::write(path.join("old.csv"), format!("day,y\n{rows}")).unwrap();
    train(path, "exact", &[]);
    let text = update(path, &["--remove-before", "day=2024-02-01", "--out", "new"]);
    assert!(
        text.contains("56 rows before, 0 added, 28 removed, 28 after"),
        "{text}"
    );
}

/// One sentence for what cannot be added, with the file, the line and the column. The folder stays as it is.
#[test]
fn bad_rows_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let row = |row: usize| {
        let (color, size) = (["red", "blue", "green"][row % 3], row as f64 / 10.0);
        format!("{color},{size},{}\n", size.sin() + (row % 3) as f64)
    };
    let rows: String = (0..30).map(row).collect();
    fs::write(path.join("old.csv"), format!("color,size,y\n{rows}")).unwrap();
    train(path, "exact", &[]);
    let before = read(&path.join("run/model.json"));
    for (text, parts) in [
        (
            "color,size,y\nred,1,0.5\nblue,2,\n",
            &["more.csv:3", "\"y\""][..],
        ),
        ("color,size\nred,1\n", &["more.csv", "no column \"y\""]),
        (
            "color,size,y\nred,1,\nblue,2,\n",
            &["more.csv", "no column \"y\" with values"],
        ),
        (
            "color,size,y\nred,1,0.5\nblue,,0.2\n",
            &["more.csv:3", "size"],
        ),
        ("color,size,y\nred,big,0.5\n", &["more.csv:2", "size"]),
        ("color,weight,y\nred,1,0.5\n", &["more.csv", "size"]),
        ("color,size,y\n", &["more.csv", "no row"]),
        ("", &["more.csv", "empty"]),
        ("color,size,y\nred,1,many\n", &["more.csv:2", "y"]),
    ] {
        fs::write(path.join("more.csv"), text).unwrap();
        for target in [&["--out", "new"][..], &["--overwrite"]] {
            let (code, message) = refused(path, &[&["-d", "more.csv"], target].concat());
            let is_named = parts.iter().all(|part| message.contains(part));
            assert!(code == 2 && is_named, "{text:?}: {code} {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
    assert!(!path.join("new").exists());
    assert_eq!(read(&path.join("run/model.json")), before);
    // An unknown level is one that predictions have, too.
    fs::write(path.join("more.csv"), "color,size,y\npink,1,0.5\n").unwrap();
    let words = ["update", "-m", "run", "-d", "more.csv", "--out", "new"];
    let output = run(path, &words);
    assert!(output.status.success());
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("color"), "{warning}");
    // A folder is replaced only if that is said, and one that this program did not write never is.
    let (code, message) = refused(path, &["-d", "more.csv", "--out", "new"]);
    assert!(code == 2 && message.contains("--overwrite"), "{message}");
    let (code, _) = refused(path, &["-d", "more.csv"]);
    assert_eq!(code, 2);
    fs::write(path.join("new/notes.txt"), "mine").unwrap();
    let (code, message) = refused(path, &["-d", "more.csv", "--out", "new", "--overwrite"]);
    assert!(code == 2 && message.contains("notes.txt"), "{message}");
}

#[test]
fn models_without_rows_say_what_to_do() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path);
    let svgp = ["--likelihood", "student-t", "--inducing", "10"];
    train(path, "svgp", &svgp);
    let (code, message) = refused(path, &["-d", "more.csv", "--out", "new"]);
    assert_eq!(code, 2);
    assert_eq!(
        message,
        "error: model 'svgp' takes no new rows after training; train it again on all rows: burn-gp train --config \
         run/config.toml --data FILE"
    );
    let (code, message) = refused(path, &["--remove-before", "a=0", "--out", "new"]);
    assert!(code == 2 && message.contains("keeps its rows"), "{message}");
}

/// All rows are added, but a sample of them tells how well they were predicted.
#[test]
fn of_very_many_new_rows_some_are_predicted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path);
    write_regression(&path.join("many.csv"), 10_020);
    train(path, "vecchia", &["--neighbors", "3"]);
    let printed = update(path, &["--data", "many.csv", "--out", "many"]);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(
        lines[0].starts_with("10000 of the 10020 new rows, predicted before the update: RMSE "),
        "{printed}"
    );
    assert!(
        lines[1].starts_with("vecchia: 30 rows before, 10020 added, 0 removed, 10050 after;"),
        "{printed}"
    );
}
