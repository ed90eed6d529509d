//! `train --by` and `train --rows`.

use std::fs;

use temp_dir::TempDir;

use crate::support::{columns, read, run, succeed};

/// Sales of three stores with slopes of their own, a store with one row, and a row without a store.
fn write_sales(path: &std::path::Path) {
    let mut text = "store,day,price,sold\n".to_owned();
    for row in 0..90 {
        let store = ["Rome", "Oslo", "a/b"][row % 3];
        let (day, price) = (row as f64 / 9.0, (row * 7 % 11) as f64);
        let slope = [1.0, -2.0, 0.0][row % 3];
        let noise = (row as f64 * 12.9898).sin() * 0.1;
        text += &format!(
            "{store},{day},{price},{}\n",
            slope * day + 0.1 * price + noise
        );
    }
    text += "Bern,1,2,3\n,4,5,6\n";
    fs::write(path, text).unwrap();
}

#[test]
fn each_value_has_a_model_of_its_own() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_sales(&path.join("sales.csv"));
    let arguments = [
        "train",
        "--data",
        "sales.csv",
        "--by",
        "store",
        "--model",
        "exact",
        "--out",
        "by",
    ];
    let output = run(path, &arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    // A single row cannot be trained, which is said and stops no other store.
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("store Bern: error:"), "{errors}");
    assert!(
        errors.contains("without a store that are left out: 1"),
        "{errors}"
    );
    let lines = columns(
        &path.join("by/results.csv"),
        &["store", "n_train", "n_test"],
    );
    let expected =
        ["Oslo", "Rome", "a/b"].map(|store| vec![store.to_owned(), "27".into(), "3".into()]);
    assert_eq!(lines, expected);
    let before = read(&path.join("by/results.csv"));
    assert_eq!(run(path, &arguments).status.code(), Some(1));
    assert_eq!(read(&path.join("by/results.csv")), before);

    // The model is that of the rows alone; the numbers of test rows are those of the file.
    let alone = [
        "train",
        "--data",
        "sales.csv",
        "--rows",
        "store=Oslo",
        "--model",
        "exact",
        "--out",
        "oslo",
    ];
    succeed(path, &alone);
    for file in ["predictions.csv", "weights.bpk"] {
        let [together, alone] =
            ["by/runs/Oslo", "oslo"].map(|run| fs::read(path.join(run).join(file)).unwrap());
        assert_eq!(together, alone, "{file}");
    }
    for row in columns(&path.join("oslo/predictions.csv"), &["row"]) {
        assert_eq!(row[0].parse::<usize>().unwrap() % 3, 1);
    }

    // Each row is predicted by the model of its store.
    fs::write(
        path.join("new.csv"),
        "store,day,price\nRome,3,1\nLima,3,1\nOslo,3,1\n,3,1\n",
    )
    .unwrap();
    succeed(
        path,
        &[
            "predict",
            "--model-dir",
            "by",
            "--data",
            "new.csv",
            "--keep=store",
            "--out",
            "p.csv",
        ],
    );
    let predicted = columns(&path.join("p.csv"), &["row", "store", "mean"]);
    let names: Vec<&str> = predicted.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(names, ["Rome", "Lima", "Oslo", ""]);
    assert!(
        predicted[1][2].is_empty() && predicted[3][2].is_empty(),
        "{predicted:?}"
    );
    let mean = |row: usize| predicted[row][2].parse::<f64>().unwrap();
    assert!(
        (mean(0) - 3.1).abs() < 0.3 && (mean(2) + 5.9).abs() < 0.3,
        "{predicted:?}"
    );
    let one = [
        "predict",
        "--model-dir",
        "oslo",
        "--data",
        "new.csv",
        "--out",
        "one.csv",
    ];
    succeed(path, &one);
    assert_eq!(
        columns(&path.join("one.csv"), &["mean"])[2][0],
        predicted[2][2]
    );
}

#[test]
fn a_folder_without_models_predicts_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(
        path.join("few.csv"),
        "store,day,sold\nRome,1,2\nRome,2,2\nOslo,2,3\nOslo,1,3\n",
    )
    .unwrap();
    let train = "train --data few.csv --by store --out by";
    let output = run(path, &train.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1));
    let predict = "predict -m by -d few.csv -o p.csv";
    refused(
        path,
        &predict.split(' ').collect::<Vec<_>>(),
        "by has no models, because all runs failed",
    );
    assert!(!path.join("p.csv").exists());
}

#[track_caller]
fn refused(path: &std::path::Path, arguments: &[&str], reason: &str) {
    let output = run(path, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert!(errors.contains(reason), "{arguments:?}: {errors}");
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_sales(&path.join("sales.csv"));
    let train = |more: &[&'static str]| {
        [
            &["train", "--data", "sales.csv", "--model", "exact"][..],
            more,
        ]
        .concat()
    };
    refused(path, &train(&["--by", "shop"]), "which does not exist");
    refused(
        path,
        &train(&["--by", "day"]),
        "most of its values are in one row only",
    );
    refused(
        path,
        &train(&["--by", "store", "--folds", "3"]),
        "cannot be used with",
    );
    refused(path, &train(&["--rows", "store"]), "COLUMN=VALUE");
    refused(
        path,
        &train(&["--rows", "store=Lima"]),
        "its values are \"Bern\", \"Oslo\", \"Rome\", \"a/b\"",
    );
    run(
        path,
        &train(&["--by", "store", "--out", "by", "--steps", "2"]),
    );
    for command in ["show", "report", "predict"] {
        let of_one = match command {
            "predict" => vec![
                "predict",
                "--model-dir",
                "by",
                "--data",
                "sales.csv",
                "--strict",
            ],
            command => vec![command, "by"],
        };
        let reason = match command {
            "predict" => "there is no model for the store \"Bern\"",
            _ => "by has a model for each store; name the folder of one, such as by/runs/Oslo",
        };
        refused(path, &of_one, reason);
    }
}
