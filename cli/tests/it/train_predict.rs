//! A saved and loaded model makes the same predictions.

use std::fs;
use std::path::Path;

use crate::support::{fields, read, run, succeed, write_classes, write_regression};

/// Writes the rows of `data` that `predictions.csv` contains, in its order.
fn write_test_rows(data: &Path, predictions: &Path, to: &Path) {
    let text = read(data);
    let lines: Vec<&str> = text.lines().collect();
    let mut chosen = vec![lines[0]];
    for row in &fields(&read(predictions))[1..] {
        let number: usize = row[0].parse().unwrap();
        chosen.push(lines[number + 1]);
    }
    fs::write(to, chosen.join("\n")).unwrap();
}

/// Trains, predicts the test rows from the saved model, and returns all columns except the first of
/// both prediction files.
fn both(data: &Path, folder: &Path, options: &[&str]) -> [Vec<Vec<String>>; 2] {
    let data_text = data.to_str().unwrap();
    let mut arguments = vec!["train", "--data", data_text, "--out", "run", "--quiet"];
    arguments.extend(options);
    succeed(folder, &arguments);
    let predictions = folder.join("run/predictions.csv");
    write_test_rows(data, &predictions, &folder.join("new.csv"));
    let printed = succeed(
        folder,
        &["predict", "--model-dir", "run", "--data", "new.csv"],
    );
    let columns = |text: &str| -> Vec<Vec<String>> {
        let rows = fields(text).into_iter().skip(1);
        rows.map(|row| row[1..].to_vec()).collect()
    };
    [columns(&read(&predictions)), columns(&printed)]
}

#[test]
fn every_regression_model_predicts_the_same_after_loading() {
    let cases: [&[&str]; 27] = [
        &["--model", "exact", "--steps", "20"],
        &["--model", "exact", "--steps", "20", "--optimizer", "adam"],
        &["--model", "cagp-opt", "--steps", "20", "--actions", "12"],
        &[
            "--model",
            "cagp-opt",
            "--optimizer",
            "adam",
            "--schedule",
            "linear",
            "--dtype",
            "f32",
            "--steps",
            "20",
        ],
        &["--model", "cggp", "--steps", "20"],
        &[
            "--model",
            "cggp",
            "--cached-variances",
            "20",
            "--steps",
            "20",
        ],
        &["--model", "cagp-cg", "--steps", "10", "--actions", "12"],
        &[
            "--model",
            "itergp",
            "--policy",
            "preconditioned-cg",
            "--pivots",
            "5",
            "--steps",
            "10",
            "--actions",
            "12",
        ],
        &["--model", "itergp", "--policy", "unit", "--steps", "10"],
        &[
            "--model",
            "sgpr",
            "--steps",
            "20",
            "--inducing",
            "20",
            "--mean",
            "linear",
        ],
        &["--model", "svgp", "--steps", "40", "--inducing", "20"],
        &[
            "--model",
            "svgp",
            "--steps",
            "40",
            "--inducing",
            "20",
            "--dtype",
            "f32",
        ],
        &[
            "--model",
            "svgp-unwhitened",
            "--steps",
            "40",
            "--inducing",
            "20",
            "--isotropic",
        ],
        &["--model", "solve", "--steps", "20", "--inducing", "12"],
        &[
            "--model",
            "solve-unwhitened",
            "--steps",
            "20",
            "--inducing",
            "12",
            "--orthogonal",
            "9",
        ],
        &[
            "--model",
            "odvgp",
            "--steps",
            "20",
            "--inducing",
            "12",
            "--orthogonal",
            "40",
            "--columns",
            "10",
        ],
        &[
            "--model",
            "solve-collapsed",
            "--steps",
            "20",
            "--inducing",
            "12",
            "--orthogonal",
            "9",
        ],
        &[
            "--model",
            "solve-collapsed",
            "--steps",
            "20",
            "--inducing",
            "12",
            "--fix",
            "orthogonal",
            "--mean",
            "constant",
        ],
        &[
            "--steps",
            "40",
            "--covariance",
            "diagonal",
            "--mean",
            "constant",
            "--kernel",
            "rbf",
        ],
        &[
            "--steps",
            "40",
            "--kernel",
            "periodic(rbf)*matern32[1] + deep(rbf, width=8, layers=1) + linear",
        ],
        &[
            "--model",
            "exact",
            "--steps",
            "20",
            "--kernel",
            "rational-quadratic+spectral-mixture(components=2)",
        ],
        &[
            "--model",
            "dbk",
            "--steps",
            "20",
            "--rank",
            "12",
            "--input-scale",
            "range",
        ],
        &[
            "--model",
            "svdbk",
            "--steps",
            "20",
            "--rank",
            "12",
            "--backbone",
            "perceptron",
            "--training-correction=false",
        ],
        &[
            "--model", "bll", "--steps", "20", "--units", "16", "--blocks", "3",
        ],
        &["--model", "dkl", "--steps", "20", "--features", "3"],
        &[
            "--model",
            "sdkl",
            "--steps",
            "20",
            "--inducing",
            "20",
            "--dtype",
            "f32",
        ],
        &["--model", "svdkl", "--steps", "20", "--inducing", "20"],
    ];
    for options in cases {
        let folder = temp_dir::TempDir::new().unwrap();
        let data = folder.path().join("data.csv");
        write_regression(&data, 150);
        let [written, predicted] = both(&data, folder.path(), options);
        assert_eq!(written.len(), 15, "{options:?}");
        for (written, predicted) in written.iter().zip(&predicted) {
            assert_eq!(written, predicted, "{options:?}");
        }
    }
}

#[test]
fn a_classifier_predicts_the_same_after_loading() {
    let folder = temp_dir::TempDir::new().unwrap();
    let data = folder.path().join("data.csv");
    write_classes(&data, 200);
    let options = [
        "--likelihood",
        "bernoulli",
        "--steps",
        "200",
        "--inducing",
        "20",
    ];
    let [written, predicted] = both(&data, folder.path(), &options);
    let mut right = 0;
    for (written, predicted) in written.iter().zip(&predicted) {
        assert_eq!(written, predicted, "target, label and probabilities");
        assert!(["1", "2"].contains(&predicted[1].as_str()));
        right += usize::from(predicted[0] == predicted[1]);
    }
    // Nine rows in ten are clearly on one side of the wave.
    assert!(right >= 16, "{right} of {} labels are right", written.len());
}

#[test]
fn columns_are_matched_by_name_and_the_target_is_optional() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 100);
    let train = [
        "train", "--data", "data.csv", "--out", "run", "--steps", "20", "--quiet",
    ];
    succeed(path, &train);
    fs::write(path.join("straight.csv"), "a,b\n0.5,-0.25\n1,1.5\n").unwrap();
    fs::write(path.join("turned.csv"), "b,extra,a\n-0.25,7,0.5\n1.5,8,1\n").unwrap();
    let predict = |data| run(path, &["predict", "--model-dir", "run", "--data", data]);
    let (straight, turned) = (predict("straight.csv"), predict("turned.csv"));
    assert!(straight.status.success() && turned.status.success());
    assert_eq!(straight.stdout, turned.stdout);
    assert!(straight.stderr.is_empty());
    let warning = String::from_utf8(turned.stderr).unwrap();
    assert_eq!(
        warning,
        "warning: these columns are not inputs of the model: extra\n"
    );
    let text = String::from_utf8(straight.stdout).unwrap();
    assert!(text.starts_with("row,mean,std,lower,upper\n"));

    let out = [
        "predict",
        "--model-dir",
        "run",
        "--data",
        "straight.csv",
        "--out",
        "new.csv",
    ];
    assert!(succeed(path, &out).is_empty());
    assert_eq!(read(&path.join("new.csv")), text);
}

#[test]
fn a_configuration_reproduces_its_run() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    let first = [
        "train",
        "--data",
        "data.csv",
        "--out",
        "first",
        "--steps",
        "30",
        "--seed",
        "5",
        "--inducing",
        "15",
        "--validation-fraction",
        "0.2",
        "--quiet",
    ];
    succeed(path, &first);
    let again = [
        "train",
        "--config",
        "first/config.toml",
        "--out",
        "second",
        "--quiet",
    ];
    succeed(path, &again);
    for file in [
        "config.toml",
        "predictions.csv",
        "weights.bpk",
        "model.json",
    ] {
        let bytes = |run: &str| fs::read(path.join(run).join(file)).unwrap();
        assert!(bytes("first") == bytes("second"), "{file} differs");
    }
    let other = [
        "train",
        "--config",
        "first/config.toml",
        "--out",
        "third",
        "--steps",
        "31",
        "--quiet",
    ];
    succeed(path, &other);
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&path.join("third/metrics.json"))).unwrap();
    assert_eq!(
        (metrics["steps"].as_u64(), metrics["seed"].as_u64()),
        (Some(31), Some(5))
    );
}

/// L-BFGS takes all rows in every iteration, so that a mini-batch has no meaning. Its loss never rises.
#[test]
fn l_bfgs_trains_a_variational_model_on_all_rows() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 60);
    let train = |model: &'static str| {
        let options = [
            "train",
            "--data",
            "data.csv",
            "--out",
            model,
            "--model",
            model,
            "--inducing",
            "8",
        ];
        let l_bfgs = ["--optimizer", "l-bfgs", "--steps", "8", "--quiet"];
        [&options[..], &l_bfgs[..]].concat()
    };
    succeed(path, &train("svgp"));
    let config = read(&path.join("svgp/config.toml"));
    assert!(config.contains("optimizer = \"l-bfgs\""), "{config}");
    assert!(!config.contains("batch_size"), "{config}");
    let losses = crate::support::numbers(&path.join("svgp/training_log.csv"), "loss");
    assert!(losses.len() > 1, "{losses:?}");
    assert!(
        losses.is_sorted_by(|before, after| before >= after),
        "{losses:?}"
    );

    for (model, option) in [("svgp", "--batch-size"), ("odvgp", "--optimizer")] {
        let output = run(
            path,
            &[&train(model)[..], &["--batch-size", "9", "--overwrite"]].concat(),
        );
        let errors = String::from_utf8_lossy(&output.stderr);
        let expected = format!("{option} does not apply to model '{model}'");
        assert!(errors.contains(&expected), "{errors}");
        assert_eq!(output.status.code(), Some(2));
    }
}
