//! `--field`: any field of the configurations.

use temp_dir::TempDir;

use crate::support::{read, run, succeed};

const TRAIN: [&str; 11] = [
    "train",
    "--data",
    "synthetic:sines?n=60&noise=0.1&seed=1",
    "--model",
    "svgp",
    "--steps",
    "5",
    "--batch-size",
    "16",
    "--quiet",
    "--out",
];

#[test]
fn a_field_without_an_option_is_set_and_kept() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let fields = [
        "--field",
        "model.inducing.count=7",
        "--field",
        "model.inducing.seed=5",
        "--field",
        "training.seed=9",
    ];
    succeed(path, &[&TRAIN[..], &["run"], &fields].concat());
    let model = read(&path.join("run/model.json"));
    assert!(model.contains("\"seed\": 5"), "{model}");
    assert!(model.contains("\"count\": 7"), "{model}");
    let config = read(&path.join("run/config.toml"));
    assert!(config.contains("\"training.seed=9\""), "{config}");
    // From its configuration file, the run is the same.
    succeed(
        path,
        &[
            "train",
            "--config",
            "run/config.toml",
            "--quiet",
            "--out",
            "again",
        ],
    );
    let predictions = |run: &str| read(&path.join(run).join("predictions.csv"));
    assert_eq!(predictions("run"), predictions("again"));
    // The seed of training matters.
    succeed(path, &[&TRAIN[..], &["other"], &fields[..4]].concat());
    assert_ne!(predictions("run"), predictions("other"));
}

#[test]
fn a_field_that_cannot_be_is_refused_in_a_sentence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (field, sentence) in [
        (
            "model.inducing.cout=7",
            "--field model.inducing.cout: unknown field `cout`",
        ),
        (
            "model.posterio.x=7",
            "model has no posterio; did you mean posterior?",
        ),
        (
            "inducing.count=7",
            "expected PATH=VALUE, such as model.inducing.seed=3",
        ),
        ("model.inducing.count=many", "expected usize"),
        (
            "model.inducing.count=0",
            "needs at least one inducing point, not 0",
        ),
        (
            "model.kernel.lengthscale=-1",
            "kernel.lengthscale is -1; it must be finite and above 0",
        ),
        (
            "model.likelihood.noise=-1",
            "likelihood.noise is -1; it must be finite and above 0",
        ),
        ("training.steps=-1", "expected usize"),
    ] {
        let output = run(path, &[&TRAIN[..], &["run", "--field", field]].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{field}: {text}");
        assert!(
            text.contains(sentence) && !text.contains("panicked"),
            "{field}: {text}"
        );
        assert!(!path.join("run").exists(), "{field}");
    }
    let output = run(
        path,
        &[
            "train",
            "--model",
            "auto",
            "--field",
            "model.x=1",
            "--out",
            "run",
        ],
    );
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--field needs --model"), "{text}");
}
