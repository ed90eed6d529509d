//! Models whose function is a quantile of the target: its column in predictions, and its score.

use std::fs;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{fields, numbers, read, succeed};

#[test]
fn predictions_have_the_quantile_that_the_function_follows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut random = ChaCha8Rng::seed_from_u64(21);
    let mut text = String::from("x,y\n");
    for _ in 0..500 {
        let x: f64 = random.random_range(-2.0..2.0);
        // Noise with a long tail above.
        let noise = -3.0 * random.random_range(1e-9..1.0f64).ln();
        text += &format!("{x},{}\n", 100.0 + 10.0 * x.sin() + noise);
    }
    fs::write(path.join("train.csv"), text).unwrap();
    let train = "train --data train.csv --out run --quiet --model svgp --likelihood asymmetric-laplace --inducing 12 \
                 --set likelihood.quantile=0.9 --test-fraction 0.4 --steps 400";
    succeed(path, &train.split_whitespace().collect::<Vec<&str>>());

    let predictions = path.join("run/predictions.csv");
    let header = &fields(&read(&predictions))[0];
    assert_eq!(header.last().map(String::as_str), Some("quantile 0.9"));
    let (targets, quantiles) = (
        numbers(&predictions, "y"),
        numbers(&predictions, "quantile 0.9"),
    );
    let pairs = || targets.iter().zip(&quantiles);
    let share = pairs().filter(|(y, q)| y <= q).count() as f64 / 200.0;
    // Three standard errors of 200 test rows and of as many training rows.
    assert!((0.8..0.97).contains(&share), "{share}");
    let loss = pairs().map(|(y, q)| 0.9 * (y - q).max(0.0) + 0.1 * (q - y).max(0.0));
    let loss = loss.sum::<f64>() / 200.0;
    let metrics: Value = serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    let found = metrics["pinball_original"].as_f64().unwrap();
    assert!((found / loss - 1.0).abs() < 1e-9, "{found}, {loss}");
    assert!(metrics["pinball"].as_f64().unwrap() < found);

    let predict = "predict -m run -d train.csv -o all.csv --quantiles 0.5,0.9";
    succeed(path, &predict.split(' ').collect::<Vec<&str>>());
    let header = &fields(&read(&path.join("all.csv")))[0];
    let own = header
        .iter()
        .filter(|name| name.starts_with("quantile"))
        .collect::<Vec<_>>();
    assert_eq!(own, ["quantile 0.5", "quantile 0.9"]);
    // Conformal intervals find the predictions of the test rows.
    let predict = "predict -m run -d train.csv -o conformal.csv --intervals conformal";
    succeed(path, &predict.split(' ').collect::<Vec<&str>>());

    // Predictions of the mean have a smaller RMSE, which is no fault of a quantile.
    let warnings = metrics["warnings"].to_string();
    assert!(!warnings.contains("RMSE"), "{warnings}");

    // Other likelihoods follow no quantile.
    let other = "train --data train.csv --out other --quiet --model svgp --inducing 8 --steps 5";
    succeed(path, &other.split_whitespace().collect::<Vec<&str>>());
    let header = &fields(&read(&path.join("other/predictions.csv")))[0];
    assert!(!header.iter().any(|name| name.starts_with("quantile")));
    assert!(!read(&path.join("other/metrics.json")).contains("pinball"));
}
