//! Compares the numbers of a run with the stored ones.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::support::{fields, read};

/// Measured values, which differ between runs.
const MEASURED: [&str; 3] = ["train_seconds", "seconds_per_step", "peak_memory"];

/// The number of stored prediction rows.
const ROWS: usize = 6;

/// Tests in parallel write to the same file.
static WRITING: Mutex<()> = Mutex::new(());

fn path() -> PathBuf {
    let package = env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    Path::new(&package).join("tests/behavior/stored.json")
}

fn stored() -> BTreeMap<String, Value> {
    match fs::read_to_string(path()) {
        Ok(text) => serde_json::from_str(&text).expect("stored numbers"),
        Err(_) => BTreeMap::new(),
    }
}

/// JSON with one line per run.
fn text(all: &BTreeMap<String, Value>) -> String {
    let lines: Vec<String> = (all.iter())
        .map(|(name, numbers)| format!("{}: {numbers}", json!(name)))
        .collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// Compares the results with those stored under this name, or stores them. Numbers may differ by
/// `tolerance`, relative to numbers above one.
pub fn check(name: &str, found: Value, tolerance: f64) {
    if env::var_os("BURN_GP_STORE").is_some() {
        let _lock = WRITING.lock().expect("no test panicked while it wrote");
        let mut all = stored();
        all.insert(name.to_owned(), found);
        return fs::write(path(), text(&all)).expect("the numbers can be stored");
    }
    let all = stored();
    let expected = all.get(name).unwrap_or_else(|| {
        panic!("no numbers are stored for {name:?}; store them with BURN_GP_STORE=1")
    });
    compare(name, expected, &found, tolerance);
}

/// The scores and hyperparameters of a run and some of its predictions.
pub fn numbers_of(folder: &Path) -> Value {
    let mut metrics: Value =
        serde_json::from_str(&read(&folder.join("metrics.json"))).expect("JSON");
    let entries = metrics.as_object_mut().expect("an object");
    entries.retain(|key, _| !MEASURED.contains(&key.as_str()));
    let table = fields(&read(&folder.join("predictions.csv")));
    let rows = &table[1..];
    let kept: Vec<Value> = (rows.iter().step_by(rows.len().div_ceil(ROWS)))
        .map(|row| row.iter().map(|field| cell(field)).collect())
        .collect();
    json!({ "metrics": metrics, "columns": table[0], "rows": rows.len(), "predictions": kept })
}

/// A field of a table, as a number if it is one.
pub fn cell(field: &str) -> Value {
    field
        .parse::<f64>()
        .map_or_else(|_| field.into(), Value::from)
}

/// Fails if two values differ, and reports the position.
fn compare(place: &str, expected: &Value, found: &Value, tolerance: f64) {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            let names = |object: &serde_json::Map<String, Value>| object.keys().cloned().collect();
            let (expected_names, found_names): (Vec<String>, Vec<String>) =
                (names(expected), names(found));
            assert_eq!(found_names, expected_names, "{place}");
            for (name, expected) in expected {
                compare(
                    &format!("{place}, {name}"),
                    expected,
                    &found[name],
                    tolerance,
                );
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            assert_eq!(found.len(), expected.len(), "{place}");
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{place}, {index}"), expected, found, tolerance);
            }
        }
        (Value::Number(expected), Value::Number(found)) => {
            let [expected, found] =
                [expected, found].map(|number| number.as_f64().unwrap_or(f64::NAN));
            let error = (found - expected).abs() / expected.abs().max(1.0);
            assert!(error <= tolerance, "{place}: {found}, stored {expected}");
        }
        _ => assert_eq!(found, expected, "{place}"),
    }
}
