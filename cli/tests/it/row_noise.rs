//! `--noise-column` besides trained noise.

use std::fs;
use std::path::Path;

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{read, run, succeed};

/// A line with wild targets in every fifth row, whose known noise is `wild`.
fn write(path: &Path, wild: &str) {
    let rows = (0..200).map(|row| {
        let x = (row as f64 * 0.618_034).fract();
        let small = 0.02 * (2.9 * row as f64).sin();
        let (y, noise) = match row % 5 {
            2 => (50.0, wild),
            _ => (2.0 * x + small, "0"),
        };
        format!("{x},{y},{noise}\n")
    });
    fs::write(path, format!("x,y,e\n{}", rows.collect::<String>())).unwrap();
}

/// Test rows on the line, without a column of noise.
fn write_test(path: &Path) {
    let test = (0..20).map(|row| format!("{0},{1}\n", row as f64 / 20.0, row as f64 / 10.0));
    let test: String = test.collect();
    fs::write(path, format!("x,y\n{test}")).unwrap();
}

const TRAIN: [&str; 11] = [
    "train",
    "--data",
    "rows.csv",
    "--target",
    "y",
    "--noise-column",
    "e",
    "--test",
    "test.csv",
    "--quiet",
    "--out",
];

fn metrics(path: &Path, run: &str) -> Value {
    serde_json::from_str(&read(&path.join(run).join("metrics.json"))).unwrap()
}

fn error(path: &Path, run: &str) -> f64 {
    metrics(path, run)["rmse_original"].as_f64().unwrap()
}

/// The wild targets are 50, with a known standard deviation of 100.
#[test]
fn noisy_rows_count_less() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_test(&path.join("test.csv"));
    let models: [(&str, &[&str]); 8] = [
        ("exact", &[]),
        ("sgpr", &["--inducing", "20"]),
        ("cggp", &[]),
        ("cagp-opt", &["--actions", "40"]),
        ("vecchia", &["--neighbors", "10"]),
        ("markov", &[]),
        (
            "svgp",
            &[
                "--likelihood",
                "gaussian",
                "--inducing",
                "20",
                "--steps",
                "400",
            ],
        ),
        ("dbk", &["--steps", "300", "--rank", "8"]),
    ];
    for (model, more) in models {
        for (noise, name) in [("0", "wild"), ("100", "tame")] {
            write(&path.join("rows.csv"), noise);
            let run = format!("{name}-{model}");
            let model = ["--model", model, "--dtype", "f64"];
            succeed(path, &[&TRAIN[..], &[&run], &model, more].concat());
        }
        let (tame, wild) = (
            error(path, &format!("tame-{model}")),
            error(path, &format!("wild-{model}")),
        );
        assert!(tame < 3.0 && wild > 5.0, "{model}: {tame}, {wild}");
    }
    // The noise is no input, and new rows need none.
    let text = succeed(path, &["show", "tame-exact"]);
    let inputs = &text[text.find("input ").unwrap()..];
    assert!(!inputs.contains("\ne "), "{text}");
    let metrics = metrics(path, "tame-exact");
    assert_eq!(metrics["likelihood"], "gaussian");
    let warnings = metrics["warnings"].to_string();
    assert!(
        warnings.contains("the test rows have no known noise"),
        "{warnings}"
    );
    fs::write(path.join("new.csv"), "x\n0.5\n0.25\n").unwrap();
    let predict = ["predict", "--model-dir", "tame-exact", "--data", "new.csv"];
    let output = run(path, &predict);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("the intervals have the trained noise alone"),
        "{text}"
    );
    // Further rows have the trained noise alone.
    fs::write(path.join("more.csv"), "x,y\n0.31,0.62\n0.62,1.24\n").unwrap();
    let update = [
        "update",
        "--model-dir",
        "tame-exact",
        "--data",
        "more.csv",
        "--out",
        "more",
    ];
    succeed(path, &update);
}

/// The rows of a CSV file by the names of its columns.
fn columns(text: &str, names: &[&str]) -> Vec<Vec<f64>> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let places: Vec<usize> = (names.iter())
        .map(|name| header.iter().position(|own| own == name).unwrap())
        .collect();
    lines
        .map(|line| {
            places
                .iter()
                .map(|&place| line[place].parse().unwrap())
                .collect()
        })
        .collect()
}

/// Rows that have the column are predicted, scored and added with their own known noise, `s²`, besides the trained one.
#[test]
fn new_rows_have_their_own_noise() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(&path.join("rows.csv"), "100");
    fs::write(path.join("test.csv"), "x,y,e\n0.5,1,0\n0.5,1,3\n0.25,5,4\n").unwrap();
    fs::write(path.join("plain.csv"), "x,y\n0.5,1\n0.5,1\n0.25,5\n").unwrap();
    for model in [
        &["--model", "exact"][..],
        &["--model", "sgpr", "--inducing", "20"],
        &[
            "--model",
            "svgp",
            "--likelihood",
            "gaussian",
            "--inducing",
            "20",
            "--steps",
            "200",
        ],
    ] {
        let out = format!("run-{}", model[1]);
        succeed(
            path,
            &[&TRAIN[..], &[&out, "--dtype", "f64", "--overwrite"], model].concat(),
        );
        let [noisy, trained] = ["test.csv", "plain.csv"].map(|data| {
            let found = format!("{out}.{data}");
            let predict = [
                "predict",
                "--model-dir",
                &out,
                "--data",
                data,
                "--overwrite",
                "--out",
                &found,
            ];
            succeed(path, &predict);
            columns(&read(&path.join(&found)), &["mean", "std"])
        });
        let mut nlpd = 0.0;
        for ((own, plain), (target, noise)) in
            noisy
                .iter()
                .zip(&trained)
                .zip([(1.0, 0.0), (1.0, 3.0), (5.0, 4f64)])
        {
            let variance = plain[1].powi(2) + noise.powi(2);
            assert!(
                (own[0] - plain[0]).abs() < 1e-9,
                "{model:?}: {own:?}, {plain:?}"
            );
            assert!(
                (own[1].powi(2) / variance - 1.0).abs() < 1e-6,
                "{model:?}: {own:?}, {plain:?}"
            );
            let density =
                (std::f64::consts::TAU * variance).ln() + (target - own[0]).powi(2) / variance;
            nlpd += density / 6.0;
        }
        let metrics = metrics(path, &out);
        assert!(
            !metrics["warnings"].to_string().contains("no known noise"),
            "{metrics}"
        );
        let scored = metrics["nlpd"].as_f64().unwrap()
            + (metrics["rmse_original"].as_f64().unwrap() / metrics["rmse"].as_f64().unwrap()).ln();
        assert!((scored - nlpd).abs() < 1e-4, "{model:?}: {scored}, {nlpd}");
        // A wild target that is known to be wild moves nothing, and another one does.
        let means = ["0", "1000"].map(|noise| {
            fs::write(path.join("more.csv"), format!("x,y,e\n0.5,30,{noise}\n")).unwrap();
            let more = format!("{out}-{noise}");
            let update = [
                "update",
                "--model-dir",
                &out,
                "--data",
                "more.csv",
                "--out",
                &more,
            ];
            succeed(path, &update);
            let found = format!("{more}.csv");
            succeed(
                path,
                &[
                    "predict",
                    "--model-dir",
                    &more,
                    "--data",
                    "plain.csv",
                    "--out",
                    &found,
                ],
            );
            columns(&read(&path.join(&found)), &["mean"])[0][0]
        });
        assert!(
            (means[1] - trained[0][0]).abs() < 1e-3,
            "{model:?}: {means:?}"
        );
        assert!(means[0] > trained[0][0] + 0.3, "{model:?}: {means:?}");
    }
}

/// Without a likelihood, models of any likelihood take it as all the noise, which is not trained.
#[test]
fn models_of_any_likelihood_take_it_as_all_noise() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("test.csv"), "x,y,e\n0.5,1,0.1\n0.2,0.4,0.1\n").unwrap();
    write(&path.join("rows.csv"), "100");
    let rows = read(&path.join("rows.csv")).replace(",0\n", ",0.1\n");
    fs::write(path.join("rows.csv"), rows).unwrap();
    let model = ["--model", "svgp", "--inducing", "10", "--steps", "20"];
    succeed(path, &[&TRAIN[..], &["run"], &model].concat());
    assert_eq!(metrics(path, "run")["likelihood"], "fixed-noise");
    // The model that is chosen for known noise besides the trained one.
    let chosen = ["--likelihood", "gaussian", "--minutes", "0.02"];
    succeed(path, &[&TRAIN[..], &["chosen"], &chosen].concat());
    assert_eq!(metrics(path, "chosen")["likelihood"], "gaussian");
    let text = succeed(path, &["show", "chosen"]);
    assert!(text.contains("svgp"), "{text}");
}

#[test]
fn noise_that_cannot_be_is_refused_in_a_sentence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_test(&path.join("test.csv"));
    let exact = ["--model", "exact"];
    for (wild, more, sentence) in [
        (
            "-1",
            &exact[..],
            "rows.csv:4: column 3 (\"e\") is -1, but known noise must be a nonnegative standard deviation",
        ),
        (
            "much",
            &exact,
            "rows.csv:4: column 3 (\"e\") holds \"much\", which is not a number",
        ),
        (
            "1",
            &["--model", "vif"],
            "--noise-column does not apply to model 'vif', which takes no known noise besides the trained one",
        ),
        (
            "1",
            &["--model", "vnngp", "--likelihood", "gaussian"],
            "--noise-column does not apply to model 'vnngp'",
        ),
        (
            "1",
            &["--model", "exact", "--transform", "y=yeo-johnson"],
            "--transform does not apply to a target with known noise (--noise-column)",
        ),
        (
            "1",
            &["--model", "exact", "--restarts", "2"],
            "--restarts does not work with --noise-column; remove one of them",
        ),
        (
            "1",
            &["--model", "svgp", "--likelihood", "student-t"],
            "--noise-column does not apply to likelihood 'student-t'; remove it or use --likelihood fixed-noise",
        ),
    ] {
        write(&path.join("rows.csv"), wild);
        let output = run(path, &[&TRAIN[..], &["run"], more].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{wild} {more:?}: {text}");
        assert!(text.contains(sentence), "{wild} {more:?}: {text}");
    }
}
