//! Whole numbers that double precision does not represent.

use burn_gp_datasets::{ColumnKind, Task};

use super::{inferred, labels, load, names, new_rows, numbers, table_of, with_file};

/// Pairs of neighbors that round to the same number.
const NEIGHBORS: [[&str; 2]; 6] = [
    ["9007199254740992", "9007199254740993"],
    ["-36028797018963969", "-36028797018963970"],
    ["18446744073709551614", "18446744073709551615"],
    ["4111111111111111112", "4111111111111111113"],
    [
        "123456789012345678901234567890",
        "123456789012345678901234567891",
    ],
    ["+76561198000000000001", "+76561198000000000003"],
];

#[test]
fn neighbors_are_different_levels_of_an_input() {
    for [first, second] in NEIGHBORS {
        let cells = [first, second, first, first, second];
        let data = load("a.csv", &table_of(&cells), &numbers(inferred())).unwrap();
        let digits = |text: &str| text.trim_start_matches('+').to_owned();
        let named = [first, second].map(|text| format!("x={}", digits(text)));
        assert_eq!(data.columns[0].kind, ColumnKind::Category, "{first}");
        for (row, cell) in cells.iter().enumerate() {
            let own = format!("x={}", digits(cell));
            for name in &named {
                let at = data.input_names().iter().position(|other| other == name);
                let expected = f64::from(u8::from(*name == own));
                assert_eq!(data.inputs.get(row, at.unwrap()), expected, "{name}");
            }
        }
        // The same digits in new rows, also in another format.
        let record = format!("{{\"x\": {}, \"z\": 1}}", digits(second));
        let new = new_rows("new.csv", &format!("x;z\n{second};1\n"), &data.schema).unwrap();
        assert!(new.unseen.is_empty());
        let json = new_rows("new.jsonl", &record, &data.schema).unwrap();
        assert_eq!(json.inputs, new.inputs, "{second}");
    }
}

#[test]
fn neighbors_are_different_classes() {
    for [first, second] in NEIGHBORS {
        let table = format!("z;y\n1;{first}\n2;{second}\n4;{first}\n3;{second}\n");
        let data = load("a.csv", &table, &labels(inferred())).unwrap();
        assert_eq!(names(&data).len(), 2, "{first}");
        assert_ne!(data.targets[0], data.targets[1]);
        let task = with_file("a.csv", &table, |source| {
            source.task_of(&numbers(inferred()))
        });
        assert_eq!(task, Ok(Task::BinaryClassification));
    }
}

#[test]
fn many_neighbors_are_ids() {
    let cells: Vec<String> = (0..30)
        .map(|row| format!("90071992547410{:02}", 30 + row))
        .collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let data = load("a.csv", &table_of(&cells), &numbers(inferred())).unwrap();
    assert_eq!(data.columns[0].kind, ColumnKind::Id);
    assert_eq!(data.input_names(), ["z"]);
}

#[test]
fn large_measurements_stay_numbers() {
    for cells in [
        ["1e18", "2.5e17", "3e20"],
        ["9007199254740993", "0.5", "7"],
        ["9007199254740991", "4", "5"],
        ["12345678901234567.5", "3", "8"],
        ["1.5e16", "90071992547409930.25", "2"],
    ] {
        let data = load("a.csv", &table_of(&cells), &numbers(inferred())).unwrap();
        assert_eq!(data.columns[0].kind, ColumnKind::Number, "{cells:?}");
        let expected: f64 = cells[0].parse().unwrap();
        assert_eq!(data.inputs.get(0, 0), expected);
    }
    // Rounded if the user asks for it.
    let inputs = burn_gp_datasets::InputColumns {
        kinds: vec!["x=number".parse().unwrap()],
        ..inferred()
    };
    let table = table_of(&["9007199254740993", "9007199254740999"]);
    let data = load("a.csv", &table, &numbers(inputs)).unwrap();
    assert_eq!(data.input_names(), ["x", "z"]);
}
