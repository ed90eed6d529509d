//! Labels that usually mark a missing value, and gaps.

use burn_gp_datasets::{
    ColumnRoles, DataWarning, EqualInputs, InputColumns, Labels, MissingValues, NewRows, Split,
    Task, warnings, warnings_of_new_rows,
};

use super::{inferred, labels, load, names, new_rows, numbers, with_file};

fn table(targets: &[&str]) -> String {
    let rows = targets.iter().enumerate();
    let rows = rows.map(|(row, target)| format!("{row}.5,{target}\n"));
    "x,y\n".to_owned() + &rows.collect::<String>()
}

fn marked(markers: &[&str]) -> InputColumns {
    InputColumns {
        missing_values: Some(markers.iter().map(|&marker| marker.to_owned()).collect()),
        ..inferred()
    }
}

/// The warnings about the data.
fn told(table: &str, inputs: InputColumns) -> Vec<DataWarning> {
    let data = load("a.csv", table, &labels(inputs)).unwrap();
    let equal = EqualInputs::among(&data.inputs);
    warnings(&data, &equal, &Split::default())
}

#[test]
fn classes_that_other_labels_make_plausible_stay() {
    for (targets, classes, task) in [
        (
            &["++", "--", "++"][..],
            &["++", "--"][..],
            Task::BinaryClassification,
        ),
        (&["?", "!", "?!"], &["!", "?", "?!"], Task::Classification),
        (
            &[".", ":", ";", "."],
            &[".", ":", ";"],
            Task::Classification,
        ),
        (
            &["na", "en", "de"],
            &["de", "en", "na"],
            Task::Classification,
        ),
        (
            &["ALT", "REF", "NAN", "REF"],
            &["ALT", "NAN", "REF"],
            Task::Classification,
        ),
        (
            &["Missing", "Found", "Found"],
            &["Found", "Missing"],
            Task::BinaryClassification,
        ),
        (
            &["nil", "one", "two"],
            &["nil", "one", "two"],
            Task::Classification,
        ),
        (
            &["nan", "inf", "zero"],
            &["inf", "nan", "zero"],
            Task::Classification,
        ),
        // Without the marker there would be one class.
        (
            &["NULL", "alt", "alt"],
            &["NULL", "alt"],
            Task::BinaryClassification,
        ),
        (
            &["ok", "#N/A", "ok"],
            &["#N/A", "ok"],
            Task::BinaryClassification,
        ),
        (
            &["?", "spam", "spam"],
            &["?", "spam"],
            Task::BinaryClassification,
        ),
        (
            &["-", "positive", "-"],
            &["-", "positive"],
            Task::BinaryClassification,
        ),
        (
            &["yes", "n/a", "yes"],
            &["n/a", "yes"],
            Task::BinaryClassification,
        ),
        (
            &["-", "0", "+", "0", "-"],
            &["+", "-", "0"],
            Task::Classification,
        ),
    ] {
        let text = table(targets);
        let data = load("a.csv", &text, &labels(inferred())).unwrap();
        let mut found = names(&data).to_vec();
        found.sort();
        assert_eq!(found, classes, "{targets:?}");
        assert_eq!((data.rows(), data.left_out), (targets.len(), 0));
        let found = with_file("a.csv", &text, |source| {
            source.task_of(&numbers(inferred()))
        });
        assert_eq!(found, Ok(task), "{targets:?}");
        // The warning names them, and new rows know them.
        let is_told = |warning: &DataWarning| matches!(warning, DataWarning::UnusualLabels { .. });
        assert_eq!(
            told(&text, inferred())
                .iter()
                .filter(|own| is_told(own))
                .count(),
            1
        );
        let new = new_rows("new.csv", &text, &data.schema).unwrap();
        assert_eq!(new.targets, Some(data.targets), "{targets:?}");
    }
}

#[test]
fn rows_left_out_are_counted_with_what_they_hold() {
    for (marker, others) in [
        ("N/A", ["yes", "no"]),
        ("?", ["edible", "poisonous"]),
        ("NA", ["NO", "YES"]),
        ("NULL", ["low", "high"]),
        ("<NA>", ["1", "2"]),
        ("--", ["cat", "dog"]),
    ] {
        let text = table(&[others[0], marker, others[1], others[0], marker]);
        let expected = DataWarning::RowsWithoutTarget {
            count: 2,
            name: "y".into(),
            markers: vec![marker.into()],
        };
        assert_eq!(
            told(&text, inferred()),
            std::slice::from_ref(&expected),
            "{marker}"
        );
        assert_eq!(
            expected.to_string(),
            format!(
                "2 rows are left out because the target \"y\" is missing; {marker:?} stands for a missing value there, unless --missing-values says otherwise"
            )
        );
    }
}

#[test]
fn the_user_says_what_is_missing() {
    for (markers, targets, classes) in [
        (&["unknown"][..], ["a", "NA", "unknown"], &["NA", "a"][..]),
        (&["-999"], ["1", "-999", "2"], &["1", "2"]),
        (&["-"], ["+", "-", "0"], &["+", "0"]),
        (&["?", "NA"], ["yes", "?", "no"], &["no", "yes"]),
        (&[""], ["yes", "?", "no"], &["?", "no", "yes"]),
        (&["b"], ["a", "b", "missing"], &["a", "missing"]),
    ] {
        let text = table(&targets);
        let data = load("a.csv", &text, &labels(marked(markers))).unwrap();
        let mut found = names(&data).to_vec();
        found.sort();
        assert_eq!(found, classes, "{markers:?}");
        // The model stores the choice.
        let new = new_rows("new.csv", &text, &data.schema).unwrap();
        let gaps = new
            .targets
            .unwrap()
            .iter()
            .filter(|target| target.is_nan())
            .count();
        assert_eq!(gaps, data.left_out, "{markers:?}");
    }
    // A category and a class order have all labels that they name.
    let kinds = vec!["y=category".parse().unwrap()];
    let chosen = InputColumns {
        kinds,
        ..inferred()
    };
    let data = load("a.csv", &table(&["yes", "no", "n/a"]), &labels(chosen)).unwrap();
    assert_eq!(names(&data), ["n/a", "no", "yes"]);
    for order in [
        "no,?,yes",
        "no,yes,NA",
        ".,no,yes",
        "null,no,yes",
        "no,-,yes",
    ] {
        let labels: Vec<&str> = order.split(',').collect();
        let roles = ColumnRoles {
            labels: Some(Labels::InOrder(order.parse().unwrap())),
            ..numbers(inferred())
        };
        let text = table(&labels);
        let data = load("a.csv", &text, &roles).unwrap();
        assert_eq!(names(&data), labels);
        let task = with_file("a.csv", &text, |source| source.task_of(&roles));
        assert_eq!(task, Ok(Task::Classification));
    }
}

#[test]
fn markers_of_the_user_hold_for_inputs() {
    for (marker, cells) in [
        ("-999", ["1.5", "-999", "2.5"]),
        ("999.9", ["1.5", "999.90", "2.5"]),
        ("none given", ["1.5", "none given", "2.5"]),
        ("x", ["1.5", "x", "2.5"]),
        ("*", ["1.5", "*", "2.5"]),
    ] {
        let rows = cells.map(|cell| format!("{cell},1\n")).concat();
        let text = format!(
            "x,z,y\n{}",
            rows.replace(",1\n", ",1,3\n").replacen(",3", ",4", 1)
        );
        let data = load("a.csv", &text, &numbers(marked(&[marker]))).unwrap();
        assert_eq!(data.input_names(), ["x", "x is missing"], "{marker}");
        let new = new_rows("new.csv", &format!("x,z\n{marker},1\n"), &data.schema).unwrap();
        assert_eq!(new.inputs.get(0, 1), 1.0, "{marker}");
    }
}

/// Gaps in columns that have none in training.
#[test]
fn gaps_that_training_did_not_have_are_filled() {
    let lines = [
        "1.5,red,yes,2020-01-01,7",
        "2.5,blue,no,2020-02-03,5",
        "4,green,yes,2021-03-01,6",
    ];
    let text = format!("size,color,new,day,y\n{}\n", lines.join("\n"));
    let load_with = |missing| {
        let inputs = InputColumns {
            missing,
            ..inferred()
        };
        load("a.csv", &text, &numbers(inputs)).unwrap().schema
    };
    let rows = NewRows {
        fill_gaps: true,
        ..NewRows::default()
    };
    for (column, gap) in [
        ("size", ",red,yes,2020-01-01,7"),
        ("size", "NA,red,yes,2020-01-01,7"),
        ("color", "1,,yes,2020-01-01,7"),
        ("new", "1,red,?,2020-01-01,7"),
        ("day", "1,red,yes,null,7"),
    ] {
        let new = format!("size,color,new,day,y\n{}\n{gap}\n{gap}\n", lines[0]);
        for missing in [
            MissingValues::Indicator,
            MissingValues::Mean,
            MissingValues::Median,
        ] {
            let schema = load_with(missing);
            let found = with_file("new.csv", &new, |source| {
                source.load_new_rows(&schema, &rows)
            });
            let found = found.unwrap();
            assert_eq!(found.filled, [(column.to_owned(), 2)], "{gap}");
            assert!(found.unfit.is_empty());
            let told = warnings_of_new_rows(&found, &[]);
            assert!(
                told[0]
                    .to_string()
                    .starts_with("2 of 3 rows have no value in")
            );
        }
        for missing in [MissingValues::Drop, MissingValues::Refuse] {
            let schema = load_with(missing);
            let found = with_file("new.csv", &new, |source| {
                source.load_new_rows(&schema, &rows)
            });
            assert!(found.unwrap_err().starts_with("new.csv:3: column"), "{gap}");
        }
    }
}
