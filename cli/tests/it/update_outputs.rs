//! `update` of a model of several outputs, whose rows have a column for each output or name theirs.

use std::fs;
use std::path::Path;

use burn::tensor::Device;
use burn_gp_models::Fitted;
use temp_dir::TempDir;

use crate::support::{numbers, read, run, succeed};

/// A wave and twice its opposite; the second is empty in every other row.
fn targets(x: f64, row: usize) -> (f64, Option<f64>) {
    let jump = if row.is_multiple_of(3) { 0.02 } else { -0.01 };
    let wave = x.sin() + jump;
    (wave, (row.is_multiple_of(2)).then_some(5.0 - 2.0 * wave))
}

/// The rows of old.csv are before 4, those of more.csv after.
fn write(path: &Path) {
    let rows = |range: std::ops::Range<usize>| -> [String; 2] {
        let (mut wide, mut long) = ("x,a,b\n".to_owned(), "x,name,value\n".to_owned());
        for row in range {
            let x = row as f64 / 8.0;
            let (a, b) = targets(x, row);
            let cell = b.map_or_else(String::new, |b| format!("{b:.6}"));
            wide += &format!("{x},{a:.6},{cell}\n");
            long += &format!("{x},a,{a:.6}\n");
            if b.is_some() {
                long += &format!("{x},b,{cell}\n");
            }
        }
        [wide, long]
    };
    for (name, range) in [("old", 0..32), ("more", 32..44)] {
        let [wide, long] = rows(range);
        fs::write(path.join(format!("{name}.csv")), wide).unwrap();
        fs::write(path.join(format!("{name}-long.csv")), long).unwrap();
    }
    fs::write(path.join("points.csv"), "x\n0.4\n2.2\n3.9\n4.7\n5.2\n").unwrap();
}

fn line(path: &Path, line: &str) -> String {
    succeed(path, &line.split(' ').collect::<Vec<&str>>())
}

/// Means and standard deviations of both outputs at the points.
fn predicted(path: &Path, folder: &str) -> [Vec<f64>; 4] {
    line(
        path,
        &format!("predict -m {folder} -d points.csv --overwrite -o predicted.csv"),
    );
    let table = path.join("predicted.csv");
    ["a mean", "b mean", "a std", "b std"].map(|title| numbers(&table, title))
}

fn assert_near(found: &[Vec<f64>; 4], expected: &[Vec<f64>; 4], tolerance: f64) {
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() < tolerance, "{found}, {expected}");
    }
}

#[test]
fn an_update_is_the_model_given_the_new_rows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path);
    line(
        path,
        "train -d old.csv --targets a,b --kernel rbf --test-fraction 0 --steps 30 --quiet -o run",
    );
    let said = line(path, "update -m run -d more.csv -o updated");
    assert!(
        said.contains("before the update, a: 12 known targets, RMSE"),
        "{said}"
    );
    let sentence = "exact of 2 outputs: 32 rows before, 12 added, 0 removed, 44 after; the hyperparameters and the \
                    standardization are those of training\n";
    assert!(said.ends_with(sentence), "{said}");

    // The same by the library.
    let model = Fitted::load(path.join("run"), &Device::flex()).unwrap();
    let more = path.join("more.csv");
    let (x, a, b) = (
        numbers(&more, "x"),
        numbers(&more, "a"),
        numbers(&more, "b"),
    );
    let y: Vec<[f64; 2]> = a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
    let given = model.condition_on_observations(&x, &y).unwrap();
    let expected = given
        .predict(numbers(&path.join("points.csv"), "x"))
        .unwrap();
    let own = expected.predictions();
    let of = |values: &[f64], output: usize| -> Vec<f64> {
        values.iter().copied().skip(output).step_by(2).collect()
    };
    let deviations: Vec<f64> = own
        .variance
        .iter()
        .map(|variance| variance.sqrt())
        .collect();
    let expected = [
        of(&own.mean, 0),
        of(&own.mean, 1),
        of(&deviations, 0),
        of(&deviations, 1),
    ];
    let found = predicted(path, "updated");
    // The hyperparameters of a file are rounded to the precision of the device.
    assert_near(&found, &expected, 1e-6);
    assert!((found[0][4] - 5.2f64.sin()).abs() < 0.1, "{found:?}");

    // Rows that leave again.
    let said = line(path, "update -m updated --remove-before x=4 -o window");
    assert!(
        said.contains("44 rows before, 0 added, 32 removed, 12 after"),
        "{said}"
    );
    let said = line(
        path,
        "update -m run -d more.csv --remove-before x=3.5 -o other",
    );
    assert!(
        said.contains("32 rows before, 12 added, 28 removed, 16 after"),
        "{said}"
    );
    let context = read(&path.join("window/outputs.json"));
    assert!(context.contains("\"n_train\": 12"), "{context}");
}

#[test]
fn rows_that_name_their_output_are_the_same_update() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path);
    let train = "--kernel rbf --test-fraction 0 --steps 30 --quiet";
    line(
        path,
        &format!("train -d old.csv --targets a,b {train} -o wide"),
    );
    line(
        path,
        &format!("train -d old-long.csv --target value --task-column name {train} -o long"),
    );
    line(path, "update -m wide -d more.csv -o wide-updated");
    let said = line(path, "update -m long -d more-long.csv -o long-updated");
    assert!(
        said.contains("32 rows before, 18 added, 0 removed, 50 after"),
        "{said}"
    );
    // Rows in another order change the roundings of training.
    let (wide, long) = (
        predicted(path, "wide-updated"),
        predicted(path, "long-updated"),
    );
    assert_near(&wide, &long, 1e-4);
}

#[test]
fn impossible_updates_are_refused_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path);
    line(
        path,
        "train -d old.csv --targets a,b --kernel rbf --test-fraction 0 --steps 2 --quiet -o run",
    );
    line(
        path,
        "train -d old-long.csv --target value --task-column name --test-fraction 0 --steps 2 --quiet -o long",
    );
    fs::write(path.join("empty.csv"), "x,a,b\n5,1,\n6,,\n").unwrap();
    fs::write(path.join("unnamed.csv"), "x,value\n5,1\n").unwrap();
    for (words, expected) in [
        (
            "-m run -d empty.csv",
            "empty.csv:3: no target of a, b is known; fill one in or remove the row",
        ),
        (
            "-m long -d unnamed.csv",
            "update needs the columns \"name\"",
        ),
        (
            "-m run --remove-before x=100",
            "--remove-before x=100 would remove all 32 rows; choose an earlier value",
        ),
        ("-m run --remove-before z=1", "--remove-before z=1:"),
    ] {
        let words = format!("update {words} -o out");
        let output = run(path, &words.split(' ').collect::<Vec<&str>>());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{said}");
        assert!(!path.join("out/weights.bpk").exists());
    }
}
