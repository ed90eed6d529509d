//! Targets that are cut off at a detection limit.

use std::fs;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::support::{fields, read, run, succeed};

/// A detection limit in the units of the target, far from zero. Its predictions, scores and messages are in these units.
#[test]
fn targets_are_cut_off_at_a_detection_limit() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(43);
    let mut text = String::from("x,y\n");
    for row in 0..120 {
        let x = f64::from(row) / 12.0;
        let noise: f64 = (0..12).map(|_| random.random_range(-0.5..0.5)).sum();
        text += &format!(
            "{x},{}\n",
            (-300.0 + 150.0 * x.sin() + 20.0 * noise).min(-230.0)
        );
    }
    fs::write(path.join("data.csv"), text).unwrap();
    let line = |options: &str| -> Vec<String> {
        let line = format!(
            "train --data data.csv --model svgp --inducing 20 --steps 400 --test-fraction 0.25 --out run --overwrite \
             --quiet --likelihood {options}"
        );
        line.split_whitespace().map(str::to_owned).collect()
    };
    let arguments = line("censored --upper -230");
    succeed(
        path,
        &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    let config = read(&path.join("run/config.toml"));
    assert!(
        config.contains("upper = -230.0") && !config.contains("lower"),
        "{config}"
    );
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    // A third of the rows are at the limit, with a log probability near zero; the log density of the others is
    // about −½·log(2πe·20²) = −4.4.
    let number = |key: &str| metrics[key].as_f64().unwrap();
    // That of standardized targets, whose log densities are greater by the logarithm of the scale.
    let nlpd = number("nlpd") + (number("rmse_original") / number("rmse")).ln();
    assert!((1.5..4.0).contains(&nlpd), "{nlpd}");
    let predictions = fields(&read(&path.join("run/predictions.csv")));
    let column = |name: &str| predictions[0].iter().position(|own| own == name).unwrap();
    let (mean, upper) = (column("mean"), column("upper"));
    for row in &predictions[1..] {
        let [mean, upper] = [mean, upper].map(|index| row[index].parse::<f64>().unwrap());
        assert!(mean <= -230.0 && upper <= -230.0 + 1e-9, "{mean}, {upper}");
    }
    // A new target beyond the limit.
    fs::write(path.join("new.csv"), "x,y\n1,-310\n2,-229\n").unwrap();
    let predict = ["predict", "--model-dir", "run", "--data", "new.csv"];
    let refused = String::from_utf8(run(path, &predict).stderr).unwrap();
    assert!(
        refused.contains("new.csv:3")
            && refused.contains("-229")
            && refused.contains("numbers up to -230"),
        "{refused}"
    );
    for (options, expected) in [
        (
            "censored --lower 2 --upper -230",
            "likelihood.upper is -230",
        ),
        (
            "gaussian --upper -230",
            "--upper does not apply to likelihood 'gaussian'",
        ),
        ("censored", "numbers from 0"),
    ] {
        let arguments = line(options);
        let refused = run(
            path,
            &arguments.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let refused = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.contains(expected), "{options}: {refused}");
    }
}
