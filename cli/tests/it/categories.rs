//! Categories with many levels: their inputs share a lengthscale.

use std::fs;
use std::path::Path;

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{numbers, read, succeed};

/// The target is a slope plus an offset of each of `levels` shops.
fn write(path: &Path, levels: usize) {
    let offset = |shop: usize| ((shop * 7) % 13) as f64;
    let rows = (0..300).map(|row| {
        let (shop, x) = ((row * 11) % levels, (row as f64 * 0.618_034).fract());
        let noise = 0.1 * (row as f64 * 12.9898).sin();
        format!("shop {shop},{x},{}\n", 2.0 * x + offset(shop) + noise)
    });
    fs::write(path, format!("shop,x,y\n{}", rows.collect::<String>())).unwrap();
}

fn metrics(path: &Path, run: &str) -> Value {
    serde_json::from_str(&read(&path.join(run).join("metrics.json"))).unwrap()
}

const TRAIN: [&str; 8] = [
    "train",
    "--data",
    "shops.csv",
    "--model",
    "exact",
    "--steps",
    "60",
    "--quiet",
];

#[test]
fn the_levels_of_a_large_category_share_a_lengthscale() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (levels, lengthscales, run) in [(40, 2, "many"), (10, 12, "few")] {
        write(&path.join("shops.csv"), levels);
        succeed(path, &[&TRAIN[..], &["--out", run]].concat());
        let metrics = metrics(path, run);
        let found = metrics["hyperparameters"]["kernel.lengthscale"]
            .as_array()
            .unwrap();
        assert_eq!(found.len(), lengthscales, "{run}");
        // The offsets have a standard deviation of 4 between shops.
        let error = metrics["rmse_original"].as_f64().unwrap();
        assert!(error < 0.5, "{run}: {error}");
    }
    let text = succeed(path, &["show", "many"]);
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    assert!(lines.iter().any(|line| line.starts_with("shop ")), "{text}");
    let wrong = lines
        .iter()
        .filter(|line| line.starts_with("shop=shop 3  "));
    // Once as an input, and not as a lengthscale.
    assert_eq!(wrong.count(), 1, "{text}");
    // A sum of kernels and the automatic start have groups too.
    write(&path.join("shops.csv"), 40);
    let auto = [
        "train",
        "--data",
        "shops.csv",
        "--quiet",
        "--minutes",
        "0.1",
        "--out",
        "auto",
    ];
    succeed(
        path,
        &[&auto[..], &["--kernel", "linear+matern52"]].concat(),
    );
    let metrics = metrics(path, "auto");
    let parameters = &metrics["hyperparameters"];
    assert_eq!(
        parameters["kernel.first.variance"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        parameters["kernel.second.lengthscale"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    // The configuration makes the same model, and a level that training has not seen is predicted.
    succeed(
        path,
        &[
            "train",
            "--config",
            "auto/config.toml",
            "--quiet",
            "--out",
            "again",
        ],
    );
    let loss = |run: &str| numbers(&path.join(run).join("training_log.csv"), "loss");
    assert_eq!(loss("auto"), loss("again"));
    fs::write(path.join("new.csv"), "shop,x\nshop 999,0.5\nshop 3,0.5\n").unwrap();
    succeed(
        path,
        &[
            "predict",
            "-m",
            "auto",
            "-d",
            "new.csv",
            "-o",
            "predicted.csv",
        ],
    );
    let deviations = numbers(&path.join("predicted.csv"), "std");
    assert!(deviations[0] > 3.0 * deviations[1], "{deviations:?}");
}
