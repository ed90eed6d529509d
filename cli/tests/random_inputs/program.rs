//! The program itself in a process per input, with damaged files and unusual options.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestCaseResult};
use temp_dir::TempDir;

use crate::mutations::{Bytes, corner, damaged};
use crate::search::search;
use crate::support::{program, seal, succeed, write_classes, write_regression};

/// The address space of the program, in KiB: libraries reserve much that they never use.
const MOST_MEMORY: usize = 8 << 20;

/// The program, with limited memory where the system can limit it.
fn limited_program() -> Command {
    let program = program();
    if cfg!(not(unix)) {
        return program;
    }
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("ulimit -v {MOST_MEMORY} && exec \"$0\" \"$@\""),
    ]);
    command
        .arg(program.get_program())
        .env_remove("BURN_GP_DATA");
    command
}

/// Runs the program, which must end with a documented exit code. A panic has another exit code.
fn run(folder: &Path, arguments: &[String]) -> TestCaseResult {
    // Command-line arguments cannot contain NUL.
    if arguments.iter().any(|word| word.contains('\0')) {
        return Ok(());
    }
    let mut command = limited_program();
    command
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0..=2) => Ok(()),
        _ => Err(TestCaseError::fail(format!(
            "{arguments:?}: {:?}: {errors}",
            output.status
        ))),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

const QUICK: &str = "--data a.csv --steps 2 --inducing 4 --out run --overwrite --quiet";

fn playground() -> TempDir {
    let folder = TempDir::new().unwrap();
    write_regression(&folder.path().join("a.csv"), 30);
    write_classes(&folder.path().join("c.csv"), 30);
    folder
}

/// Options of `train` with extreme values.
fn option() -> impl Strategy<Value = Vec<String>> {
    const NAMED: &[(&str, &[&str])] = &[
        (
            "--model",
            &[
                "exact",
                "sgpr",
                "cagp-opt",
                "cagp-cg",
                "itergp",
                "cggp",
                "svgp",
                "solve",
                "odvgp",
                "solve-collapsed",
                "l-svgp",
                "inverse-free",
                "deep-gp",
                "dbk",
                "svdbk",
                "bll",
                "dkl",
                "sdkl",
                "svdkl",
            ],
        ),
        (
            "--likelihood",
            &[
                "gaussian",
                "heteroskedastic",
                "fixed-noise",
                "student-t",
                "bernoulli",
                "bernoulli-logit",
                "softmax",
                "robust-max",
                "dirichlet",
                "ordinal",
                "poisson",
                "negative-binomial",
                "exponential",
                "gamma",
                "beta",
                "asymmetric-laplace",
                "zero-inflated-poisson",
                "weibull",
                "log-normal",
                "censored",
                "tweedie",
                "binomial",
                "beta-binomial",
                "hurdle-poisson",
                "interval-censored",
            ],
        ),
        (
            "--kernel",
            &[
                "rbf",
                "linear",
                "periodic(rbf)",
                "white",
                "gibbs(width=2)",
                "spectral-mixture",
            ],
        ),
        ("--data", &["a.csv", "c.csv"]),
        ("--target", &["a", "b", "y", "1", "-1"]),
        ("--noise-column", &["a", "b"]),
        ("--trials", &["a", "b"]),
        ("--upper-column", &["a", "b"]),
        ("--offset", &["a", "b"]),
        ("--exposure", &["a", "b"]),
        ("--initializer", &["k-means", "subset", "greedy-variance"]),
        ("--dtype", &["f32", "f64"]),
        ("--mean", &["zero", "constant", "linear"]),
        ("--schedule", &["constant", "cosine", "plateau", "stages"]),
    ];
    const NUMBERS: &[&str] = &[
        "--noise",
        "--inducing",
        "--orthogonal",
        "--columns",
        "--actions",
        "--jitter",
        "--split",
        "--test-fraction",
        "--validation-fraction",
        "--epochs",
        "--batch-size",
        "--learning-rate",
        "--plateau",
        "--stages",
        "--stage-factor",
        "--gradient-norm",
        "--natural-gradient",
        "--natural-gradient-warm-up",
        "--inducing-frozen",
        "--inducing-rate",
        "--patience",
        "--validation-epochs",
        "--checkpoint-every",
        "--seed",
    ];
    /// Counts of what takes memory, or a run each. Those of steps may be as large as anybody waits.
    const SIZES: &[&str] = &[
        "--threads",
        "--folds",
        "--inducing",
        "--orthogonal",
        "--columns",
        "--actions",
        "--batch-size",
        "--stages",
        "--layers",
        "--width",
        "--hidden-inducing",
        "--samples",
        "--prediction-samples",
        "--units",
        "--blocks",
        "--rank",
        "--features",
        "--pivots",
        "--iterations",
        "--trace-probes",
        "--cached-variances",
        "--probes",
        "--inversion-steps",
        "--split",
        "--patch",
        "--stride",
    ];
    const HUGE: &[&str] = &[
        "1000000",
        "1000000000",
        "4294967296",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
    ];
    const VALUES: &[&str] = &[
        "0", "1", "2", "3", "0.5", "0.1", "-1", "1e-9", "1e9", "1e300", "inf", "nan", "7",
    ];
    let named = proptest::sample::select(NAMED).prop_flat_map(|(name, values)| {
        let value = prop_oneof![8 => proptest::sample::select(values), 1 => corner()];
        value.prop_map(move |value| vec![name.to_owned(), value.to_owned()])
    });
    let number = (
        proptest::sample::select(NUMBERS),
        proptest::sample::select(VALUES),
    )
        .prop_map(|(name, value)| vec![name.to_owned(), value.to_owned()]);
    let size = (
        proptest::sample::select(SIZES),
        proptest::sample::select(HUGE),
    )
        .prop_map(|(name, value)| vec![name.to_owned(), value.to_owned()]);
    prop_oneof![named, number, size]
}

#[test]
fn training_with_unlikely_options() {
    let folder = playground();
    search(25, proptest::collection::vec(option(), 1..5), |options| {
        let mut arguments = words(&format!("train {QUICK}"));
        for option in options {
            // Replaces an option that occurs already.
            if let Some(at) = arguments.iter().position(|word| *word == option[0]) {
                arguments.drain(at..at + 2);
            }
            if option[0] == "--epochs"
                && let Some(at) = arguments.iter().position(|word| word == "--steps")
            {
                arguments.drain(at..at + 2);
            }
            arguments.extend(option);
        }
        run(folder.path(), &arguments)
    });
}

#[test]
fn training_on_damaged_tables() {
    let folder = playground();
    let originals = ["a.csv", "c.csv"].map(|name| fs::read(folder.path().join(name)).unwrap());
    const MODELS: &[&str] = &["svgp", "exact", "sgpr", "dbk"];
    let inputs = (
        damaged(originals.to_vec(), 3),
        proptest::sample::select(MODELS),
    );
    search(15, inputs, |(Bytes(bytes), model)| {
        fs::write(folder.path().join("d.csv"), bytes).unwrap();
        let options = QUICK.replace("a.csv", "d.csv");
        run(
            folder.path(),
            &words(&format!("train --model {model} {options}")),
        )
    });
}

/// Predicts with a saved model whose files are damaged.
#[test]
fn predictions_of_damaged_models() {
    let folder = playground();
    for (model, options) in [("svgp", "--inducing 4"), ("exact", ""), ("dbk", "")] {
        let line =
            format!("train --data a.csv --steps 2 {options} --quiet --model {model} --out {model}");
        let line = words(&line);
        succeed(
            folder.path(),
            &line.iter().map(String::as_str).collect::<Vec<_>>(),
        );
    }
    let part = (0usize..3, 0usize..2).prop_flat_map({
        let folder = folder.path().to_owned();
        move |(model, file)| {
            let path = folder
                .join(["svgp", "exact", "dbk"][model])
                .join(["model.json", "weights.bpk"][file]);
            let original = fs::read(path).unwrap();
            (Just(model), Just(file), damaged(vec![original], 2))
        }
    });
    search(60, part, |(model, file, Bytes(bytes))| {
        let good = folder.path().join(["svgp", "exact", "dbk"][model]);
        let bad = folder.path().join("bad");
        fs::create_dir_all(&bad).unwrap();
        for name in ["model.json", "weights.bpk"] {
            fs::copy(good.join(name), bad.join(name)).unwrap();
        }
        fs::write(bad.join(["model.json", "weights.bpk"][file]), bytes).unwrap();
        // Otherwise the checksums are all that is read.
        seal(&bad);
        run(
            folder.path(),
            &words("predict --model bad --data a.csv --out p.csv"),
        )
    });
}

/// Resumes an interrupted run whose checkpoint is damaged.
#[test]
fn resumption_of_damaged_runs() {
    let folder = playground();
    let unfinished = interrupted(folder.path());
    let files: Vec<_> = files_of(&unfinished);
    let inputs = (0..files.len()).prop_flat_map({
        let files = files.clone();
        move |file| {
            (
                Just(file),
                damaged(vec![fs::read(&files[file]).unwrap()], 2),
            )
        }
    });
    search(25, inputs, |(file, Bytes(bytes))| {
        let copy = folder.path().join("copy");
        let _ = fs::remove_dir_all(&copy);
        for path in &files {
            let target = copy.join(path.strip_prefix(&unfinished).unwrap());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::copy(path, target).unwrap();
        }
        let damaged = copy.join(files[file].strip_prefix(&unfinished).unwrap());
        fs::write(&damaged, bytes).unwrap();
        if !damaged.ends_with("checksums.sha256") {
            seal(damaged.parent().unwrap());
        }
        run(
            folder.path(),
            &words("train --resume copy --steps 6 --quiet"),
        )
    });
}

/// The folder of a run that was killed after its first checkpoint.
fn interrupted(folder: &Path) -> PathBuf {
    let mut command = program();
    let line =
        "train --data a.csv --steps 100000 --inducing 4 --checkpoint-every 2 --out killed --quiet";
    let mut child = command
        .current_dir(folder)
        .args(words(line))
        .spawn()
        .unwrap();
    let run = folder.join("killed");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_later(&run) {
        assert!(Instant::now() < deadline, "no checkpoint");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    run
}

/// Whether there is a checkpoint after the first step.
fn is_later(run: &Path) -> bool {
    let entries = fs::read_dir(run.join("checkpoint"))
        .into_iter()
        .flatten()
        .flatten();
    entries.map(|entry| entry.file_name()).any(|name| {
        name.to_str()
            .is_some_and(|name| name.starts_with("step-") && name != "step-0")
    })
}

/// All files in a folder and its subfolders.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_of(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}
