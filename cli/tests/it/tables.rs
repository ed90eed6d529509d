//! Tables as they come, through `train` and `predict`.

use std::fs;

use temp_dir::TempDir;

use crate::support::{columns, run, succeed};

/// 80 rows with a row number, a number with gaps, a category, truth values, texts and a target that
/// is sometimes missing.
fn table() -> String {
    let mut text = String::from("rownames,size,city,new,name,price\n");
    for row in 0..80 {
        let size = f64::from(row % 11);
        let city = ["Bern", "Rome", "Oslo"][row as usize % 3];
        let new = ["yes", "no"][row as usize % 2];
        let shown = match row % 9 {
            4 => "NA".to_owned(),
            _ => size.to_string(),
        };
        let price = 2.0 * size + f64::from(row % 3);
        let price = match row % 20 {
            7 => String::new(),
            _ => price.to_string(),
        };
        text += &format!("{},{shown},{city},{new},name {row},{price}\n", row + 1);
    }
    text
}

const TRAIN: [&str; 9] = [
    "train",
    "--data",
    "a.csv",
    "--steps",
    "30",
    "--inducing",
    "10",
    "--out",
    "run",
];

/// A folder with the table, and the output of `train` on it.
fn trained(options: &[&str]) -> (temp_dir::TempDir, String) {
    let folder = temp_dir::TempDir::new().unwrap();
    fs::write(folder.path().join("a.csv"), table()).unwrap();
    let arguments: Vec<&str> = TRAIN.iter().chain(options).copied().collect();
    let text = succeed(folder.path(), &arguments);
    (folder, text)
}

#[test]
fn the_columns_are_shown_before_training() {
    let (folder, text) = trained(&["--id", "name"]);
    let first: Vec<&str> = text.lines().take(8).collect();
    assert_eq!(
        first,
        [
            "column    kind        values            missing  use",
            "rownames  row number  1 to 80                    left out: counts the rows",
            "size      number      0 to 10                 9  2 inputs",
            "city      category    Bern, Rome, Oslo           4 inputs",
            "new       boolean     yes, no                    1 input",
            "name      id          80 different               names, groups or weighs the rows",
            "price     number      0 to 22                 4  target",
            "4 rows left out, which lack the target",
        ]
    );
    // Rows keep the numbers that they have in the file, and their names.
    let predictions = fs::read_to_string(folder.path().join("run/predictions.csv")).unwrap();
    let mut lines = predictions.lines();
    assert!(lines.next().unwrap().starts_with("row,name,y,mean"));
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields[1], format!("name {}", fields[0]));
    }
}

/// Predictions of rows with gaps, new levels, blank targets, and a row that cannot be predicted.
#[test]
fn rows_that_cannot_be_predicted_are_counted() {
    let (folder, _) = trained(&["--id", "name"]);
    let new = "name,new,city,size,price\na,yes,Bern,,\nb,no,Paris,3,5\nc,maybe,Bern,3,5\n";
    fs::write(folder.path().join("new.csv"), new).unwrap();
    let predict = ["predict", "--model-dir", "run", "--data", "new.csv"];
    let with = |options: &[&'static str]| -> Vec<&'static str> {
        predict.iter().chain(options).copied().collect()
    };
    let output = run(folder.path(), &with(&["--quantiles", "0.5"]));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "row,name,y,mean,std,lower,upper,level,quantile 0.5"
    );
    assert!(
        lines[1].starts_with("0,a,,") && lines[2].starts_with("1,b,5,"),
        "{text}"
    );
    assert_eq!(lines[3], "2,c,5,,,,,,");
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(
        warnings.contains("warning: 1 of 3 rows has no prediction; the first: new.csv:4: column 2 (\"new\") holds \"maybe\", but held \"no\" and \"yes\" in training; correct it"),
        "{warnings}"
    );
    assert!(
        warnings.contains("1 of 3 rows has a value of \"city\" that did not occur in training")
    );
    let strict = run(folder.path(), &with(&["--strict"]));
    assert_eq!(strict.status.code(), Some(2));
    let json = succeed(folder.path(), &with(&["--json", "--keep=city"]));
    let last: serde_json::Value = serde_json::from_str(json.lines().nth(2).unwrap()).unwrap();
    assert_eq!(
        (&last["city"], &last["mean"]),
        (&"Bern".into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_file_without_a_header_is_predicted_only_if_told() {
    let (folder, _) = trained(&["--inputs", "size,city"]);
    fs::write(folder.path().join("new.csv"), "1,2\n").unwrap();
    let predict = ["predict", "--model-dir", "run", "--data", "new.csv"];
    let output = run(folder.path(), &predict);
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "error: new.csv: there is no header line, so the columns cannot be matched by name; add one, or use --no-header if the columns are in the order of training\n"
    );
    fs::write(folder.path().join("new.csv"), "1,Bern\n").unwrap();
    let told: Vec<&str> = predict.into_iter().chain(["--no-header"]).collect();
    succeed(folder.path(), &told);
}

#[test]
fn the_target_tells_the_likelihood() {
    for (target, likelihood) in [
        ("new", "bernoulli"),
        ("city", "softmax"),
        ("size", "gaussian"),
    ] {
        let (folder, _) = trained(&["--target", target]);
        let metrics = fs::read_to_string(folder.path().join("run/metrics.json")).unwrap();
        let metrics: serde_json::Value = serde_json::from_str(&metrics).unwrap();
        assert_eq!(metrics["likelihood"], likelihood, "{target}");
    }
}

/// The columns of the known data sets are numbers, so there is nothing to show.
#[test]
fn known_data_sets_have_no_table_of_columns() {
    let folder = temp_dir::TempDir::new().unwrap();
    let train = ["train", "--steps", "3", "--inducing", "5", "--out", "run"];
    let text = succeed(folder.path(), &train);
    assert!(text.starts_with("data        winequality"), "{text}");
    // Columns can be left out all the same.
    let train: Vec<&str> = (train.into_iter())
        .chain(["--overwrite", "--drop", "pH,alcohol"])
        .collect();
    let text = succeed(folder.path(), &train);
    assert!(
        text.contains("left out as requested") && text.contains(", 9 inputs"),
        "{text}"
    );
}

/// Rows whose label the model does not know are predicted, but not scored.
#[test]
fn unknown_labels_are_not_scored() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = "a,kind\n".to_owned();
    (0..40).for_each(|row| text += &format!("{},{}\n", row % 2, ["x", "y"][row % 2]));
    fs::write(path.join("table.csv"), text).unwrap();
    fs::write(path.join("new.csv"), "a,kind\n0,x\n1,z\n1,w\n0,z\n").unwrap();
    let train = "train --data table.csv --model svgp --steps 20 --test-fraction 0 --out m";
    succeed(path, &train.split(' ').collect::<Vec<_>>());
    let predict = ["predict", "--model-dir", "m", "--data", "new.csv"];
    let output = run(path, &[&predict[..], &["--out", "p.csv"]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    let expected =
        "3 rows have a label that the model does not know: \"z\", \"w\"; they are not scored";
    assert!(output.status.success() && said.contains(expected), "{said}");
    let rows = columns(&path.join("p.csv"), &["y", "label"]);
    assert_eq!(rows, [["x", "x"], ["", "y"], ["", "y"], ["", "x"]]);
    let output = run(path, &[&predict[..], &["--strict"]].concat());
    assert_eq!(output.status.code(), Some(2));
}
