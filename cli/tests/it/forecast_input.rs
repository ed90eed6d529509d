//! `forecast`: what is said about data that are unusual or wrong.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use temp_dir::TempDir;

use crate::support::{columns, read, run, succeed};

/// The value of a day with a week.
fn value(row: usize) -> usize {
    50 + 10 * (row % 7) + (row * 7919) % 5
}

/// A day of spring 2024, counted from the first of March.
fn day(row: usize) -> String {
    let (month, day) = match row {
        0..31 => (3, row),
        31..61 => (4, row - 31),
        _ => (5, row - 61),
    };
    format!("2024-{month:02}-{:02}", day + 1)
}

/// Eighty days with a week, and columns that say nothing.
fn write_days(path: &Path) {
    let mut text = String::from("day,fee,rate,visits\n");
    for row in 0..80 {
        writeln!(text, "{},3,{},{}", day(row), row % 4, value(row)).unwrap();
    }
    // The rate of the future is another one.
    for row in 80..92 {
        writeln!(text, "{},3,9,", day(row)).unwrap();
    }
    fs::write(path.join("days.csv"), text).unwrap();
}

/// The standard output, the standard error and the code of a run.
fn output(path: &Path, line: &str) -> (String, String, i32) {
    let output = run(path, &line.split(' ').collect::<Vec<_>>());
    let [out, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (out, errors, output.status.code().unwrap())
}

/// A window of a billion steps takes no more work than one of three.
#[test]
fn events_may_last_for_ever() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_days(path);
    let events = "day,event,window\n2024-04-10,fair,1000000000000\n2024-03-05,rain,1\n";
    fs::write(path.join("events.csv"), events).unwrap();
    let line =
        "forecast -d days.csv --target visits --events events.csv --origins 0 --horizon 9 -o run";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    let rows = columns(
        &path.join("run/components.csv"),
        &["component", "time", "mean"],
    );
    let of = |event: &str, time: &str| {
        let found = rows.iter().find(|row| row[0] == event && row[1] == time);
        found.unwrap()[2].parse::<f64>().unwrap()
    };
    assert_eq!(of("fair", "2024-04-09"), 0.0);
    assert_ne!(of("fair", "2024-04-10"), 0.0);
    // The effect never changes, except for rounding errors.
    for (event, first, last) in [
        ("fair", "2024-04-10", "2024-05-28"),
        ("rain", "2024-03-05", "2024-03-06"),
    ] {
        assert!((of(event, first) - of(event, last)).abs() < 1e-6, "{event}");
    }
    assert_eq!(of("rain", "2024-03-07"), 0.0);
    // They go on after a continuation, too.
    let line = "forecast --model-dir run --horizon 30 -o next";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    let rows = columns(
        &path.join("next/components.csv"),
        &["component", "time", "mean"],
    );
    let last = rows.iter().rev().find(|row| row[0] == "fair").unwrap();
    assert_eq!(last[1], "2024-06-18");
    assert_ne!(last[2], "0");
}

#[test]
fn rows_without_the_name_of_a_series_are_counted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = String::from("day,shop,price,visits\n");
    for row in 0..40 {
        writeln!(text, "{},north,{},{}", day(row), row % 3, value(row)).unwrap();
        if row < 6 {
            // Two prices of one day.
            writeln!(text, "{},,1,5\n{},,2,6", day(row), day(row)).unwrap();
        }
    }
    fs::write(path.join("shops.csv"), text).unwrap();
    let line = "forecast -d shops.csv --by shop --origins 0 --horizon 3 -o run";
    let (out, errors, _) = output(path, line);
    assert_eq!(errors, "");
    let first = out.lines().next().unwrap();
    assert_eq!(
        first,
        "visits: 40 values, daily, 12 rows without a name in shop left out"
    );
    let rows = columns(&path.join("run/forecast.csv"), &["series"]);
    assert!(
        rows.len() == 3 && rows.iter().all(|row| row[0] == "north"),
        "{rows:?}"
    );

    let new = "day,shop,price,visits\n2024-04-10,north,1,60\n2024-04-10,,1,60\n";
    fs::write(path.join("new.csv"), new).unwrap();
    let (out, errors, _) = output(path, "forecast --model-dir run -d new.csv -o next");
    assert_eq!(errors, "");
    assert!(
        out.starts_with("visits: 41 values, daily, 1 row without a name in shop left out\n"),
        "{out}"
    );

    fs::write(
        path.join("none.csv"),
        "day,shop,y\n2024-01-01,,1\n2024-01-02,,2\n",
    )
    .unwrap();
    let (_, errors, code) = output(path, "forecast -d none.csv --by shop");
    assert_eq!(
        errors,
        "error: none: no row has a name in the column of --by\n"
    );
    assert_eq!(code, 2);
}

/// Midnights on the clock on the wall are a day apart, also when the clocks change.
#[test]
fn times_with_an_offset_stay_local() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut text = String::from("time,visits\n");
    for row in 0..70 {
        // From the last day of March on, clocks are an hour ahead.
        let offset = if row <= 30 { "+01:00" } else { "+02:00" };
        writeln!(text, "{}T00:00:00{offset},{}", day(row), value(row)).unwrap();
    }
    fs::write(path.join("local.csv"), &text).unwrap();
    let line = "forecast -d local.csv --origins 0 --horizon 2 -o run";
    let (out, errors, _) = output(path, line);
    assert_eq!(
        errors,
        "times are local: their offsets from UTC are left out\n"
    );
    assert!(out.starts_with("visits: 70 values, daily\n"), "{out}");
    assert!(out.contains("weekly season"), "{out}");
    let times = columns(&path.join("run/forecast.csv"), &["time"]);
    assert_eq!(times, [["2024-05-10"], ["2024-05-11"]]);
    // New rows are read by the same clock.
    let new = "time,visits\n2024-05-10 00:00:00+02:00,70\n2024-05-11 00:00:00+02:00,60\n";
    fs::write(path.join("new.csv"), new).unwrap();
    let (_, errors, code) = output(path, "forecast --model-dir run -d new.csv -o next");
    assert_eq!((errors.as_str(), code), ("", 0));
    let times = columns(&path.join("next/forecast.csv"), &["time"]);
    assert_eq!(times, [["2024-05-12"], ["2024-05-13"]]);
    // Universal times need no remark.
    let universal = text.replace("+01:00", "Z").replace("+02:00", "Z");
    fs::write(path.join("universal.csv"), universal).unwrap();
    let line = "forecast -d universal.csv --origins 0 --horizon 2 -o universal";
    assert_eq!(output(path, line).1, "");

    // Every other row without its offset.
    let without = |(row, line): (usize, &str)| match row % 2 {
        1 => format!("{}\n", line.replace("+01:00", "").replace("+02:00", "")),
        _ => format!("{line}\n"),
    };
    let mixed: String = text.lines().enumerate().map(without).collect();
    fs::write(path.join("mixed.csv"), mixed).unwrap();
    let (_, errors, code) = output(path, "forecast -d mixed.csv --time time");
    assert_eq!(
        errors,
        "error: mixed.csv: column 1 (\"time\") holds times of which some have an offset from UTC and others have none: \
         \"2024-03-01T00:00:00\" has no offset (in line 2); correct the file\n"
    );
    assert_eq!(code, 2);
}

#[test]
fn what_is_left_out_is_said() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_days(path);
    fs::write(path.join("events.csv"), "day,event\n2024-05-25,fair\n").unwrap();
    for (line, expected) in [
        (
            "--covariates fee --origins 0",
            "warning: the covariate \"fee\" is left out: the same in every row\n",
        ),
        (
            "--season 41,7 --origins 0",
            "warning: the season of 41 steps is left out: the values from which the model is chosen do not contain it twice\n",
        ),
        (
            "--events events.csv --origins 0",
            "warning: the event \"fair\" is left out: it has not happened while there are values, so that its effect is unknown\n",
        ),
        (
            "--origins 30",
            "warning: 14 of 30 origins are scored: the values before the others are too few\n",
        ),
        (
            "--future days.csv --origins 0",
            "warning: --future is left out: no --covariates are named\n",
        ),
    ] {
        let line =
            format!("forecast -d days.csv --target visits --horizon 5 -o run --overwrite {line}");
        let (_, errors, code) = output(path, &line);
        assert_eq!((errors.as_str(), code), (expected, 0), "{line}");
    }
    // A rate that changes in the future alone.
    let flat = (read(&path.join("days.csv")).lines())
        .map(|line| match line.ends_with(",9,") {
            true => format!("{line}\n"),
            false => format!(
                "{}\n",
                line.replace(",3,0,", ",3,2,")
                    .replace(",3,1,", ",3,2,")
                    .replace(",3,3,", ",3,2,")
            ),
        })
        .collect::<String>();
    fs::write(path.join("flat.csv"), flat).unwrap();
    let line =
        "forecast -d flat.csv --target visits --covariates rate --horizon 5 --origins 0 -o flat";
    let (out, errors, _) = output(path, line);
    assert_eq!(
        errors,
        "warning: the covariate \"rate\" is left out: it is constant while there are values, so that its effect is unknown\n"
    );
    assert!(!out.contains("rate"), "{out}");
    // The same rows again.
    let (_, errors, code) = output(path, "forecast --model-dir flat -d flat.csv -o again");
    assert_eq!(
        (errors.as_str(), code),
        (
            "warning: there is no new value: every series ends where it did before\n",
            0
        )
    );
}

#[test]
fn wrong_input_is_refused_in_the_words_of_this_command() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_days(path);
    fs::write(path.join("late.csv"), "date,event\n2024-05-20,fair\n").unwrap();
    fs::write(path.join("price.csv"), "day,price\n2024-05-20,1\n").unwrap();
    let bad = read(&path.join("days.csv")).replace("2024-03-04", "2024-02-30");
    fs::write(path.join("bad.csv"), bad).unwrap();
    let one = (0..20)
        .map(|row| format!("2024-03-01,{row}\n"))
        .collect::<String>();
    fs::write(path.join("one.csv"), format!("day,y\n{one}")).unwrap();
    let zeros = (0..20)
        .map(|row| format!("{},{}\n", day(row), row % 3))
        .collect::<String>();
    fs::write(path.join("zeros.csv"), format!("day,y\n{zeros}")).unwrap();
    for (line, expected) in [
        (
            "-d days.csv --target visits --covariates visits",
            "--covariates names \"visits\", which is the column of values; leave it out",
        ),
        (
            "-d days.csv --target visits --covariates rate,day",
            "--covariates names \"day\", which is the column of times; leave it out",
        ),
        (
            "-d zeros.csv --transform log",
            "--transform log needs positive values, but y is 0 at 2024-03-01; use --transform none or auto",
        ),
        (
            "-d bad.csv --target visits --time day",
            "bad.csv: column 1 (\"day\") holds dates except in 1 row, the first \"2024-02-30\" (in line 5); correct the file",
        ),
        (
            "-d bad.csv --target visits",
            "bad.csv: column 1 (\"day\") holds dates except in 1 row, the first \"2024-02-30\" (in line 5); \
             correct the file, or name the column of times with --time",
        ),
        ("-d one.csv", "one.csv: all rows have the same time"),
        (
            "-d one.csv --time day",
            "one.csv: all rows have the same time",
        ),
        (
            "-d days.csv --target visits --covariates rate --future price.csv",
            "price.csv: there is no column \"rate\"; the table needs the columns \"day\", \"rate\"",
        ),
        (
            "-d days.csv --target visits --events late.csv",
            "late.csv: there is no column \"day\"; the table needs the columns \"day\", \"event\"",
        ),
        (
            "-d days.csv --time day --target visits --events price.csv",
            "price.csv: there is no column \"event\"; events have the columns \"day\" and \"event\"",
        ),
        (
            "-d zeros.csv --events one.csv --time day",
            "one.csv: there is no column \"event\"; events have the columns \"day\" and \"event\"",
        ),
        (
            "--model-dir nope",
            "there is no forecast in nope; check the path, or make one with `burn-gp forecast --out`",
        ),
    ] {
        let (_, errors, code) = output(path, &format!("forecast {line}"));
        assert_eq!(
            (errors, code),
            (format!("error: {expected}\n"), 2),
            "{line}"
        );
    }
}

#[test]
fn folders_of_forecast_and_train_are_told_apart() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_days(path);
    let line = "forecast -d days.csv --target visits --horizon 2 --origins 0 -o ahead";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    let line = "train -d days.csv --target visits --model exact --steps 2 -o trained";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    for line in [
        "show ahead",
        "predict --model-dir ahead -d days.csv",
        "report ahead",
    ] {
        let (_, errors, code) = output(path, line);
        assert_eq!(
            errors,
            "error: ahead is a folder of `forecast`; use `burn-gp forecast --model-dir ahead`\n",
            "{line}"
        );
        assert_eq!(code, 2);
    }
    let (_, errors, code) = output(path, "forecast --model-dir trained -d days.csv");
    assert_eq!(
        errors,
        "error: trained is a folder of `train`; use `burn-gp predict` or `burn-gp update`\n"
    );
    assert_eq!(code, 2);
}

#[test]
fn the_help_says_what_options_need() {
    let folder = TempDir::new().unwrap();
    let help = succeed(folder.path(), &["forecast", "--help"]);
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "optionally the --by column, and `window`: for how many more steps the event lasts",
        "short-term autocorrelation (deviations that last a few steps)",
        "Time and memory grow linearly with the number of values",
        "Future values come from --future, or from rows of the data whose target is empty",
        "Update the models of this folder with the new rows of --data and forecast, without retraining",
        "day, week and year, whenever longer than one step",
    ] {
        assert!(words.contains(expected), "{expected}: {words}");
    }
}
