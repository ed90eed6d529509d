//! The program warns about bad fits.

use std::fs;
use std::path::Path;

use crate::support::{read, run, succeed, write_classes, write_regression};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The warnings of a run on the terminal and in its metrics.
fn warnings(folder: &Path, options: &str) -> Vec<String> {
    let line = format!("train --data table.csv --out run --overwrite {options}");
    let said = succeed(folder, &line.split_whitespace().collect::<Vec<_>>());
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&folder.join("run/metrics.json"))).unwrap();
    let texts = metrics["warnings"].as_array().cloned().unwrap_or_default();
    let texts: Vec<String> = (texts.iter())
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said.matches("warning ").count(), texts.len(), "{said}");
    assert!(
        texts.iter().all(|text| said.contains(text.as_str())),
        "{said}"
    );
    texts
}

/// A target that does not depend on the inputs.
fn write_noise(path: &Path, rows: usize, target: impl Fn(f64) -> f64) {
    let mut random = ChaCha8Rng::seed_from_u64(21);
    let mut text = String::from("a,b,y\n");
    for _ in 0..rows {
        let [a, b, y]: [f64; 3] = std::array::from_fn(|_| random.random());
        text += &format!("{a},{b},{}\n", target(y));
    }
    fs::write(path, text).unwrap();
}

/// Without priors, twenty lengthscales of forty rows of noise find a function through all of them.
#[test]
fn a_model_that_takes_noise_for_signal_says_so() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let names: Vec<String> = (0..20).map(|column| format!("x{column}")).collect();
    let mut text = names.join(",") + ",y\n";
    for _ in 0..40 {
        let row = (0..21).map(|_| StandardNormal.sample(&mut random));
        let row: Vec<String> = row.map(|number: f64| number.to_string()).collect();
        text += &(row.join(",") + "\n");
    }
    fs::write(path.join("table.csv"), text).unwrap();
    let is_told = |options: &str| {
        let texts = warnings(path, options);
        texts
            .iter()
            .any(|text| text.contains("mistakes noise for signal"))
    };
    assert!(is_told(
        "--model exact --default-priors=false --test-fraction 0"
    ));
    assert!(!is_told("--model exact --test-fraction 0"));
    assert!(!is_told("--model auto --test-fraction 0"));
}

/// A few test rows say nothing about a model, whatever their targets.
#[test]
fn few_test_rows_are_not_judged() {
    let folder = temp_dir::TempDir::new().unwrap();
    let rows = (0..12).map(|row| format!("{row},{}\n", (7 * row) % 5));
    let text = format!("x,y\n{}", rows.collect::<String>());
    fs::write(folder.path().join("table.csv"), text).unwrap();
    for seed in 0..4 {
        let warnings = warnings(folder.path(), &format!("--seed {seed}"));
        let about_test_rows = warnings.iter().find(|text| text.contains("test rows"));
        assert_eq!(about_test_rows, None, "seed {seed}");
    }
}

/// Numbers of any size have digits.
#[test]
fn tiny_and_huge_targets_have_digits() {
    let folder = temp_dir::TempDir::new().unwrap();
    for (name, scale) in [("tiny", 1e-12), ("huge", 1e15)] {
        let rows = (0..40).map(|row| {
            let x = f64::from(row) / 8.0;
            format!("{x},{:e}\n", scale * (x.sin() + 0.1 * f64::from(row % 3)))
        });
        let text = format!("x,y\n{}", rows.collect::<String>());
        let file = format!("{name}.csv");
        fs::write(folder.path().join(&file), text).unwrap();
        let text = succeed(folder.path(), &["train", "-d", &file]);
        let scored = text.lines().find(|line| line.starts_with("RMSE")).unwrap();
        assert!(!scored.contains("0.0000"), "{scored}");
        assert!(scored.len() < 80, "{scored}");
    }
}

#[test]
fn a_model_that_is_no_better_than_a_constant_says_so() {
    let folder = temp_dir::TempDir::new().unwrap();
    let (path, table) = (folder.path(), folder.path().join("table.csv"));
    let constant = |options: &str| {
        let texts = warnings(path, options);
        texts
            .into_iter()
            .find(|text| text.contains("no better than"))
    };
    write_noise(&table, 200, |y| y);
    let text = constant("--model exact --test-fraction 0.5").expect("noise is noise");
    assert!(
        text.contains("100 test rows") && text.contains("mean and variance"),
        "{text}"
    );
    write_noise(&table, 200, |y| (3.0 * y).floor());
    let text =
        constant("--model svgp --inducing 8 --steps 50 --likelihood softmax --test-fraction 0.5");
    assert!(
        text.expect("and so are labels")
            .contains("class frequencies")
    );
    let text =
        constant("--model svgp --inducing 8 --steps 50 --likelihood poisson --test-fraction 0.5");
    assert!(text.expect("and counts").contains("RMSE"));

    write_regression(&table, 200);
    assert_eq!(constant("--model exact --test-fraction 0.5"), None);
    write_classes(&table, 200);
    assert_eq!(
        constant("--model svgp --inducing 20 --steps 300 --likelihood bernoulli"),
        None
    );
}

/// A network trained for long on few rows fits them exactly.
#[test]
fn a_model_that_is_too_sure_of_itself_says_so() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 120);
    let long = "--model dkl --units 32 --test-fraction 0.5";
    let texts = warnings(
        path,
        &format!("{long} --steps 1500 --learning-rate 0.01 --noise 0.001"),
    );
    assert!(
        texts.iter().any(|text| text.contains("over-confident")),
        "{texts:?}"
    );
    let texts = warnings(path, "--model exact --test-fraction 0.5");
    assert!(texts.is_empty(), "{texts:?}");
}

/// A table that has been appended to itself: the second half predicts the first without any noise.
#[test]
fn copies_of_rows_are_no_evidence_of_a_function() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let rows: Vec<String> = (0..40)
        .map(|row| {
            let noise: f64 = StandardNormal.sample(&mut random);
            let x = f64::from(row);
            format!("{x},{}\n", (x / 6.0).sin() + 0.5 * noise)
        })
        .collect();
    let noise = |copies: usize, options: &str| {
        let table = "x,y\n".to_owned() + &rows.concat().repeat(copies);
        fs::write(path.join("table.csv"), table).unwrap();
        let told = warnings(path, &format!("--test-fraction 0 {options}"));
        let metrics: serde_json::Value =
            serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
        let noise = &metrics["hyperparameters"]["likelihood.noise"][0];
        let is_told = |text: &String| text.contains("mistakes noise for signal");
        (noise.as_f64().unwrap(), told.iter().any(is_told))
    };
    let (once, is_told) = noise(1, "--model auto");
    assert!(once > 0.1 && !is_told, "{once}");
    for copies in [2, 3] {
        // Training goes on from the same hyperparameters where no row is a copy.
        let (found, is_told) = noise(copies, "--model auto");
        assert!((found / once - 1.0).abs() < 0.05, "{found} {once}");
        assert!(!is_told);
    }
}

/// Targets that differ at equal inputs show the noise: no model follows them, whatever its start.
#[test]
fn no_noise_is_less_than_that_of_repeats() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let mut table = "x,y\n".to_owned();
    for row in 0..60 {
        let noise: f64 = StandardNormal.sample(&mut random);
        let x = f64::from(row / 3);
        table += &format!("{x},{}\n", x.sin() + 0.5 * noise);
    }
    fs::write(path.join("table.csv"), &table).unwrap();
    let small = "--test-fraction 0 --noise 0.0001";
    for model in ["auto", "exact", "sgpr", "vecchia"] {
        let start = if model == "auto" {
            "--test-fraction 0"
        } else {
            small
        };
        let told = warnings(path, &format!("--model {model} {start}"));
        let metrics: serde_json::Value =
            serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
        let noise = metrics["hyperparameters"]["likelihood.noise"][0].as_f64();
        // The noise has a quarter of the variance of the targets, which is about 0.75.
        let noise = noise.unwrap();
        assert!((0.15..0.6).contains(&noise), "{model}: {noise}");
        assert!(
            told.iter().all(|text| !text.contains("too small")),
            "{told:?}"
        );
    }
    // Too little of it is said.
    let told = warnings(
        path,
        "--model svgp --steps 1 --test-fraction 0 --noise 0.08",
    );
    assert!(
        told.iter()
            .any(|text| text.contains("is too small: the targets of 40 rows")),
        "{told:?}"
    );
    // A model that follows the noise is not saved, and the earlier run stays. Training goes on from its checkpoint.
    let before = read(&path.join("run/metrics.json"));
    for model in ["svgp --steps 1", "l-svgp --epochs 1", "exact --steps 1"] {
        let line = format!("train --data table.csv --out run --overwrite --model {model} {small}");
        let output = run(path, &words(&line));
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{model}: {text}");
        assert!(
            text.contains("error: the model is not saved, because it follows noise: the noise standard deviation")
                && text.contains("the targets of 40 rows that repeat the inputs of others differ by"),
            "{model}: {text}"
        );
    }
    assert_eq!(read(&path.join("run/metrics.json")), before);
    succeed(path, &words("train --resume run --steps 60 --quiet"));
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    let noise = metrics["hyperparameters"]["likelihood.noise"][0].as_f64();
    assert!(noise.unwrap() > 0.15, "{noise:?}");
    // Noise that is fixed at less is refused before training.
    let train = "train --data table.csv --out refused --model exact --fix likelihood.noise";
    let output = run(path, &words(&format!("{train} {small}")));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("the targets of 40 rows that repeat the inputs of others differ by"),
        "{text}"
    );
    // Repeats without noise say nothing.
    let exact: String = (0..60).map(|row| format!("{0},{0}\n", row / 3)).collect();
    fs::write(path.join("table.csv"), "x,y\n".to_owned() + &exact).unwrap();
    for model in [
        "auto",
        "exact",
        "exact --fix likelihood.noise --noise 0.0001",
    ] {
        let told = warnings(path, &format!("--model {model} --test-fraction 0"));
        assert!(
            told.iter().all(|text| !text.contains("noise for signal")),
            "{model}: {told:?}"
        );
        let metrics: serde_json::Value =
            serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
        let noise = metrics["hyperparameters"]["likelihood.noise"][0].as_f64();
        assert!(noise.unwrap() < 1e-3, "{model}: {noise:?}");
    }
}
