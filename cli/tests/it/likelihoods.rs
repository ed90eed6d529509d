//! Every likelihood on the command line: training, metrics, plots and prediction.

use std::fs;
use std::path::Path;

use crate::support::{fields, read, run, succeed};
use burn_gp_core::likelihoods::{
    BetaBinomialConfig, BinomialConfig, FixedNoiseConfig, LikelihoodName, SoftmaxConfig,
    TargetKind, TweedieConfig,
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

const ROWS: usize = 60;

/// A valid target at an input.
fn target(likelihood: LikelihoodName, x: f64, random: &mut ChaCha8Rng) -> String {
    let wave = (2.0 * x).sin();
    let uniform: f64 = random.random_range(-0.5..0.5);
    match likelihood.target() {
        _ if likelihood.is::<TweedieConfig>() => (wave + uniform).max(0.0).to_string(),
        TargetKind::Numbers | TargetKind::Measurements | TargetKind::Intervals => {
            (5.0 + wave + 0.2 * uniform).to_string()
        }
        TargetKind::Counts => (4.0 * wave + 5.0 + 4.0 * uniform)
            .round()
            .max(0.0)
            .to_string(),
        TargetKind::Successes => (8.0 / (1.0 + (-2.0 * wave - uniform).exp()))
            .round()
            .to_string(),
        TargetKind::PositiveNumbers => (wave + uniform).exp().to_string(),
        TargetKind::Fractions => (1.0 / (1.0 + (-wave - uniform).exp())).to_string(),
        kind @ (TargetKind::TwoClasses | TargetKind::Classes | TargetKind::OrderedClasses) => {
            let label = match wave + uniform {
                high if high > 0.5 && kind != TargetKind::TwoClasses => "much, \"really\"",
                middle if middle > 0.0 => "more",
                _ => "less",
            };
            format!("\"{}\"", label.replace('"', "\"\""))
        }
    }
}

/// One input, the noise, the trials or the upper limit of the target if the likelihood needs it, and the target.
fn write_data(path: &Path, likelihood: LikelihoodName) {
    let mut random = ChaCha8Rng::seed_from_u64(31);
    let mut text = String::from(match likelihood.target() {
        TargetKind::Measurements => "x,error,y\n",
        TargetKind::Successes => "x,tries,y\n",
        TargetKind::Intervals => "x,end,y\n",
        _ => "x,y\n",
    });
    for _ in 0..ROWS {
        let x: f64 = random.random_range(-2.0..2.0);
        let error: f64 = random.random_range(0.05..0.3);
        let target = target(likelihood, x, &mut random);
        let more = match likelihood.target() {
            TargetKind::Intervals if error < 0.15 => ",".to_owned(),
            TargetKind::Intervals => format!("{target},"),
            TargetKind::Measurements => format!("{error},"),
            TargetKind::Successes => format!("{},", 8 + (100.0 * error) as usize),
            _ => String::new(),
        };
        text += &format!("{x},{more}{target}\n");
    }
    fs::write(path, text).unwrap();
}

fn train(folder: &Path, likelihood: LikelihoodName, more: &[&str]) -> serde_json::Value {
    write_data(&folder.join("data.csv"), likelihood);
    let mut arguments = vec![
        "train",
        "--data",
        "data.csv",
        "--likelihood",
        likelihood.name(),
        "--steps",
        "60",
        "--inducing",
        "15",
        "--test-fraction",
        "0.2",
        "--out",
        "run",
        "--quiet",
        "--overwrite",
    ];
    if likelihood.target() == TargetKind::Measurements {
        arguments.extend(["--noise-column", "error"]);
    }
    if likelihood.target() == TargetKind::Successes {
        arguments.extend(["--trials", "tries"]);
    }
    if likelihood.target() == TargetKind::Intervals {
        arguments.extend(["--upper-column", "end"]);
    }
    if likelihood.target() == TargetKind::OrderedClasses {
        let order = "less,more,\"much, \"\"really\"\"\"";
        arguments.extend(["--class-order", order]);
    }
    arguments.extend(more);
    succeed(folder, &arguments);
    serde_json::from_str(&read(&folder.join("run/metrics.json"))).unwrap()
}

/// The likelihoods of the library.
fn every_likelihood() -> impl Iterator<Item = LikelihoodName> {
    // The program knows no likelihood of the tests.
    LikelihoodName::all().filter(|likelihood| likelihood.name() != "noisy")
}

#[test]
fn every_likelihood_trains_and_predicts_the_same_after_loading() {
    for likelihood in every_likelihood() {
        let folder = temp_dir::TempDir::new().unwrap();
        let path = folder.path();
        let metrics = train(path, likelihood, &[]);
        let name = likelihood.name();
        assert_eq!(metrics["likelihood"], *name);
        assert!(metrics["nlpd"].is_f64(), "{name}");
        let classes = likelihood.target().has_classes();
        for key in ["error", "ece"] {
            assert_eq!(metrics[key].is_f64(), classes, "{name}: {key}");
        }
        assert_eq!(metrics["coverage95"].is_f64(), !classes, "{name}");
        let plots: &[&str] = match classes {
            true => &["loss.svg", "reliability.svg"],
            false => &["loss.svg", "predicted-observed.svg", "calibration.svg"],
        };
        for plot in plots {
            assert!(path.join("run").join(plot).is_file(), "{name}: {plot}");
        }
        // A shape, a dispersion or a quantile has no units; noise has those of the target.
        let shown = succeed(path, &["show", "run"]);
        let of_likelihood = shown.lines().filter(|line| line.contains("likelihood."));
        for line in of_likelihood {
            assert!(!line.contains("standardized"), "{name}: {line}");
        }
        // The same test rows, predicted by the saved model.
        let written = read(&path.join("run/predictions.csv"));
        let data = read(&path.join("data.csv"));
        let lines: Vec<&str> = data.lines().collect();
        let mut chosen = vec![lines[0]];
        for row in written.lines().skip(1) {
            let number: usize = row.split(',').next().unwrap().parse().unwrap();
            chosen.push(lines[number + 1]);
        }
        fs::write(path.join("new.csv"), chosen.join("\n")).unwrap();
        let printed = succeed(
            path,
            &["predict", "--model-dir", "run", "--data", "new.csv"],
        );
        let without_row = |text: &str| -> Vec<String> {
            let rows = text.lines().skip(1);
            rows.map(|row| row.split_once(',').unwrap().1.to_owned())
                .collect()
        };
        for (written, printed) in without_row(&written).iter().zip(without_row(&printed)) {
            assert_eq!(printed, *written, "{name}");
        }
    }
}

/// Held-out rows are scored with all columns that the likelihood uses, including the noise of each
/// target.
#[test]
fn every_likelihood_is_validated_on_rows_held_out() {
    for likelihood in every_likelihood() {
        let (folder, name) = (temp_dir::TempDir::new().unwrap(), likelihood.name());
        let options = [
            "--validation-fraction",
            "0.25",
            "--validation-epochs",
            "20",
            "--keep",
            "best",
        ];
        let metrics = train(folder.path(), likelihood, &options);
        assert_eq!(metrics["n_validation"], 12, "{name}");
        let log = read(&folder.path().join("run/training_log.csv"));
        let scores = log.lines().skip(1).filter_map(|line| {
            let (_, score) = line.rsplit_once(',')?;
            score.parse::<f64>().ok()
        });
        let scores: Vec<f64> = scores.collect();
        assert_eq!(scores.len(), 3, "{name}: {log}");
        assert!(
            scores.iter().all(|score| score.is_finite()),
            "{name}: {scores:?}"
        );
        let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let kept = metrics["step_kept"].as_u64().unwrap() as usize;
        assert_eq!(scores[kept / 20 - 1], best, "{name}: {scores:?}, {kept}");
    }
}

#[test]
fn probabilities_of_every_class_are_predicted() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let metrics = train(path, LikelihoodName::of::<SoftmaxConfig>(), &[]);
    assert_eq!(metrics["classes"], 3);
    fs::write(path.join("new.csv"), "x\n0.5\n-1\n").unwrap();
    let printed = succeed(
        path,
        &["predict", "--model-dir", "run", "--data", "new.csv"],
    );
    let mut lines = printed.lines();
    assert_eq!(
        lines.next(),
        Some(
            "row,label,probability of less,probability of more,\"probability of much, \"\"really\"\"\""
        )
    );
    for line in lines {
        let values: Vec<f64> = line
            .rsplit(',')
            .take(3)
            .map(|text| text.parse().unwrap())
            .collect();
        assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line}");
    }
    // A label that does not occur in the training data.
    fs::write(path.join("new.csv"), "x,y\n0.5,more\n-1,none\n").unwrap();
    let strict = [
        "predict",
        "--model-dir",
        "run",
        "--data",
        "new.csv",
        "--strict",
    ];
    let refused = run(path, &strict);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(
        message.contains("new.csv:3: the label \"none\" is not one of the labels"),
        "{message}"
    );
}

/// Without the noise column the intervals are those of the function.
#[test]
fn known_noise_widens_the_intervals() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    train(path, LikelihoodName::of::<FixedNoiseConfig>(), &[]);
    let predict = |data: &str| {
        fs::write(path.join("new.csv"), data).unwrap();
        let output = run(
            path,
            &["predict", "--model-dir", "run", "--data", "new.csv"],
        );
        assert!(output.status.success());
        let printed = String::from_utf8(output.stdout).unwrap();
        let deviation: f64 = fields(&printed)[1][2].parse().unwrap();
        (deviation, String::from_utf8(output.stderr).unwrap())
    };
    let (alone, warning) = predict("x\n0.5\n");
    assert!(warning.contains("no column \"error\""), "{warning}");
    let (noisy, warning) = predict("x,error\n0.5,0.3\n");
    assert_eq!(warning, "");
    let expected = (alone * alone + 0.09).sqrt();
    assert!(
        (noisy - expected).abs() < 1e-9,
        "{noisy}, expected {expected}"
    );
}

/// With trials, predictions count successes among them; without, they are the share of successes.
#[test]
fn successes_are_predicted_among_trials() {
    let configs = [
        LikelihoodName::of::<BinomialConfig>(),
        LikelihoodName::of::<BetaBinomialConfig>(),
    ];
    for likelihood in configs {
        let folder = temp_dir::TempDir::new().unwrap();
        let path = folder.path();
        train(path, likelihood, &[]);
        let predict = |data: &str| {
            fs::write(path.join("new.csv"), data).unwrap();
            let predict = "predict --model-dir run --data new.csv --quantiles 0.5";
            let output = run(path, &predict.split(' ').collect::<Vec<_>>());
            assert!(output.status.success());
            let printed = String::from_utf8(output.stdout).unwrap();
            let number = |own: &String| own.parse::<f64>().unwrap();
            let lines = fields(&printed).into_iter().skip(1);
            let rows: Vec<Vec<f64>> = lines
                .map(|line| line[1..].iter().map(number).collect())
                .collect();
            (rows, String::from_utf8(output.stderr).unwrap())
        };
        let (shares, warning) = predict("x\n0.5\n-1\n");
        let expected = "there is no column \"tries\", so predictions are the share of successes";
        assert!(warning.contains(expected), "{warning}");
        let trials = [10.0, 1000.0];
        let (counts, warning) = predict("x,tries\n0.5,10\n-1,1000\n");
        assert_eq!(warning, "");
        for ((share, count), trials) in shares.iter().zip(&counts).zip(trials) {
            assert!(
                share.iter().all(|value| (0.0..1.0).contains(value)),
                "{share:?}"
            );
            let (mean, deviation) = (share[0], share[1]);
            assert!(
                (count[0] - trials * mean).abs() < 1e-9 * trials,
                "{count:?}"
            );
            let variance =
                trials * mean * (1.0 - mean) + trials * (trials - 1.0) * deviation.powi(2);
            assert!(
                (count[1] - variance.sqrt()).abs() < 1e-9 * trials,
                "{count:?}"
            );
            // The ends of the interval and the median count something, and are near those of the share.
            for (count, share) in count[2..].iter().zip(&share[2..]) {
                assert!(
                    count.fract() == 0.0 && (0.0..=trials).contains(count),
                    "{count}"
                );
                let error = 2.0 * (trials * 0.25).sqrt() + 1.0;
                assert!(
                    (count - trials * share).abs() < error,
                    "{count}, {share} of {trials}"
                );
            }
        }
        // A table with successes is scored. Sums over one row alone may round otherwise than over two.
        let (scored, scores) = predict("x,tries,y\n0.5,10,7\n");
        let (alone, among) = (scored[0][1], counts[0][0]);
        assert!((alone - among).abs() < 1e-12 * among, "{alone}, {among}");
        assert!(scores.contains("NLPD"), "{scores}");
    }
}

/// Rows with more or with fractional successes or trials are refused by file, line and column.
#[test]
fn impossible_successes_are_refused() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let cases = [
        (
            "x,tries,y\n1,5,2\n2,5,7\n3,4,1\n",
            "data.csv:3: column 3 (\"y\") is 7, but 5 trials have a whole number of successes from 0 to 5; correct it or remove the row",
        ),
        (
            "x,tries,y\n1,5,2\n2,5,1.5\n3,4,1\n",
            "data.csv:3: column 3 (\"y\") is 1.5, but 5 trials have a whole number of successes from 0 to 5; correct it or remove the row",
        ),
        (
            "x,tries,y\n1,5,2\n2,5,1\n3,4.5,1\n",
            "data.csv:4: column 2 (\"tries\") is 4.5, but the number of trials must be a whole number of at least 1; correct it or remove the row",
        ),
        (
            "x,tries,y\n1,0,0\n2,5,1\n3,4,1\n",
            "data.csv:2: column 2 (\"tries\") is 0, but the number of trials must be a whole number of at least 1; correct it or remove the row",
        ),
    ];
    for (data, expected) in cases {
        fs::write(path.join("data.csv"), data).unwrap();
        let line = "train --data data.csv --trials tries --test-fraction 0 --out run";
        let refused = run(path, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(refused.status.code(), Some(2));
        let message = String::from_utf8(refused.stderr).unwrap();
        assert!(message.contains(expected), "{message}");
    }
}

/// Runs with labels can be resumed, and their configuration makes the same run.
#[test]
fn configurations_keep_the_columns() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    train(path, LikelihoodName::of::<FixedNoiseConfig>(), &[]);
    let arguments = [
        "train",
        "--config",
        "run/config.toml",
        "--out",
        "again",
        "--quiet",
    ];
    succeed(path, &arguments);
    let predictions = |run: &str| read(&path.join(run).join("predictions.csv"));
    assert_eq!(predictions("run"), predictions("again"));
}

/// If the noise changes by an order of magnitude, a heteroskedastic likelihood has a higher
/// predictive density.
#[test]
fn changing_noise_is_found() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(37);
    let mut text = String::from("x,y\n");
    for row in 0..150 {
        let x = f64::from(row) / 15.0;
        let noise: f64 = (0..12).map(|_| random.random_range(-0.5..0.5)).sum();
        let deviation = if x < 5.0 { 0.02 } else { 0.5 };
        text += &format!("{x},{}\n", x.sin() + deviation * noise);
    }
    fs::write(path.join("data.csv"), text).unwrap();
    let nlpd = |likelihood: &str| {
        let arguments = [
            "train",
            "--data",
            "data.csv",
            "--likelihood",
            likelihood,
            "--steps",
            "1500",
            "--inducing",
            "25",
            "--test-fraction",
            "0.3",
            "--out",
            likelihood,
            "--quiet",
        ];
        succeed(path, &arguments);
        let metrics = read(&path.join(likelihood).join("metrics.json"));
        let metrics: serde_json::Value = serde_json::from_str(&metrics).unwrap();
        assert!(read(&path.join(likelihood).join("fit.svg")).contains("95 % of the function"));
        metrics["nlpd"].as_f64().unwrap()
    };
    let (constant, changing) = (nlpd("gaussian"), nlpd("heteroskedastic"));
    // Known standard deviations gain ½·log((0.02² + 0.5²)/2) − ½·(log 0.02 + log 0.5) = 1.26.
    assert!(changing < constant - 0.6, "{changing} against {constant}");
}
