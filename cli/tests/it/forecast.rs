//! `forecast`: series over time.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use temp_dir::TempDir;

use crate::support::{columns, numbers, read, run, succeed};

/// Months of two stores with a trend and a yearly season, of one that is constant, and of one with three rows.
fn write_sales(path: &Path) {
    let mut random = ChaCha8Rng::seed_from_u64(21);
    let mut text = String::from("store,note,date,sales\n");
    for month in 0..72 {
        let date = format!("{}-{:02}-01", 2015 + month / 12, month % 12 + 1);
        let phase = std::f64::consts::TAU * f64::from(month) / 12.0;
        for (store, level) in [("north", 100.0), ("south", 40.0)] {
            // A gap in one store.
            if (store, month) != ("south", 30) {
                let noise: f64 = random.random_range(-2.0..2.0);
                let value = level + 0.5 * f64::from(month) + 0.2 * level * phase.sin() + noise;
                writeln!(text, "{store},x,{date},{value:.3}").unwrap();
            }
        }
        writeln!(text, "flat,y,{date},7").unwrap();
        if month < 3 {
            writeln!(text, "new,z,{date},{month}").unwrap();
        }
    }
    fs::write(path, text).unwrap();
}

/// Days from January 2024 on, with a week.
fn write_days(path: &Path) {
    let mut text = String::from("day,visits\n");
    let mut row = 0;
    for (month, days) in [(1, 31), (2, 29), (3, 31), (4, 21)] {
        for day in 1..=days {
            let value = 50 + 10 * (row % 7) + (row * 7919) % 5;
            writeln!(text, "2024-{month:02}-{day:02},{value}").unwrap();
            row += 1;
        }
    }
    fs::write(path, text).unwrap();
}

#[test]
fn series_of_a_table_are_forecast_with_scores_and_pictures() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_sales(&path.join("sales.csv"));
    let line = "forecast -d sales.csv --time date --target sales --by store --horizon 12 --origins 2 -o run";
    let text = succeed(path, &line.split(' ').collect::<Vec<_>>());
    let run = path.join("run");
    // What was found, a line for each series in words, and the table of scores.
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "sales: 4 series, 218 values, monthly, 1 missing");
    assert!(
        lines[1].starts_with("north: ") && lines[1].contains("yearly season"),
        "{text}"
    );
    assert!(lines[1].contains("MASE"), "{text}");
    assert!(
        lines[3].starts_with("flat: seasonal naive, because all values"),
        "{text}"
    );
    assert_eq!(
        lines[4],
        "new: naive, because the length of the series is 3; a model needs at least 5"
    );
    assert!(
        text.contains("seasonal naive   ")
            && text.contains("\nETS  ")
            && text.contains("within 80 %"),
        "{text}"
    );

    let rows = columns(&run.join("forecast.csv"), &["series", "time"]);
    assert_eq!(rows.len(), 4 * 12);
    assert_eq!(rows[0], ["north", "2021-01-01"]);
    assert_eq!(rows[11], ["north", "2021-12-01"]);
    assert_eq!(rows[36], ["new", "2015-04-01"]);
    let names = [
        "lower_95", "lower_80", "q10", "median", "q90", "upper_80", "upper_95",
    ];
    for names in names.windows(2) {
        let (low, high) = (
            numbers(&run.join("forecast.csv"), names[0]),
            numbers(&run.join("forecast.csv"), names[1]),
        );
        assert!(
            low.iter()
                .zip(&high)
                .all(|(low, high)| *low <= *high + 1e-9),
            "{names:?}"
        );
    }
    // The truth of a year later, within the noise of two and an error of the trend.
    let medians = numbers(&run.join("forecast.csv"), "median");
    for (month, median) in medians[..12].iter().enumerate() {
        let phase = std::f64::consts::TAU * month as f64 / 12.0;
        let truth = 136.0 + 0.5 * month as f64 + 20.0 * phase.sin();
        assert!((median - truth).abs() < 6.0, "{month}: {median} {truth}");
    }

    let metrics: serde_json::Value =
        serde_json::from_str(&read(&run.join("metrics.json"))).unwrap();
    assert_eq!(metrics["frequency"], "monthly");
    assert_eq!(metrics["horizon"], 12);
    let north = &metrics["series"][0];
    assert_eq!((&north["rows"], &north["origins"]), (&72.into(), &2.into()));
    let score = |name: &str| north["scores"][name]["crps"].as_f64().unwrap();
    assert!(score("model") < score("seasonal naive"), "{north}");
    assert!(north["candidates"].as_array().unwrap().len() > 4);
    assert!(metrics["scores"]["model"]["coverage"][0].as_f64().unwrap() > 0.4);

    // Two origins of twelve months for the two stores with a model.
    let past = columns(&run.join("backtest.csv"), &["series", "origin", "time"]);
    assert_eq!(past.len(), 2 * 2 * 12);
    assert_eq!(past[0], ["north", "2018-12-01", "2019-01-01"]);
    let parts = columns(&run.join("components.csv"), &["component"]);
    assert!(parts.iter().any(|part| part[0] == "yearly season"));
    for picture in ["forecast.svg", "components.svg"] {
        assert!(read(&run.join(picture)).starts_with("<svg"), "{picture}");
    }
    // The folder can be replaced.
    let again = "forecast -d sales.csv --time date --target sales --by store --horizon 1 --origins 0 -o run";
    let again: Vec<&str> = again.split(' ').collect();
    let refused = crate::support::run(path, &again);
    assert_eq!(refused.status.code(), Some(2));
    succeed(path, &[&again[..], &["--overwrite"]].concat());
    assert_eq!(columns(&run.join("forecast.csv"), &["time"]).len(), 4);
}

/// The column of dates, the target, the horizon and the folder have defaults; days have a weekly season.
#[test]
fn everything_but_the_data_has_a_default() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_days(&path.join("visits.csv"));
    let text = succeed(path, &["forecast", "-d", "visits.csv", "--origins", "1"]);
    assert!(text.starts_with("visits: 112 values, daily\n"), "{text}");
    assert!(text.contains("weekly season"), "{text}");
    let file = path.join("visits-forecast/forecast.csv");
    assert_eq!(columns(&file, &["time"]).len(), 14);
}

/// A table with one series that is constant has the forecast of a baseline, as it has among other series.
#[test]
fn a_constant_series_alone_has_a_baseline() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let rows = (0..40).map(|row| format!("{}-{:02}-01,7\n", 2000 + row / 12, row % 12 + 1));
    let text = format!("date,y\n{}", rows.collect::<String>());
    fs::write(path.join("flat.csv"), text).unwrap();
    let line = "forecast -d flat.csv --horizon 3 -o run";
    let text = succeed(path, &line.split(' ').collect::<Vec<_>>());
    assert!(
        text.contains("seasonal naive, because all values of the series are 7"),
        "{text}"
    );
    assert_eq!(numbers(&path.join("run/forecast.csv"), "median"), [7.0; 3]);
}

/// A day of spring 2024, counted from the first of March.
fn spring_day(row: usize) -> String {
    let (month, day) = match row {
        0..31 => (3, row),
        31..61 => (4, row - 31),
        61..92 => (5, row - 61),
        _ => (6, row - 92),
    };
    format!("2024-{month:02}-{:02}", day + 1)
}

/// Days of two shops with a week, a price that is known in the future, and a fair.
fn write_prices(path: &Path) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut text = String::from("shop,day,price,sales\n");
    let mut future = String::from("shop,day,price\n");
    let week = [0.0, 1.0, 3.0, 2.0, 0.0, -2.0, -4.0];
    for row in 0..98 {
        let day = spring_day(row);
        for shop in ["a", "b"] {
            let price: f64 = random.random_range(1.0..4.0);
            let noise: f64 = random.random_range(-0.5..0.5);
            let fair = if row % 20 == 7 { 8.0 } else { 0.0 };
            let value = 50.0 + week[row % 7] - 4.0 * price + fair + noise;
            match row {
                0..84 => writeln!(text, "{shop},{day},{price:.3},{value:.3}").unwrap(),
                _ => writeln!(future, "{shop},{day},{price:.3}").unwrap(),
            }
        }
    }
    fs::write(path.join("sales.csv"), text).unwrap();
    fs::write(path.join("future.csv"), future).unwrap();
    let fairs = [7, 27, 47, 67, 87].map(|row| format!("{},fair\n", spring_day(row)));
    let events = format!("day,event\n{}2024-06-02,parade\n", fairs.concat());
    fs::write(path.join("events.csv"), events).unwrap();
}

#[test]
fn covariates_and_events_are_known_in_the_future() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_prices(path);
    let line = "forecast -d sales.csv --time day --by shop --covariates price --events events.csv \
                --season none --origins 1 --horizon 7";
    let line: Vec<&str> = line.split(' ').collect();
    // Every step of the forecast needs a price.
    let refused = run(path, &[&line[..], &["-o", "run"]].concat());
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(
        error,
        "warning: the event \"parade\" is left out: it has not happened while there are values, so that its effect is unknown\n\
         error: a: price has no value at 2024-05-24; the forecast needs it, in a row of --future or of the data\n"
    );
    // A gap in the table of the future is named by row and column.
    let future = read(&path.join("future.csv"));
    let without_price = |(row, line): (usize, &str)| match row {
        3 => "a,2024-05-25,\n".to_owned(),
        _ => format!("{line}\n"),
    };
    let gap: String = future.lines().enumerate().map(without_price).collect();
    fs::write(path.join("gap.csv"), gap).unwrap();
    let refused = run(
        path,
        &[&line[..], &["--future", "gap.csv", "-o", "run"]].concat(),
    );
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(
        error,
        "error: gap.csv:4: column 3 (\"price\") has no value; fill it in or remove the row\n"
    );

    let text = succeed(
        path,
        &[&line[..], &["--future", "future.csv", "-o", "run"]].concat(),
    );
    // The parade never happened before.
    let first = text.lines().nth(1).unwrap();
    assert!(first.contains(" + price + fair"), "{text}");
    assert!(!text.contains("parade"), "{text}");
    let rows = columns(&path.join("run/components.csv"), &["component"]);
    assert!(rows.iter().any(|row| row[0] == "price") && rows.iter().any(|row| row[0] == "fair"));
    // Prices explain more than half of the error of the other forecasts.
    let metrics: serde_json::Value =
        serde_json::from_str(&read(&path.join("run/metrics.json"))).unwrap();
    let crps = |name: &str| metrics["scores"][name]["crps"].as_f64().unwrap();
    assert!(crps("model") < 0.7 * crps("naive"), "{metrics}");
}

/// The models of a folder forecast again with new rows, without training.
#[test]
fn a_forecast_goes_on_with_new_rows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_sales(&path.join("sales.csv"));
    let all = read(&path.join("sales.csv"));
    let early: String = all
        .lines()
        .filter(|line| !line.contains("2020-1"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(path.join("early.csv"), early).unwrap();
    let line = "forecast -d early.csv --time date --target sales --by store --horizon 12 --origins 0 -o run";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    // The same models, without new rows: the same forecast.
    let line = "forecast --model-dir run -o again";
    let text = succeed(path, &line.split(' ').collect::<Vec<_>>());
    assert!(text.contains("yearly season"), "{text}");
    let file = |folder: &str| path.join(folder).join("forecast.csv");
    let (own, again) = (
        numbers(&file("run"), "median"),
        numbers(&file("again"), "median"),
    );
    for (own, again) in own.iter().zip(&again) {
        assert!((own - again).abs() < 1e-6 * own.abs().max(1.0));
    }
    // All rows: those that are known already change nothing.
    let line = "forecast --model-dir run --data sales.csv --horizon 3 --levels 0.5 -o later";
    succeed(path, &line.split(' ').collect::<Vec<_>>());
    let rows = columns(&file("later"), &["series", "time", "lower_50"]);
    assert_eq!(rows.len(), 4 * 3);
    assert_eq!(rows[0][..2], ["north", "2021-01-01"]);
    let medians = numbers(&file("later"), "median");
    for (month, median) in medians[..3].iter().enumerate() {
        let phase = std::f64::consts::TAU * month as f64 / 12.0;
        let truth = 136.0 + 0.5 * month as f64 + 20.0 * phase.sin();
        assert!((median - truth).abs() < 6.0, "{month}: {median} {truth}");
    }
    // What a model keeps cannot be given again.
    let line = "forecast --model-dir run --data sales.csv --season 4 -o other";
    let refused = run(path, &line.split(' ').collect::<Vec<_>>());
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(
        error.contains("--season") && error.contains("--model-dir"),
        "{error}"
    );
}

#[test]
fn numbers_are_times_too() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let rows = (0..60).map(|row| {
        let value = [3.0, 9.0, 1.0][row % 3] + ((row * 31) % 7) as f64 / 10.0;
        format!("{},{value}\n", 100.0 + 0.5 * row as f64)
    });
    fs::write(
        path.join("t.csv"),
        format!("t,y\n{}", rows.collect::<String>()),
    )
    .unwrap();
    let line =
        "forecast -d t.csv --time t --season 3 --transform none --levels 0.5 --horizon 3 -o run";
    let text = succeed(path, &line.split(' ').collect::<Vec<_>>());
    assert!(text.starts_with("y: 60 values, steps of 0.5"), "{text}");
    assert!(text.contains("season of 3 steps"), "{text}");
    let rows = columns(&path.join("run/forecast.csv"), &["time", "lower_50"]);
    assert_eq!(rows[0][0], "130");
    assert_eq!(rows[2][0], "131");
}

#[test]
fn wrong_options_and_tables_get_one_sentence() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_sales(&path.join("sales.csv"));
    fs::write(path.join("plain.csv"), "a,b\n1,2\n2,3\n3,5\n4,1\n").unwrap();
    fs::write(
        path.join("text.csv"),
        "when,y\nsoon,2\nlater,3\nnever,5\nsoon,4\n",
    )
    .unwrap();
    for (line, expected) in [
        (
            "-d sales.csv --time day",
            "error: sales.csv: --time names the column \"day\", which does not exist",
        ),
        (
            "-d sales.csv --time date --target prices",
            "error: sales.csv: there is no target column \"prices\"",
        ),
        (
            "-d sales.csv --time date --by shop",
            "error: sales.csv: there is no group column \"shop\"",
        ),
        (
            "-d plain.csv",
            "error: plain.csv has no column of dates; name the column of times with --time\n",
        ),
        (
            "-d nope.csv",
            "error: there is no file nope.csv; check the path\n",
        ),
        (
            "-d sales.csv --time date --by store --horizon 0",
            "error: --horizon is 0 but must be at least 1\n",
        ),
        (
            "-d sales.csv --time date --by store --levels 1.5",
            "error: --levels is 1.5 but must lie strictly between 0 and 1; 0.8,0.95 is common\n",
        ),
        (
            "-d sales.csv --time date --by store --season monthly",
            "error: --season is monthly but must be a number of steps from 2 on, several of them separated by commas, or none\n",
        ),
        (
            "-d text.csv --time when",
            "error: text.csv: column 1 (\"when\") holds \"soon\", which is neither a date nor a number; name the column of times with --time\n",
        ),
    ] {
        let arguments: Vec<&str> = std::iter::once("forecast").chain(line.split(' ')).collect();
        let output = run(path, &arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
        assert!(errors.starts_with(expected), "{line}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{line}: {errors}");
    }
    assert!(!path.join("sales-forecast").exists());
}

#[test]
fn training_on_a_series_names_this_command() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_days(&path.join("days.csv"));
    let days = read(&path.join("days.csv"));
    let rows = days.lines().skip(1).enumerate();
    let more = rows.map(|(row, line)| format!("{},{line}\n", (row * 31) % 97));
    let more = more.collect::<String>();
    fs::write(path.join("more.csv"), format!("other,day,visits\n{more}")).unwrap();
    let says = |data: &str| {
        let line = format!("train -d {data} --model exact --steps 2 -o run --overwrite");
        let output = run(path, &line.split(' ').collect::<Vec<_>>());
        assert!(output.status.success());
        let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        texts
            .concat()
            .contains("`burn-gp forecast` continues such a series")
    };
    assert!(says("days.csv"));
    assert!(!says("more.csv"));
}
