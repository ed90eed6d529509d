//! Kernels on the codes of levels of a category.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed};

fn metrics(folder: &Path) -> Value {
    serde_json::from_str(&read(&folder.join("metrics.json"))).unwrap()
}

/// Runs the program with these arguments, separated by spaces.
fn succeed_at(folder: &Path, line: &str) -> String {
    succeed(folder, &line.split(' ').collect::<Vec<_>>())
}

/// Codes of levels reach the kernel as they are, in any model.
#[test]
fn an_index_kernel_reads_codes_of_the_table() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = String::from("x,level,y\n");
    for index in 0..90 {
        let (x, level) = (f64::from(index / 3) / 5.0, index % 3);
        let sign = [1.0, -1.0, 0.5][level as usize];
        writeln!(text, "{x},{level},{:.5}", sign * x.sin()).unwrap();
    }
    fs::write(path.join("levels.csv"), text).unwrap();
    let kernel = "index(input=2,levels=3,rank=1)*matern52[1]";
    for model in ["exact", "sgpr"] {
        let line = format!(
            "train -d levels.csv --kind level=number --kernel {kernel} --model {model} -o {model}"
        );
        succeed(path, &line.split(' ').collect::<Vec<_>>());
        let metrics = metrics(&path.join(model));
        let error = metrics["test"]["rmse"]
            .as_f64()
            .or(metrics["rmse"].as_f64());
        let error = error.unwrap_or_else(|| panic!("{metrics}"));
        assert!(error < 0.1, "{model}: {error}");
    }
    let categories = "train -d levels.csv --kind level=number --kernel exchangeable[2]*matern52[1] --model exact -o exchangeable";
    succeed(path, &categories.split(' ').collect::<Vec<_>>());
    let shown = succeed(path, &["show", "exchangeable"]);
    assert!(shown.contains("correlation"), "{shown}");
}

/// A level that training never had is nothing like the others, and so is a missing one.
#[test]
fn a_missing_code_is_an_unknown_level() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = String::from("x,level,y\n");
    for index in 0..90 {
        let (x, level) = (f64::from(index / 3) / 5.0, index % 3);
        let offset = [6.0, -4.0, 1.0][level as usize];
        writeln!(text, "{x},{level},{:.5}", offset + x.sin()).unwrap();
    }
    fs::write(path.join("levels.csv"), text).unwrap();
    fs::write(path.join("new.csv"), "x,level\n1,\n1,0\n1,1\n1,2\n1,7\n").unwrap();
    for (name, kernel) in [
        ("index", "index(input=2,levels=3)*matern52[1]"),
        ("ordinal", "ordinal(rbf,input=2,levels=3)*matern52[1]"),
        ("exchangeable", "exchangeable[2]*matern52[1]"),
    ] {
        succeed_at(
            path,
            &format!(
                "train -d levels.csv --kind level=number --kernel {kernel} --model exact --test-fraction 0 -o {name}"
            ),
        );
        let table = format!("{name}.csv");
        let line = format!("predict -m {name} -d new.csv -o {table}");
        let output = run(path, &line.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            errors.contains("1 of 5 rows has no value in \"level\"; it gets an unknown level"),
            "{name}: {errors}"
        );
        let (mean, deviation) = (
            numbers(&path.join(&table), "mean"),
            numbers(&path.join(&table), "std"),
        );
        for known in 1..4 {
            assert!(
                deviation[0] > 5.0 * deviation[known],
                "{name}: {deviation:?}"
            );
        }
        if name != "ordinal" {
            let close = |values: &[f64]| (values[0] - values[4]).abs() < 1e-4;
            assert!(close(&mean) && close(&deviation), "{name}: {mean:?}");
        }
    }
}

#[test]
fn numbers_that_are_no_codes_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for (name, code) in [("half", "1.5"), ("beyond", "3"), ("negative", "-1")] {
        let table = format!("x,level,y\n0.3,0,1\n1.9,1,2\n0.7,{code},2.5\n1.2,2,0\n0.1,0,1\n");
        fs::write(path.join(format!("{name}.csv")), table).unwrap();
        let line = format!(
            "train -d {name}.csv --kind level=number --kernel index(input=2,levels=3)*matern52[1] --model exact -o run"
        );
        let output = run(path, &line.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8_lossy(&output.stderr);
        let expected = format!(
            "\"level\" holds {code}, but the kernel has 3 levels there, with the codes 0 to 2"
        );
        assert!(
            !output.status.success() && errors.contains(&expected),
            "{errors}"
        );
        assert!(errors.contains(&format!("{name}.csv:4: ")), "{errors}");
    }
}
