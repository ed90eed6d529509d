//! Early stopping finds the number of steps on held-out rows, and the final training uses all rows.

use std::fs;
use std::path::Path;

use crate::support::{read, run, succeed, write_regression};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// A network trained for too long fits 72 rows and predicts others badly.
#[test]
fn a_network_stops_where_held_out_rows_are_predicted_best() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 80);
    let line = "train --model dkl --data table.csv --units 16 --patience 4";
    let said = succeed(path, &words(&format!("{line} --out run")));
    let metrics = json(&path.join("run/metrics.json"));
    let point = &metrics["stopping_point"];
    // Half of so few rows are held out. The final training uses all of them.
    assert_eq!(
        (&point["held_out"], &metrics["n_train"]),
        (&36.into(), &72.into())
    );
    assert_eq!(
        (&metrics["steps"], &metrics["step_kept"]),
        (&point["step"], &point["step"])
    );
    let tried = point["steps_tried"].as_u64().unwrap();
    assert!(
        tried < 2000 && point["step"].as_u64().unwrap() < tried,
        "{point}"
    );
    assert!(point["nlpd"].as_f64().unwrap().is_finite(), "{point}");
    assert!(
        metrics["nlpd_without_network"]
            .as_f64()
            .unwrap()
            .is_finite()
    );
    assert!(said.contains("36 held-out rows"), "{said}");

    // The configuration in the folder makes the same model without a search.
    succeed(
        path,
        &words("train --config run/config.toml --out again --quiet"),
    );
    let again = json(&path.join("again/metrics.json"));
    assert_eq!(
        (&again["steps"], again.get("stopping_point")),
        (&point["step"], None)
    );
    for file in ["predictions.csv", "weights.bpk"] {
        let bytes = |run: &str| fs::read(path.join(run).join(file)).unwrap();
        assert!(bytes("run") == bytes("again"), "{file} differs");
    }
}

#[test]
fn a_length_that_is_given_is_kept() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("table.csv"), 60);
    let line = "train --data table.csv --quiet --steps 30";
    let of = |name: &str, options: &str| {
        succeed(path, &words(&format!("{line} --out {name} {options}")));
        json(&path.join(name).join("metrics.json"))
    };
    let given = of("given", "--model dbk --units 8 --rank 6");
    assert_eq!(
        (&given["steps"], given.get("stopping_point")),
        (&30.into(), None)
    );
    // Early stopping is available for any mini-batch model.
    let asked = of(
        "asked",
        "--model svgp --inducing 6 --early-stopping 0.25 --validation-epochs 5",
    );
    let point = &asked["stopping_point"];
    assert_eq!(
        (&point["held_out"], &asked["n_train"]),
        (&14.into(), &54.into())
    );
    assert_eq!(asked["steps"], point["step"]);
    assert_eq!(asked.get("nlpd_without_network"), None);

    for (options, message) in [
        (
            "--model svgp --early-stopping 1",
            "must be at least 0 and below 1",
        ),
        (
            "--model svgp --early-stopping 0.2 --validation-fraction 0.2",
            "cannot be used together",
        ),
        ("--model svgp --early-stopping 0.2 --keep last", "--keep"),
        (
            "--model exact --early-stopping 0.2",
            "does not apply to model 'exact'",
        ),
    ] {
        let refused = run(path, &words(&format!("{line} --out no {options}")));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{options}: {said}");
        assert!(said.contains(message), "{options}: {said}");
    }
}
