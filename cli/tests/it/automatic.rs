//! `--model auto`.

use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed, write_regression};

fn json_file(folder: &Path, path: &str) -> serde_json::Value {
    serde_json::from_str(&read(&folder.join(path))).unwrap()
}

/// A wave of which the default start of a sparse model sees only noise: 30 periods.
fn write_wave(folder: &Path) {
    let rows = (0..300).map(|row| {
        let t = row as f64 / 300.0;
        format!("{t},{}\n", (60.0 * std::f64::consts::PI * t).sin())
    });
    fs::write(
        folder.join("wave.csv"),
        format!("t,y\n{}", rows.collect::<String>()),
    )
    .unwrap();
}

#[test]
fn the_data_choose_the_model_and_its_start() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    let text = succeed(folder.path(), &["train", "--data", "wave.csv"]);
    assert!(
        text.contains("model auto chose exact: 270 rows are few enough\n"),
        "{text}"
    );
    let metrics = json_file(folder.path(), "out/wave-auto/metrics.json");
    assert_eq!(metrics["model"], "exact");
    assert!(metrics["rmse"].as_f64().unwrap() < 0.05, "{text}");
    // The file of the options has all that was chosen, and gives the same run.
    let again = [
        "train",
        "--config",
        "out/wave-auto/config.toml",
        "--out",
        "again",
    ];
    let text = succeed(folder.path(), &again);
    assert!(!text.contains("auto"), "{text}");
    let other = json_file(folder.path(), "again/metrics.json");
    assert_eq!(other["nlpd"], metrics["nlpd"]);
}

/// Two or three rows do not show that a function is linear: far from them, it may be where it was.
#[test]
fn very_few_rows_choose_no_kernel() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("far.csv"), "x\n50\n").unwrap();
    for targets in [
        &["10.5", "11.7"][..],
        &["10", "20"],
        &["1", "2", "3"],
        &["-4", "0", "5", "11"],
        &["0.1", "0.2", "0.3", "0.4", "0.5"],
    ] {
        let rows = targets.iter().enumerate();
        let rows: String =
            (rows.map(|(row, target)| format!("{},{target}\n", 0.3 * row as f64))).collect();
        fs::write(folder.path().join("few.csv"), format!("x,y\n{rows}")).unwrap();
        let train = "train --data few.csv --test-fraction 0 --out run --overwrite";
        succeed(folder.path(), &train.split(' ').collect::<Vec<_>>());
        let predict = "predict --model-dir run --data far.csv --out p.csv --overwrite";
        succeed(folder.path(), &predict.split(' ').collect::<Vec<_>>());
        let [lower, upper] =
            ["lower", "upper"].map(|name| numbers(&folder.path().join("p.csv"), name)[0]);
        let [first, last] = [0, targets.len() - 1].map(|row| targets[row].parse::<f64>().unwrap());
        assert!(
            lower < first && last < upper,
            "{targets:?}: {lower} to {upper}"
        );
    }
}

/// On smooth functions with little noise, the default model trains as long as `exact` does.
#[test]
fn training_does_not_stop_too_early() {
    let folder = TempDir::new().unwrap();
    let density = |model: &str| {
        let data = "synthetic:friedman?n=300&d=6&noise=1&seed=1";
        let train = ["train", "--data", data, "--model", model, "--out", model];
        succeed(folder.path(), &train);
        let metrics = json_file(folder.path(), &format!("{model}/metrics.json"));
        metrics["nlpd"].as_f64().unwrap()
    };
    let (automatic, exact) = (density("auto"), density("exact"));
    // A tenth of the standard error of the mean over the 30 test rows.
    assert!(automatic < exact + 0.01, "auto {automatic}, exact {exact}");
}

/// Options of a model or its training name the model that has always had them.
#[test]
fn options_of_training_are_for_the_named_default() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    let train = [
        "train",
        "--data",
        "wave.csv",
        "--steps",
        "3",
        "--inducing",
        "5",
    ];
    succeed(folder.path(), &train);
    let metrics = json_file(folder.path(), "out/wave-svgp/metrics.json");
    assert_eq!(metrics["model"], "svgp");
    let named = [&train[..], &["--model", "auto", "--minutes", "0.001"]].concat();
    succeed(folder.path(), &named);
    let metrics = json_file(folder.path(), "out/wave-auto/metrics.json");
    assert_eq!(
        (&metrics["model"], &metrics["steps"]),
        (&"svgp".into(), &3.into())
    );
}

#[test]
fn times_and_commands_that_make_no_sense() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    for (arguments, message) in [
        (
            "train --data wave.csv --minutes 0",
            "--minutes is 0 but must be a positive number",
        ),
        (
            "train --data wave.csv --model svgp --minutes 1",
            "--minutes only works with --model auto; remove it, or remove the options of a model",
        ),
        (
            "train --data wave.csv --model auto --inducing 9",
            "--inducing does not apply to model 'exact'; remove it",
        ),
        (
            "compare --data wave.csv --models auto,svgp",
            "--model auto only works with `train`; name a model",
        ),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = run(folder.path(), &arguments);
        let found = String::from_utf8_lossy(&output.stderr);
        assert!(found.contains(message), "{found}");
        assert_eq!(output.status.code(), Some(2));
    }
}

/// A kernel that the user chose has a start of its own, unless it has values.
#[test]
fn a_kernel_of_the_user_is_started_too() {
    let folder = TempDir::new().unwrap();
    write_wave(folder.path());
    let train = ["train", "--data", "wave.csv", "--out", "run", "--kernel"];
    succeed(folder.path(), &[&train[..], &["scaled(rbf)"]].concat());
    let metrics = json_file(folder.path(), "run/metrics.json");
    assert!(metrics["rmse"].as_f64().unwrap() < 0.05, "{metrics}");
    let valued = ["rbf(lengthscale=7)", "--overwrite"];
    succeed(folder.path(), &[&train[..], &valued].concat());
    assert!(!read(&folder.path().join("run/config.toml")).contains("set ="));
}

/// Rows `x ~ N(0, I)` with a target that is linear in the inputs, plus normal noise; `R²` is the share of its
/// variance that the inputs explain. Two tables with the same inputs and different noise.
fn write_noisy(folder: &Path, (rows, inputs, share): (usize, usize, f64), seed: u64) {
    use rand::{SeedableRng, rngs::ChaCha8Rng};
    use rand_distr::{Distribution, StandardNormal};
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let slope = (share / inputs as f64).sqrt();
    let names: String = (0..inputs).map(|input| format!("x{input},")).collect();
    let (mut first, mut second) = (format!("{names}y\n"), format!("{names}y\n"));
    for _ in 0..rows {
        let x: Vec<f64> = (0..inputs).map(|_| normal()).collect();
        let signal: f64 = x.iter().map(|x| slope * x).sum();
        let cells: String = x.iter().map(|x| format!("{x},")).collect();
        for table in [&mut first, &mut second] {
            let target = signal + (1.0 - share).sqrt() * normal();
            *table += &format!("{cells}{target}\n");
        }
    }
    fs::write(folder.join("train.csv"), first).unwrap();
    fs::write(folder.join("again.csv"), second).unwrap();
}

/// Intervals hold new targets at the training inputs as often as they say. A model that mistakes noise for signal
/// repeats the training targets there: with noise of the wrong optimum, 2 to 6 % lie inside.
#[test]
fn noise_is_not_taken_for_signal() {
    let folder = TempDir::new().unwrap();
    let cases = [
        (100, 2, 0.0),
        (100, 5, 0.3),
        (40, 20, 0.0),
        (20, 30, 0.5),
        (200, 5, 0.5),
    ];
    let mut covered = Vec::new();
    for (seed, case) in cases.into_iter().enumerate() {
        write_noisy(folder.path(), case, seed as u64);
        let out = format!("run-{seed}");
        let train = [
            "train",
            "--data",
            "train.csv",
            "--target",
            "y",
            "--test-fraction",
            "0",
            "--out",
            &out,
        ];
        succeed(folder.path(), &train);
        let predict = [
            "predict",
            "--model-dir",
            &out,
            "--data",
            "again.csv",
            "--out",
            "p.csv",
            "--overwrite",
        ];
        succeed(folder.path(), &predict);
        let levels = numbers(&folder.path().join("p.csv"), "level");
        let share =
            levels.iter().filter(|level| **level <= 0.95).count() as f64 / levels.len() as f64;
        covered.push((case, share));
    }
    // The standard error of a share of 20 rows is 0.05.
    assert!(covered.iter().all(|(_, share)| *share > 0.8), "{covered:?}");
    let mean = covered.iter().map(|(_, share)| share).sum::<f64>() / covered.len() as f64;
    assert!(mean > 0.9, "{covered:?}");
}

/// Runs of a sweep differ in what is swept alone, so that the data choose no model.
#[test]
fn sweeps_keep_the_named_default() {
    let folder = TempDir::new().unwrap();
    write_regression(&folder.path().join("data.csv"), 24);
    let sweep = [
        "sweep",
        "--data",
        "data.csv",
        "--grid",
        "mean=zero,constant",
        "--out",
        "sweep",
        "--quiet",
    ];
    succeed(folder.path(), &sweep);
    let mut found = 0;
    for entry in walk(&folder.path().join("sweep/runs")) {
        let metrics: serde_json::Value = serde_json::from_str(&read(&entry)).unwrap();
        assert_eq!(metrics["model"], "svgp");
        found += 1;
    }
    assert_eq!(found, 2);
}

/// Few labels are trained on all rows until the bound no longer improves, unless the user asks for batches.
#[test]
fn few_labels_are_trained_to_the_optimum() {
    let folder = TempDir::new().unwrap();
    let rows = (0..60).map(|row| format!("{},class {}\n", f64::from(row) / 60.0, row / 20));
    let rows = format!("x,label\n{}", rows.collect::<String>());
    fs::write(folder.path().join("labels.csv"), rows).unwrap();
    let train = |options: &str| {
        let line = "train --model auto --data labels.csv --target label --test-fraction 0 -o run";
        let line = format!("{line} --overwrite {options}");
        succeed(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        let metrics = json_file(folder.path(), "run/metrics.json");
        let loss = metrics["objective"].as_f64().unwrap();
        (loss, metrics["steps"].as_u64().unwrap())
    };
    let (loss, steps) = train("");
    assert!(steps < 300, "{steps}");
    for of_batches in ["--natural-gradient 0.1", "--batch-size 30"] {
        let (other, steps) = train(of_batches);
        assert_eq!(steps, 1000);
        assert!(loss < other, "{loss}, {other} {of_batches}");
    }
}

/// The files `metrics.json` in a folder and below.
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => walk(&path),
            false => vec![path],
        })
        .filter(|path| path.ends_with("metrics.json"))
        .collect()
}

/// One input, a rough function, and more rows than exact regression takes in the time: exact regression over time keeps
/// what inducing points smooth out.
#[test]
fn many_rows_of_one_input_are_a_series_over_time() {
    let folder = TempDir::new().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut level = 0.0;
    let rows = (0..2500).map(|row| {
        level += random.random_range(-1.0..1.0);
        let noise: f64 = random.random_range(-0.1..0.1);
        format!("{row},{:.4}\n", level + noise)
    });
    fs::write(
        folder.path().join("walk.csv"),
        format!("t,y\n{}", rows.collect::<String>()),
    )
    .unwrap();
    let line = "train --data walk.csv --minutes 0.06 -o run";
    let text = succeed(folder.path(), &line.split(' ').collect::<Vec<_>>());
    assert!(
        text.contains("model auto chose markov: it is better than "),
        "{text}"
    );
    let metrics = json_file(folder.path(), "run/metrics.json");
    assert_eq!(
        (&metrics["model"], &metrics["kernel"]),
        (&"markov".into(), &"matern12".into())
    );
}
