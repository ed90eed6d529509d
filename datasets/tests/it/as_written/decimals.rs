//! Decimal commas and thousands separators: one notation per file.

use burn_gp_datasets::{DecimalMark, InputColumns};

use super::{inferred, load, new_rows, numbers};

fn marked(decimal: DecimalMark) -> InputColumns {
    InputColumns {
        decimal: Some(decimal),
        ..inferred()
    }
}

/// The first row of a table of two inputs.
fn first_row(name: &str, text: &str, inputs: InputColumns) -> Result<Vec<f64>, String> {
    load(name, text, &numbers(inputs)).map(|data| data.inputs.row(0).to_vec())
}

#[test]
fn other_columns_tell_the_notation() {
    for (rows, expected) in [
        (["2,50;4,125;1", "3,75;5,250;2"], [2.5, 4.125]),
        (["1.234,5;7,001;1", "2,5;8,002;2"], [1234.5, 7.001]),
        (["0,512;9,999;1", "1,024;2,048;2"], [0.512, 9.999]),
        (
            ["1.234.567;3,125;1", "2.345.678;4,250;2"],
            [1_234_567.0, 3.125],
        ),
        (["12,5 %;1,100;1", "7,5 %;2,200;2"], [12.5, 1.1]),
        (["2.50;4,125;1", "3.75;5,250;2"], [2.5, 4125.0]),
        (["1,234.5;7,001;1", "2.5;8,002;2"], [1234.5, 7001.0]),
        (
            ["1,234,567;3,125;1", "2,345,678;4,250;2"],
            [1_234_567.0, 3125.0],
        ),
        (["$1,100;7;1", "$2,200;8;2"], [1100.0, 7.0]),
    ] {
        let text = format!("a;b;y\n{}\n{}\n", rows[0], rows[1]);
        let found = first_row("a.csv", &text, inferred());
        assert_eq!(found, Ok(expected.to_vec()), "{rows:?}");
        // New rows are read in the notation of training.
        let data = load("a.csv", &text, &numbers(inferred())).unwrap();
        let new = new_rows("new.csv", &text, &data.schema).unwrap();
        assert_eq!(new.inputs.row(0), expected, "{rows:?}");
    }
}

#[test]
fn the_target_tells_it_too_and_has_it() {
    let text = "a;y\n1,125;2,5\n2,250;3,25\n";
    assert_eq!(first_row("a.csv", text, inferred()), Ok(vec![1.125]));
    let data = load("a.csv", "a;y\n1,5;1,125\n2,5;2,250\n", &numbers(inferred())).unwrap();
    assert_eq!(data.targets, [1.125, 2.25]);
}

#[test]
fn what_may_be_both_is_refused_unless_the_user_says_it() {
    for (name, text) in [
        ("a.csv", "a;y\n1,100;1\n2,200;2\n"),
        ("a.tsv", "a\ty\n9,999\t1\n8,888\t2\n"),
        (
            "a.jsonl",
            "{\"a\": \"7,001\", \"y\": 1}\n{\"a\": \"8,002\", \"y\": 2}\n",
        ),
        ("a.csv", "a;y\n€ 3,125;1\n€ 4,250;2\n"),
        ("a.csv", "a;y\n1,100;4\n750;2\n"),
    ] {
        let message = first_row(name, text, inferred()).unwrap_err();
        assert!(
            message.contains("whose comma may be a decimal mark or a thousands separator (in ")
                && message.ends_with("or use --decimal , (or --decimal .)"),
            "{message}"
        );
        let comma = first_row(name, text, marked(DecimalMark::Comma)).unwrap();
        let point = first_row(name, text, marked(DecimalMark::Point)).unwrap();
        assert!(
            comma[0] < 10.0 && point[0] == 1000.0 * comma[0],
            "{comma:?} {point:?}"
        );
        // Columns that are not used do not stop a run.
        let inputs = InputColumns {
            without: vec!["a".into()],
            ..inferred()
        };
        let message = first_row(name, text, inputs).unwrap_err();
        assert!(message.contains("no column is left"), "{message}");
    }
    // Commas between fields are not decimal commas.
    let text = "a,y\n\"1,100\",1\n\"2,200\",2\n";
    assert_eq!(first_row("a.csv", text, inferred()), Ok(vec![1100.0]));
}

/// A model trained on a file with decimal commas also reads them in columns that had whole numbers.
#[test]
fn the_notation_is_that_of_all_columns() {
    for cell in ["3,5", "0,25", "1.000,5", "-2,75", "12,125"] {
        let data = load("a.csv", "a;b;y\n1,5;3;1\n2,5;4;2\n", &numbers(inferred())).unwrap();
        let new = new_rows("new.csv", &format!("a;b\n1,5;{cell}\n"), &data.schema).unwrap();
        let expected: f64 = cell.replace('.', "").replace(',', ".").parse().unwrap();
        assert_eq!(new.inputs.row(0), [1.5, expected]);
    }
}
