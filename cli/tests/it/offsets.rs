//! Columns that are added to the function: offsets, and the logarithms of exposures.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use temp_dir::TempDir;

use crate::support::{numbers, run, succeed};

/// The rate of one hour.
fn rate(x: f64) -> f64 {
    (0.5 + x.sin()).exp()
}

/// Counts close to the rate times the hours, which go from 0.1 to 1000.
fn write_counts(path: &Path) {
    let mut text = String::from("x,hours,one,y\n");
    for row in 0..80 {
        let x = 6.0 * f64::from(row) / 79.0;
        let hours = 10f64.powf(-1.0 + 4.0 * f64::from((37 * row) % 80) / 79.0);
        let count = (hours * rate(x)).round();
        writeln!(text, "{x:.4},{hours:.5},1,{count}").unwrap();
    }
    fs::write(path.join("counts.csv"), text).unwrap();
}

/// Runs the program with these arguments, separated by spaces.
fn succeed_at(folder: &Path, line: &str) -> String {
    succeed(folder, &line.split(' ').collect::<Vec<_>>())
}

/// Runs `line`, which must end with this message and exit code 2.
fn refuse_at(folder: &Path, line: &str, message: &str) {
    let output = run(folder, &line.split(' ').collect::<Vec<_>>());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.ends_with(&format!("error: {message}\n")),
        "{line}: {errors}"
    );
    assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
}

const MODELS: [&str; 3] = ["svgp --steps 300", "vecchia-laplace", "auto"];

#[test]
fn counts_are_proportional_to_their_exposures() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_counts(path);
    fs::write(path.join("new.csv"), "x,hours\n1,1\n1,2\n4,1\n4,1000\n").unwrap();
    for (index, model) in MODELS.iter().enumerate() {
        let line = format!(
            "train -d counts.csv --drop one --likelihood poisson --exposure hours --model {model} --quiet -o run{index}"
        );
        succeed_at(path, &line);
        let line = format!("predict -m run{index} -d new.csv -o new{index}.csv --quantiles 0.5");
        succeed_at(path, &line);
        let table = path.join(format!("new{index}.csv"));
        let means = numbers(&table, "mean");
        for (row, x, hours) in [
            (0, 1.0, 1.0),
            (1, 1.0, 2.0),
            (2, 4.0, 1.0),
            (3, 4.0, 1000.0),
        ] {
            let error = (means[row] / (hours * rate(x))).ln();
            // The counts are rounded, and most of them are small.
            assert!(error.abs() < 0.15, "{model}, {x}, {hours}: {means:?}");
        }
        assert!(
            (means[1] / means[0] - 2.0).abs() < 1e-4,
            "{model}: {means:?}"
        );
        let medians = numbers(&table, "quantile 0.5");
        assert!(
            (medians[3] / means[3] - 1.0).abs() < 0.05,
            "{model}: {medians:?}"
        );
    }
}

#[test]
fn exposures_of_one_change_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_counts(path);
    fs::write(path.join("new.csv"), "x,one\n0.3,1\n2,1\n5.5,1\n").unwrap();
    let means = |name: &str, model: &str, exposure: &str| {
        let line = format!(
            "train -d counts.csv --likelihood poisson {exposure} --model {model} --dtype f64 --steps 15 --quiet \
             --test-fraction 0 -o {name}"
        );
        succeed_at(path, &line);
        let table = format!("{name}.csv");
        succeed_at(path, &format!("predict -m {name} -d new.csv -o {table}"));
        let all = ["mean", "std", "upper"].map(|title| numbers(&path.join(&table), title));
        all.concat()
    };
    for model in ["svgp", "vecchia-laplace"] {
        let with = means(&format!("{model}-1"), model, "--drop hours --exposure one");
        let without = means(&format!("{model}-0"), model, "--drop hours,one");
        for (one, other) in with.iter().zip(&without) {
            // The same steps, with sums in another order.
            assert!(
                (one - other).abs() <= 1e-6 * other.abs(),
                "{model}: {with:?} {without:?}"
            );
        }
    }
}

#[test]
fn an_offset_of_numbers_is_added_in_their_units() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = String::from("x,base,y\n");
    for row in 0..60 {
        let (x, base) = (f64::from(row) / 10.0, 30.0 * f64::from((13 * row) % 11));
        writeln!(text, "{x},{base},{:.6}", base + 5.0 * x.sin()).unwrap();
    }
    fs::write(path.join("data.csv"), text).unwrap();
    fs::write(path.join("new.csv"), "x,base\n1,0\n1,1000\n").unwrap();
    for model in ["exact", "vecchia", "svgp --steps 300"] {
        let name = model.split(' ').next().unwrap_or_default();
        let line = format!("train -d data.csv --offset base --model {model} --quiet -o {name}");
        succeed_at(path, &line);
        succeed_at(path, &format!("predict -m {name} -d new.csv -o {name}.csv"));
        let means = numbers(&path.join(format!("{name}.csv")), "mean");
        assert!(
            (means[0] - 5.0 * 1f64.sin()).abs() < 1.0,
            "{name}: {means:?}"
        );
        // Predictions are in single precision at a distance of hundreds.
        assert!(
            (means[1] - means[0] - 1000.0).abs() < 0.01,
            "{name}: {means:?}"
        );
    }
    let shown = succeed_at(path, "show exact");
    assert!(!shown.contains("lengthscale of base"), "{shown}");
}

#[test]
fn known_terms_may_not_be_missing_or_impossible() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_counts(path);
    let train = "train -d counts.csv --drop one --likelihood poisson --exposure hours --model svgp --steps 2 --quiet -o run";
    succeed_at(path, train);
    for (cell, message) in [
        (
            "",
            "column 2 (\"hours\") has no value; fill it in or remove the row",
        ),
        (
            "NA",
            "column 2 (\"hours\") has no value; fill it in or remove the row",
        ),
        (
            "0",
            "column 2 (\"hours\") holds \"0\", but an exposure must be a positive number; correct it or remove the row",
        ),
        (
            "-2",
            "column 2 (\"hours\") holds \"-2\", but an exposure must be a positive number; correct it or remove the row",
        ),
    ] {
        let rows = "x,hours,y\n0.5,1,2\n0.7,2,3\n";
        let text = format!("{rows}0.8,{cell},1\n0.9,1,2\n");
        fs::write(path.join("bad.csv"), text).unwrap();
        let message = format!("bad.csv:4: {message}");
        let options = "--likelihood poisson --exposure hours -o other";
        refuse_at(path, &format!("train -d bad.csv {options}"), &message);
        refuse_at(
            path,
            &format!("train -d bad.csv --missing drop {options}"),
            &message,
        );
        refuse_at(path, "predict -m run -d bad.csv", &message);
        refuse_at(path, "predict -m run -d bad.csv --strict", &message);
    }
    fs::write(path.join("short.csv"), "x\n0.5\n").unwrap();
    let output = run(path, &["predict", "-m", "run", "-d", "short.csv"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("\"hours\""), "{errors}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn known_terms_that_do_not_suit_the_model_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_counts(path);
    for (options, message) in [
        (
            "--likelihood gaussian --exposure hours",
            "--exposure does not apply to likelihood 'gaussian', whose link is not the logarithm; use --likelihood poisson or another one of counts or positive numbers",
        ),
        (
            "--likelihood heteroskedastic --offset hours",
            "--offset does not apply to likelihood 'heteroskedastic', which has several functions; remove it",
        ),
        (
            "--model deep-gp --likelihood poisson --exposure hours",
            "--exposure does not apply to model 'deep-gp'; remove it",
        ),
        (
            "--model svgp --mean offset",
            "the mean offset needs a column: name it with --offset or --exposure, which go with any other --mean",
        ),
        (
            "--likelihood poisson --exposure y",
            "counts.csv: column 4 (\"y\") cannot be both the exposure and the target, its noise, trials or upper limit, the id, the group or the weights; give two columns",
        ),
        (
            "--likelihood poisson --exposure hour",
            "counts.csv: --exposure names the column \"hour\", which does not exist (did you mean \"hours\"?); the columns are \"x\", \"hours\", \"one\", \"y\"",
        ),
    ] {
        refuse_at(
            path,
            &format!("train -d counts.csv {options} -o run"),
            message,
        );
    }
}
