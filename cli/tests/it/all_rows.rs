//! `--test-fraction 0`: training on all rows, without scores.

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{read, run, succeed, write_classes, write_regression};

const ALL: [&str; 6] = [
    "train",
    "--data",
    "data.csv",
    "--test-fraction",
    "0",
    "--out",
];

#[test]
fn a_model_of_all_rows_has_no_scores() {
    for (write, likelihood) in [
        (write_regression as fn(&_, _), "gaussian"),
        (write_classes, "bernoulli"),
    ] {
        let folder = TempDir::new().unwrap();
        let path = folder.path();
        write(&path.join("data.csv"), 60);
        let text = succeed(path, &[&ALL[..], &["run", "--steps", "5"]].concat());
        assert!(
            text.contains("data: 60 rows to train on, ")
                || text.contains("data        data: 60 rows to train on, "),
            "{text}"
        );
        assert!(
            text.contains("none, because no rows were held out"),
            "{text}"
        );
        let metrics: Value = serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
        assert_eq!(metrics["likelihood"], likelihood);
        assert_eq!(
            (&metrics["n_train"], &metrics["n_test"]),
            (&60.into(), &0.into())
        );
        assert_eq!((metrics.get("rmse"), metrics.get("nlpd")), (None, None));
        assert!(!path.join("run/predictions.csv").exists());
        assert!(path.join("run/loss.svg").exists());
        let predict = ["predict", "--model-dir", "run", "--data", "data.csv"];
        assert_eq!(succeed(path, &predict).lines().count(), 61);
        assert!(succeed(path, &["show", "run"]).contains("60"));
    }
}

#[test]
fn scores_of_no_rows_are_refused() {
    let folder = TempDir::new().unwrap();
    write_regression(&folder.path().join("data.csv"), 40);
    let every = [&ALL[..], &["run", "--score-every", "2"]].concat();
    let compare = [
        "compare",
        "--data",
        "data.csv",
        "--models",
        "svgp,sgpr",
        "--test-fraction",
        "0",
    ];
    for (arguments, wish) in [(&every[..], "--score-every"), (&compare, "a comparison")] {
        let output = run(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        let expected = format!("error: {wish} needs test rows, but --test-fraction 0 leaves none");
        assert!(message.contains(&expected), "{message}");
        assert_eq!(output.status.code(), Some(2));
    }
}
