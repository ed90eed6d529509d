//! Truth values in several spellings, categories of two levels, numbers that are not finite, and headers of
//! numbers.

use burn_gp_datasets::{ColumnKind, InputColumns, NewRows};

use super::{inferred, labels, load, new_rows, numbers, table_of, with_file};

const SPELLINGS: [([&str; 2], [&str; 2]); 7] = [
    (["No", "Yes"], ["no", "YES"]),
    (["FALSE", "TRUE"], ["f", "T"]),
    (["false", "true"], ["0", "1"]),
    (["0", "1"], ["False", "True"]),
    (["off", "on"], ["OFF", "On"]),
    (["n", "y"], ["No", "Yes"]),
    (["F", "T"], ["false", "true"]),
];

#[test]
fn truth_values_meet_in_inputs_and_targets() {
    for ([no, yes], [new_no, new_yes]) in SPELLINGS {
        let table = table_of(&[no, yes, yes, no]);
        let data = load("a.csv", &table, &numbers(inferred())).unwrap();
        assert_eq!(data.columns[0].kind, ColumnKind::Boolean, "{no}");
        let rows = format!("x;z\n{new_no};1\n{new_yes};1\n{no};1\n");
        let new = new_rows("new.csv", &rows, &data.schema).unwrap();
        let column: Vec<f64> = (0..3).map(|row| new.inputs.get(row, 0)).collect();
        assert_eq!(column, [0.0, 1.0, 0.0], "{new_no}");
        assert!(new.unfit.is_empty());
        let table = format!("z;y\n1;{no}\n2;{yes}\n3;{yes}\n");
        let data = load("a.csv", &table, &labels(inferred())).unwrap();
        let rows = format!("z;y\n1;{new_no}\n2;{new_yes}\n");
        let new = new_rows("new.csv", &rows, &data.schema).unwrap();
        assert_eq!(new.targets, Some(vec![0.0, 1.0]), "{new_no}");
    }
}

#[test]
fn one_column_may_have_several_spellings() {
    for cells in [
        ["No", "yes", "YES", "no", "Yes"],
        ["TRUE", "false", "True", "False", "true"],
        ["on", "Off", "ON", "OFF", "on"],
        ["y", "N", "Y", "n", "y"],
        ["t", "F", "T", "f", "t"],
    ] {
        let data = load("a.csv", &table_of(&cells), &numbers(inferred())).unwrap();
        assert_eq!(data.columns[0].kind, ColumnKind::Boolean, "{cells:?}");
        let column: Vec<f64> = (0..5).map(|row| data.inputs.get(row, 0)).collect();
        let is_yes = |cell: &str| {
            "tyo".contains(&cell.to_lowercase()[..1]) && !cell.eq_ignore_ascii_case("off")
        };
        let expected = cells.map(|cell| f64::from(u8::from(is_yes(cell))));
        assert_eq!(column, expected, "{cells:?}");
    }
}

#[test]
fn two_levels_leave_room_for_a_third() {
    for [first, second, third] in [
        ["male", "female", "diverse"],
        ["left", "right", "straight"],
        ["A", "B", "C"],
        ["treated", "control", "placebo"],
        ["x1", "x2", "x3"],
    ] {
        let table = table_of(&[first, second, first, second]);
        let data = load("a.csv", &table, &numbers(inferred())).unwrap();
        let new = new_rows("new.csv", &format!("x;z\n{third};1\n"), &data.schema).unwrap();
        assert_eq!(new.unseen, [("x".to_owned(), 1)]);
        assert!(new.unfit.is_empty());
        assert_eq!(new.inputs.row(0)[..3], [0.0, 0.0, 1.0], "{third}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_refused_with_their_line() {
    for infinite in [
        "-inf",
        "Infinity",
        "+infinity",
        "-1e400",
        "1e309",
        "INF",
        "∞",
        "-∞",
        "1.#INF",
    ] {
        let table = table_of(&["1", "2", infinite, "2", "1", "3"]);
        let message = load("a.csv", &table, &numbers(inferred())).unwrap_err();
        let expected = format!(
            "a.csv: column 1 (\"x\") holds numbers that are not finite in 1 row, the first {infinite:?} (in line 4); correct the file, or use --kind x=number"
        );
        assert_eq!(message, expected);
    }
}

#[test]
fn failed_calculations_are_refused_with_their_line() {
    for error in ["#DIV/0!", "#VALUE!", "#NUM!", "#REF!", "#NAME?"] {
        let table = table_of(&["1", "2", error, "2", "1", "3"]);
        let message = load("a.csv", &table, &numbers(inferred())).unwrap_err();
        let expected = format!(
            "a.csv: column 1 (\"x\") holds numbers except in 1 row, the first {error:?} (in line 4); correct the file, or use --kind x=number"
        );
        assert_eq!(message, expected);
        let kinds = vec!["x=number".parse().unwrap()];
        let inputs = InputColumns {
            kinds,
            ..inferred()
        };
        let data = load("a.csv", &table, &numbers(inputs)).unwrap();
        assert_eq!(data.input_names(), ["x", "x is missing", "z"], "{error}");
    }
}

#[test]
fn a_header_may_hold_numbers() {
    let with_header = InputColumns {
        header: Some(true),
        ..inferred()
    };
    for header in [
        "2018;2019;2020",
        "1;2;3",
        "0.5;1.5;2.5",
        "10;20;y",
        "7;8;10",
    ] {
        let mut roles = numbers(with_header.clone());
        roles.target = "-1".parse().unwrap();
        let table = format!("{header}\n5;1.5;7\n6;2.5;8\n9;1.5;5\n");
        let data = load("a.csv", &table, &roles).unwrap();
        assert_eq!(data.rows(), 3);
        let names: Vec<&str> = header.split(';').collect();
        assert_eq!(data.input_names(), &names[..2]);
        let rows = NewRows {
            header: Some(true),
            ..NewRows::default()
        };
        let new = with_file("new.csv", format!("{header}\n5;1.5;7\n"), |source| {
            source.load_new_rows(&data.schema, &rows)
        });
        assert_eq!(new.unwrap().inputs.rows(), 1, "{header}");
    }
}
