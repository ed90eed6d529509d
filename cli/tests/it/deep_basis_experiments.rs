//! The experiments with deep basis kernels run, keep finished results and share a table.

use crate::support::{columns, fields, numbers, read, run, succeed, write_collection};

/// Cells computed one by one form a table with the paper's numbers, and are not computed again.
#[test]
fn the_table_has_every_cell_that_is_made() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "pol", 250);
    let line = |methods: &str, seed: &str| {
        let line = format!(
            "experiment dbk-uci --data-dir . --out table --quiet --iterations 6 --epochs 3 \
             --line-searches 10 --data-sets pol --methods {methods} --seed {seed}"
        );
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        succeed(path, &words)
    };
    line("gp,gp-cg,dbk,dbk-cr", "0");
    line("svdbk-r,svdkl,bll", "0");
    let log = path.join("table/runs/pol/dbk/6-steps/seed-0/metrics.json");
    let before = read(&log);
    let table = line("dbk,dkl,sdkl,svgp", "0");
    assert_eq!(before, read(&log), "a finished run is made again");
    line("dbk", "1");
    let rows = fields(&read(&path.join("table/results.csv")));
    let methods: Vec<&str> = rows[1..].iter().map(|row| row[3].as_str()).collect();
    assert_eq!(
        methods,
        [
            "gp", "gp-cg", "dkl", "sdkl", "dbk", "dbk-cr", "bll", "svgp", "svdkl", "svdbk-r"
        ]
    );
    // 70 % of the rows, whatever trains.
    assert!(rows[1..].iter().all(|row| row[1] == "175"), "{rows:?}");
    let file = path.join("table/results.csv");
    let titles = ["seeds", "paper_mae", "paper_mae_deviation"];
    assert_eq!(columns(&file, &titles)[4], ["2", "0.0249", "0.0003"]);
    for score in ["mae", "rmse", "nlpd"] {
        let scores = numbers(&file, score);
        assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}");
    }
    // Conjugate gradients train the same model in another way. Ten iterations of L-BFGS on
    // estimates of its loss end within a hundredth.
    let nlpd = numbers(&file, "nlpd");
    assert!((nlpd[0] - nlpd[1]).abs() < 0.02, "{rows:?}");
    // All scores use the same fifth of the rows.
    let tested = |cell: &str| -> Vec<String> {
        let run = path.join(format!("table/runs/pol/{cell}/seed-0/predictions.csv"));
        columns(&run, &["row"]).concat()
    };
    for cell in [
        "gp/10-line-searches",
        "gp-cg/10-line-searches",
        "svgp/3-epochs",
    ] {
        assert_eq!(tested(cell), tested("dbk/6-steps"), "{cell}");
    }
    assert_eq!(tested("gp/10-line-searches").len(), 50);
    // Networks on mini-batches have an additional block.
    for (cell, blocks) in [
        ("dbk/6-steps", 2),
        ("dbk-cr/6-steps", 2),
        ("svdbk-r/3-epochs", 3),
        ("svdkl/3-epochs", 3),
        ("bll/3-epochs", 3),
    ] {
        let model = read(&path.join(format!("table/runs/pol/{cell}/seed-0/model.json")));
        let model: String = model.split_whitespace().collect();
        let written = format!("\"blocks\":{blocks}");
        assert!(model.contains(&written), "{cell}: {model}");
    }
    assert!(table.contains("-1.5117 (0.0323)"), "{table}");
    assert!(table.contains("not comparable"), "{table}");
}

/// Runs with more epochs are separate from existing ones.
#[test]
fn runs_of_another_length_are_cells_of_their_own() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "pol", 250);
    let line = |options: &str| {
        let line = format!(
            "experiment dbk-uci --data-dir . --out table --quiet --data-sets pol {options}"
        );
        succeed(path, &line.split(' ').collect::<Vec<&str>>())
    };
    line("--methods dbk --iterations 4");
    line("--methods svgp --epochs 2");
    line("--methods dbk --iterations 7");
    let table = line("--methods sgp --line-searches 3");
    let rows = fields(&read(&path.join("table/results.csv")));
    let column = |title: &str| rows[0].iter().position(|cell| cell == title).unwrap();
    let made: Vec<[&str; 4]> = (rows[1..].iter())
        .map(|row| ["method", "seeds", "steps", "at_most"].map(|title| row[column(title)].as_str()))
        .collect();
    let expected = [
        ["sgp", "1", "3", "3 line searches"],
        ["dbk", "1", "7", "7 steps"],
        ["dbk", "1", "4", "4 steps"],
        ["svgp", "1", "2", "2 epochs"],
    ];
    assert_eq!(made, expected, "{table}");
}

/// Models that do not support the data are left out. The others are scored on the same held-out
/// rows.
#[test]
fn one_dimension_has_errors_times_and_plots() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let line = "experiment dbk-synthetic --out line --quiet --sizes 60,1000,2000 --dense-limit 100 \
                --steps 4";
    let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    let table = succeed(path, &words);
    let rows = fields(&read(&path.join("line/results.csv")));
    let made: Vec<String> = rows[1..]
        .iter()
        .map(|row| format!("{} {}", row[0], row[1]))
        .collect();
    assert_eq!(
        made,
        [
            "gp 60",
            "dkl 60",
            "dbk 60",
            "dbk-c 60",
            "dbk 1000",
            "dbk-c 1000",
            "dbk 2000",
            "dbk-c 2000"
        ]
    );
    assert!(rows[1..].iter().all(|row| {
        row[4..]
            .iter()
            .all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok())
    }));
    assert!(
        table.contains("DBK: the time of a step grows as n^"),
        "{table}"
    );
    for plot in ["cost.svg", "posteriors.svg", "kernels.svg"] {
        assert!(read(&path.join("line").join(plot)).contains("DBK-c"));
    }
}

/// Ranks are sorted as numbers, and cells computed later join the existing ones.
#[test]
fn ranks_are_rows_of_one_table() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "pol", 150);
    for ranks in ["12,2", "1"] {
        let line = format!(
            "experiment dbk-rank --data-dir . --out ranks --quiet --iterations 4 --epochs 2 \
             --methods dbk,svdbk --ranks {ranks}"
        );
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        succeed(path, &words);
    }
    let rows = fields(&read(&path.join("ranks/results.csv")));
    let made: Vec<String> = (rows[1..].iter())
        .map(|row| format!("{} {}", row[3], row[4]))
        .collect();
    assert_eq!(
        made,
        ["dbk 1", "dbk 2", "dbk 12", "svdbk 1", "svdbk 2", "svdbk 12"]
    );
    // The file has all digits.
    let nlpd = numbers(&path.join("ranks/results.csv"), "nlpd");
    let run = read(&path.join("ranks/runs/pol/dbk-rank-2/seed-0/metrics.json"));
    let metrics: serde_json::Value = serde_json::from_str(&run).unwrap();
    assert_eq!(Some(nlpd[1]), metrics["nlpd"].as_f64());
}

/// Trained models approach the closed-form optimum from below, and the residual variance has a
/// plot.
#[test]
fn theorem_1_has_its_optimum_beside_what_is_trained() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let line = "experiment dbk-theorem1 --out optimum --quiet --rows 20 --steps 300";
    let table = succeed(path, &line.split(' ').collect::<Vec<&str>>());
    assert!(table.contains("DBK-c"), "{table}");
    let results: serde_json::Value =
        serde_json::from_str(&read(&path.join("optimum/results.json"))).unwrap();
    let pair = |name: &str| -> Vec<f64> {
        serde_json::from_value(results["known_noise"][name].clone()).unwrap()
    };
    let (evidence, error) = (pair("evidence"), pair("error"));
    assert!(
        evidence[1] < evidence[0] && evidence[1] > evidence[0] - 1.0,
        "{evidence:?}"
    );
    assert!(error[1] > error[0], "{error:?}");
    assert_eq!(fields(&read(&path.join("optimum/results.csv"))).len(), 4);
    for plot in ["fits.svg", "noise.svg", "evidence.svg"] {
        assert!(path.join("optimum").join(plot).exists(), "{plot}");
    }
}

/// Events of known intensities and from a file, with both integration methods. Finished results are
/// kept.
#[test]
fn intensities_come_from_draws_and_from_files() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let events: String = (0..60)
        .map(|event| format!("{}\n", 1851.5 + f64::from(event * event) * 0.03))
        .collect();
    std::fs::write(path.join("disasters.csv"), format!("date\n{events}")).unwrap();
    let line = "experiment dbk-cox --out cox --quiet --steps 20 --intensities jump,plane --events \
                disasters.csv --domain 1851.2..1962.2";
    let words: Vec<&str> = line.split_whitespace().collect();
    let table = succeed(path, &words);
    assert!(table.contains("the truth"), "{table}");
    let rows = fields(&read(&path.join("cox/results.csv")));
    // Four fits each, and the true intensity if it is known.
    assert_eq!(rows.len(), 1 + 5 + 5 + 4);
    assert_eq!(rows[11][0], "events");
    assert_eq!(rows[11][3], "60");
    assert_eq!(rows[11][5], "");
    for row in &rows[1..] {
        assert!(row[7].parse::<f64>().unwrap().is_finite(), "{row:?}");
    }
    for plot in ["jump.svg", "plane.svg", "events.svg"] {
        assert!(path.join("cox").join(plot).exists(), "{plot}");
    }
    for (wrong, sentence) in [
        ("--events none.csv", "there is no file none.csv"),
        (
            "--events disasters.csv --domain 1900..1962",
            "has an event at 1851.5, which is outside --domain 1900..1962",
        ),
        ("--domain 0..1", "give the file with --events"),
    ] {
        let line = format!("experiment dbk-cox --out wrong --quiet {wrong}");
        let output = run(path, &line.split(' ').collect::<Vec<&str>>());
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(sentence), "{message}");
        assert!(!path.join("wrong").exists(), "{wrong}");
    }
}

/// Measurements at locations in the state, from a file with columns in any order.
#[test]
fn measurements_come_from_a_file() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let rows: String = (0..240)
        .map(|row| {
            let [a, b] = [37, 53].map(|prime| f64::from(7 * row % prime) / f64::from(prime));
            let score = (3.0 * a).sin() + b + 2.0;
            format!("{},{score},{}\n", -85.5 + 4.5 * a, 30.5 + 4.5 * b)
        })
        .collect();
    let table = format!("Longitude,score,Latitude\n{rows}");
    std::fs::write(path.join("scores.csv"), table).unwrap();
    let experiment = |options: &str| {
        let line = format!("experiment dbk-mobile --out mobile --quiet --epochs 3 {options}");
        run(path, &line.split_whitespace().collect::<Vec<&str>>())
    };
    for (options, sentence) in [
        ("", "give it with --data FILE"),
        ("--data none.csv", "there is no file none.csv"),
        ("--data scores.csv --target longitude", "longitude"),
        (
            "--data scores.csv --target Latitude",
            "no column \"latitude\"",
        ),
        ("--data scores.csv", "no column \"latitude\""),
    ] {
        let output = experiment(options);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}: {message}");
        assert!(message.contains(sentence), "{message}");
        assert!(!path.join("mobile").exists(), "{options}");
    }
    let output = experiment("--data scores.csv --target score");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.contains("0.3233") && table.contains("SVDKL"),
        "{table}"
    );
    let rows = fields(&read(&path.join("mobile/results.csv")));
    assert_eq!(rows.len(), 4);
    assert!(rows[1..].iter().all(|row| row[1] == "168"), "{rows:?}");
    // Runs on another file are not those that are there already.
    std::fs::copy(path.join("scores.csv"), path.join("others.csv")).unwrap();
    let output = experiment("--data others.csv --target score");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("other options"), "{message}");
    for (plot, title) in [("map.svg", "SVDBK"), ("slices.svg", "SVGP, airport")] {
        assert!(
            read(&path.join("mobile").join(plot)).contains(title),
            "{plot}"
        );
    }
}

/// Invalid sizes give a one-sentence message, and no folder is left behind.
#[test]
fn sizes_that_cannot_be_are_refused() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    for (line, option) in [
        ("dbk-synthetic --sizes 100,0", "sizes"),
        ("dbk-synthetic --steps 0", "steps"),
        ("dbk-synthetic --seeds 0", "seeds"),
        ("dbk-theorem1 --rank 0", "rank"),
        ("dbk-theorem1 --steps 0", "steps"),
        ("dbk-cox --steps 0", "steps"),
        ("dbk-rank --ranks 4,0", "ranks"),
        ("dbk-rank --seeds 0", "seeds"),
        ("dbk-mobile --seeds 0", "seeds"),
        ("dbk-uci --seeds 0", "seeds"),
        ("dbk-uci --iterations 0", "iterations"),
        ("dbk-uci --epochs 0", "epochs"),
        ("dbk-uci --line-searches 0", "line-searches"),
        ("solve-cost --sizes 8,0", "sizes"),
        ("solve-cost --steps 0", "steps"),
        ("snelson --steps 0", "steps"),
    ] {
        let line = format!("experiment {line} --out bad");
        let output = run(path, &line.split(' ').collect::<Vec<&str>>());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        let sentence = format!("error: --{option} is 0 but must be at least 1\n");
        assert_eq!(message, sentence, "{line}");
        assert!(!path.join("bad").exists(), "{line}");
    }
}
