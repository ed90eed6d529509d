//! Dates in many notations, mistakes among them, and the order of day and month.

use burn_gp_datasets::{ColumnKind, DateOrder, InputColumns};

use super::{inferred, load, new_rows, numbers, table_of};

#[test]
fn every_usual_notation_is_read() {
    for (first, second) in [
        ("03/31/2021 05:00 PM", 18_717.0 + 17.0 / 24.0),
        ("31/03/2021 11:30:00 pm", 18_717.0 + 23.5 / 24.0),
        ("2021-03-31T05:00+01:00", 18_717.0 + 4.0 / 24.0),
        ("2021-03-31 05:00:00 UTC", 18_717.0 + 5.0 / 24.0),
        (
            "2021-03-31 05:00:00.25 GMT",
            18_717.0 + (5.0 + 0.25 / 3600.0) / 24.0,
        ),
        ("Wed, 31 Mar 2021 05:00:00 GMT", 18_717.0 + 5.0 / 24.0),
        ("Wed, 31 Mar 2021 05:00:00 -0130", 18_717.0 + 6.5 / 24.0),
        ("20210331T0500", 18_717.0 + 5.0 / 24.0),
        ("20210331T050000+0000", 18_717.0 + 5.0 / 24.0),
        ("31 March 2021 05:00:00", 18_717.0 + 5.0 / 24.0),
        ("Mar 31, 2021 05:00", 18_717.0 + 5.0 / 24.0),
        ("2021.03.31 05:00", 18_717.0 + 5.0 / 24.0),
        ("31/Mar/2021:05:00:00 +0000", 18_717.0 + 5.0 / 24.0),
        ("Wed Mar 31 05:00:00 2021", 18_717.0 + 5.0 / 24.0),
        ("2021-Mar-31", 18_717.0),
        ("2021年03月31日", 18_717.0),
        ("31-03-2021 05.30", 18_717.0 + 5.5 / 24.0),
        ("2021-03-31 05", 18_717.0 + 5.0 / 24.0),
        ("20210331233000", 18_717.0 + 23.5 / 24.0),
        ("202103311200", 18_717.5),
    ] {
        let table = table_of(&[first, first, first]).replacen(
            first,
            &first.replace("31", "30").replace("Wed", "Tue"),
            1,
        );
        let data = load("a.csv", &table, &numbers(inferred()));
        let data = data.unwrap_or_else(|message| panic!("{first}: {message}"));
        assert_eq!(data.columns[0].kind, ColumnKind::Date, "{first}");
        let found = data.inputs.get(1, 0);
        assert!(
            (found - second).abs() < 1e-9,
            "{first}: {found} is not {second}"
        );
    }
}

/// A month, a quarter or a week is its first day.
#[test]
fn dates_without_a_day_are_read() {
    for (cells, days) in [
        (["Mar-21", "Apr-21"], [18_687.0, 18_718.0]),
        (["March 2021", "April 2021"], [18_687.0, 18_718.0]),
        (["2021-Mar", "2021-Apr"], [18_687.0, 18_718.0]),
        (["03/2021", "04/2021"], [18_687.0, 18_718.0]),
        (["2021-03", "2021-04"], [18_687.0, 18_718.0]),
        (["2021Q1", "2021Q2"], [18_628.0, 18_718.0]),
        (["2020-Q4", "2021-Q1"], [18_536.0, 18_628.0]),
        (["Q3 2020", "Q1 2021"], [18_444.0, 18_628.0]),
        (["2021-W09", "2021-W10"], [18_687.0, 18_694.0]),
        (["2021-W09-1", "2021-W10-3"], [18_687.0, 18_696.0]),
        (["2021-060", "2021-061"], [18_687.0, 18_688.0]),
    ] {
        let data = load("a.csv", &table_of(&cells), &numbers(inferred()));
        let data = data.unwrap_or_else(|message| panic!("{cells:?}: {message}"));
        assert_eq!(data.columns[0].kind, ColumnKind::Date, "{cells:?}");
        let found = [0, 1].map(|row| data.inputs.get(row, 0));
        assert_eq!(found, days, "{cells:?}");
    }
    // These are no dates.
    for cells in [
        ["2021Q5", "2021Q6"],
        ["Mar 1", "Apr 2"],
        ["2021-W54", "2021-W55"],
        ["12/34", "56/78"],
        ["2021-400", "2021-401"],
    ] {
        let data = load("a.csv", &table_of(&cells), &numbers(inferred())).unwrap();
        assert_ne!(data.columns[0].kind, ColumnKind::Date, "{cells:?}");
    }
}

/// 59 dates and one mistake.
#[test]
fn mistakes_among_dates_stop_with_their_line() {
    for mistake in [
        "tomorrow",
        "2021-13-01",
        "2021-02-30",
        "31.12.2021",
        "n.d.",
        "0001-01-01",
    ] {
        let cells: Vec<String> = (0..60)
            .map(|row| match row {
                41 => mistake.to_owned(),
                row => format!("2021-{:02}-{:02}", row % 12 + 1, row % 28 + 1),
            })
            .collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let message = load("a.csv", &table_of(&cells), &numbers(inferred())).unwrap_err();
        let expected = format!(
            "a.csv: column 1 (\"x\") holds dates except in 1 row, the first {mistake:?} (in line 43); correct the file, or use --kind x=date"
        );
        assert_eq!(message, expected);
        let kinds = vec!["x=date".parse().unwrap()];
        let inputs = InputColumns {
            kinds,
            ..inferred()
        };
        let data = load("a.csv", &table_of(&cells), &numbers(inputs)).unwrap();
        assert_eq!((data.columns[0].missing, data.rows()), (1, 60), "{mistake}");
    }
}

#[test]
fn day_and_month_are_not_guessed() {
    for (cells, day_first, month_first) in [
        (["02/03/2021", "04/05/2021"], 18_688.0, 18_661.0),
        (["02-03-2021", "04-05-2021"], 18_688.0, 18_661.0),
        (["02/03/21", "04/05/21"], 18_688.0, 18_661.0),
        (["02/03/2021 00:00", "04/05/2021 00:00"], 18_688.0, 18_661.0),
        (
            ["02/03/2021 12:00 AM", "01/01/2021 12:00 AM"],
            18_688.0,
            18_661.0,
        ),
        (["2/3/2021", "4/5/2021"], 18_688.0, 18_661.0),
    ] {
        let table = table_of(&cells);
        let message = load("a.csv", &table, &numbers(inferred())).unwrap_err();
        assert!(
            message.contains("whose day and month cannot be told apart (in line 2)")
                && message.contains("--date-order day-first (or month-first)"),
            "{message}"
        );
        for (order, expected) in [
            (DateOrder::DayFirst, day_first),
            (DateOrder::MonthFirst, month_first),
        ] {
            let inputs = InputColumns {
                date_order: Some(order),
                ..inferred()
            };
            let data = load("a.csv", &table, &numbers(inputs)).unwrap();
            assert_eq!(data.inputs.get(0, 0), expected, "{cells:?}");
            let new = new_rows("new.csv", &table, &data.schema).unwrap();
            assert_eq!(new.inputs.get(0, 0), expected, "{cells:?}");
        }
    }
    // A date that is valid in only one order, or dates that are equal in both, need no option.
    for cells in [
        ["02/03/2021", "13/03/2021"],
        ["02/03/2021", "03/13/2021"],
        ["01/01/2021", "02/02/2021"],
        ["31-12-20", "01-02-21"],
        ["02.03.2021", "04.05.2021"],
    ] {
        let data = load("a.csv", &table_of(&cells), &numbers(inferred())).unwrap();
        assert_eq!(data.columns[0].kind, ColumnKind::Date, "{cells:?}");
    }
}
