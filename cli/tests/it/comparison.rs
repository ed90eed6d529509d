//! A comparison contains the runs of its models, side by side.

use std::fs;
use std::path::Path;

use crate::support::{
    columns, fields, program, read, run, succeed, write_classes, write_regression,
};

/// The shared options of the runs.
const QUICK: [&str; 8] = [
    "--data",
    "data.csv",
    "--steps",
    "30",
    "--inducing",
    "15",
    "--out",
    "both",
];

fn compare<'a>(options: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["compare"];
    arguments.extend(options);
    arguments.extend(QUICK);
    arguments
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// The lines of `results.csv` without times and memory.
fn reproducible(folder: &Path) -> Vec<Vec<String>> {
    let rows = fields(&read(&folder.join("results.csv")));
    let is_measured =
        |name: &str| name.starts_with("train_seconds") || name.starts_with("peak_memory");
    let measured = |name: &String| is_measured(name);
    let kept: Vec<usize> = (0..rows[0].len())
        .filter(|&column| !measured(&rows[0][column]))
        .collect();
    let pick = |row: Vec<String>| kept.iter().map(|&column| row[column].clone()).collect();
    rows.into_iter().map(pick).collect()
}

#[test]
fn the_runs_are_those_of_train_and_the_summary_is_theirs() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    // `exact` has no inducing points, but must be part of the comparison.
    let options = ["--models", "svgp,exact", "--seeds", "3,4"];
    let table = succeed(path, &compare(&options));
    assert!(table.contains("RMSE"), "{table}");
    assert!(!table.contains("ECE"), "{table}");
    let both = path.join("both");
    let (mut scores, mut covered) = (Vec::new(), 0.0);
    for seed in ["3", "4"] {
        let out = format!("alone-{seed}");
        succeed(
            path,
            &[
                "train",
                "--model",
                "svgp",
                "--data",
                "data.csv",
                "--steps",
                "30",
                "--inducing",
                "15",
                "--seed",
                seed,
                "--out",
                &out,
                "--quiet",
            ],
        );
        let alone = json(&path.join(out).join("metrics.json"));
        let compared = json(&both.join(format!("runs/svgp/seed-{seed}/metrics.json")));
        for key in ["rmse", "mae", "nlpd", "coverage95", "objective"] {
            assert_eq!(alone[key], compared[key], "{key} with seed {seed}");
        }
        scores.push(compared["rmse"].as_f64().unwrap());
        covered += 0.5 * compared["coverage95"].as_f64().unwrap();
    }
    let record = json(&both.join("results.json"));
    let cell = &record["cells"][0];
    let summary = &cell["rmse"];
    let mean = summary["mean"].as_f64().unwrap();
    let error = summary["standard_error"].as_f64().unwrap();
    // The mean of two values, and half of their difference. Rounding differs in the last digit.
    assert!((mean - 0.5 * (scores[0] + scores[1])).abs() < 1e-14);
    assert!((error - 0.5 * (scores[0] - scores[1]).abs()).abs() < 1e-14);
    let shown = format!("{mean:.4} ({error:.4})");
    assert!(table.contains(&shown), "{shown} is not in\n{table}");
    assert!(cell["runs"][0]["peak_memory"].as_u64().unwrap() > 1_000_000);
    let rows = columns(
        &both.join("results.csv"),
        &["model", "seeds", "rmse", "coverage95"],
    );
    assert_eq!(
        [&rows[0][..2], &rows[1][..2]],
        [["svgp", "2"], ["exact", "2"]]
    );
    assert_eq!(rows[0][2].parse::<f64>().unwrap(), mean);
    assert!((rows[0][3].parse::<f64>().unwrap() - covered).abs() < 1e-14);
    assert!(read(&both.join("data.svg")).contains("svgp"));
}

/// Models without validation do not train on the validation rows either.
#[test]
fn all_models_train_on_the_same_rows() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    let options = [
        "--models",
        "svgp,exact,sgpr,dbk",
        "--validation-fraction",
        "0.25",
        "--test-fraction",
        "0.2",
    ];
    let table = succeed(path, &compare(&options));
    let sentence = "no model trains on the 24 validation rows; models that do not use them at all: exact, sgpr";
    assert!(table.contains(sentence), "{table}");
    assert!(table.contains("steps (s)"), "{table}");
    let record = json(&path.join("both/results.json"));
    let cells = record["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        let run = &cell["runs"][0];
        let sizes = ["n_train", "n_validation", "n_test"].map(|key| run[key].as_u64().unwrap());
        assert_eq!(sizes, [72, 24, 24], "{}", run["model"]);
    }
    // The test rows are the same, in the same order.
    let rows = |model: &str| -> Vec<String> {
        let file = path.join(format!("both/runs/{model}/seed-0/predictions.csv"));
        let rows = fields(&read(&file));
        rows[1..].iter().map(|row| row[0].clone()).collect()
    };
    for model in ["exact", "sgpr", "dbk"] {
        assert_eq!(rows(model), rows("svgp"), "{model}");
    }
}

/// Seconds count only the steps. Here, each step is followed by a validation with a hundred draws
/// per row, which takes tens of times as long.
#[test]
fn validation_is_no_part_of_the_seconds_of_the_steps() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 700);
    let line = "train --model deep-gp --data data.csv --inducing 20 --steps 20 --batch-size 1000 \
                --validation-fraction 0.5 --validation-epochs 1 --quiet --out run";
    let begin = std::time::Instant::now();
    succeed(path, &line.split_whitespace().collect::<Vec<&str>>());
    let elapsed = begin.elapsed().as_secs_f64();
    let metrics = json(&path.join("run/metrics.json"));
    let seconds = metrics["train_seconds"].as_f64().unwrap();
    assert!(
        seconds > 0.0 && seconds < 0.5 * elapsed,
        "{seconds} s of {elapsed} s"
    );
}

#[test]
fn classifiers_are_compared_by_their_errors() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_classes(&path.join("data.csv"), 120);
    let options = [
        "--models",
        "svgp,svgp-unwhitened,solve,odvgp",
        "--likelihood",
        "bernoulli",
    ];
    let table = succeed(path, &compare(&options));
    assert!(
        table.contains("error (%)") && table.contains("ECE"),
        "{table}"
    );
    assert!(!table.contains("RMSE"), "{table}");
    // One seed has no error.
    assert!(!table.contains(" (0."), "{table}");
}

#[test]
fn a_killed_comparison_goes_on_where_it_was() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    let options = ["--models", "svgp,sgpr", "--seeds", "0,1"];
    succeed(path, &compare(&options));
    fs::rename(path.join("both"), path.join("undisturbed")).unwrap();
    let mut running = program()
        .current_dir(path)
        .args(compare(&options))
        .arg("--quiet")
        .spawn()
        .unwrap();
    while !path.join("both/runs/svgp/seed-0/metrics.json").exists() {
        assert!(running.try_wait().unwrap().is_none(), "it ended early");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    running.kill().unwrap();
    running.wait().unwrap();
    // The current run may outlive the comparison.
    std::thread::sleep(std::time::Duration::from_secs(2));
    succeed(path, &["compare", "--resume", "both"]);
    let (resumed, undisturbed) = (path.join("both"), path.join("undisturbed"));
    assert_eq!(reproducible(&resumed), reproducible(&undisturbed));
    let again = run(path, &["compare", "--resume", "both"]);
    assert_eq!(again.status.code(), Some(2));
    let message = String::from_utf8(again.stderr).unwrap();
    assert_eq!(
        message,
        "error: both holds a finished run; there is nothing to resume\n"
    );
}

#[test]
fn bad_comparisons_are_refused_before_the_first_run() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 120);
    fs::create_dir(path.join("theirs")).unwrap();
    fs::write(path.join("theirs/letter.txt"), "dear").unwrap();
    let cases: [(&[&str], &str); 7] = [
        (
            &["--models", "svgp", "--model", "svgp"],
            "for a comparison, use --models with values separated by commas instead of --model",
        ),
        (
            &["--models", "svgp", "--seed", "1"],
            "for a comparison, use --seeds with values separated by commas instead of --seed",
        ),
        (
            &["--models", "exact", "--batch-size", "10"],
            "--batch-size does not apply to these models; remove it",
        ),
        (
            &["--models", "svgp,sgpr", "--target", "z"],
            r#"there is no target column "z"; the columns are "a", "b", "y""#,
        ),
        (
            &["--models", "sgpr,svgp", "--likelihood", "bernoulli"],
            "the model sgpr needs the gaussian likelihood; use --model svgp for other likelihoods, or --likelihood gaussian",
        ),
        (
            &["--models", "sgpr", "--jitter", "2"],
            "--jitter is 2 but must be at least 0 and below 1",
        ),
        (
            &["--models", "svgp,nonsense"],
            "invalid value 'nonsense' for '--models <MODELS>'",
        ),
    ];
    for (options, expected) in cases {
        let output = run(path, &compare(options));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {message}");
        assert!(message.contains(expected), "{options:?}: {message}");
        assert!(!path.join("both").exists(), "{options:?} left a folder");
    }
    let arguments = [
        "compare",
        "--models",
        "svgp",
        "--data",
        "data.csv",
        "--out",
        "theirs",
        "--overwrite",
    ];
    let output = run(path, &arguments);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(read(&path.join("theirs/letter.txt")), "dear");
}

/// Every model with a network, on the same rows of the embedded data.
#[test]
fn models_with_networks_are_compared() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let models = "dbk,svdbk,bll,dkl,sdkl,svdkl";
    let line = format!(
        "compare --models {models} --data diabetes --steps 4 --units 8 --rank 6 --inducing 10 \
         --seeds 1 --out networks"
    );
    let table = succeed(path, &line.split_whitespace().collect::<Vec<&str>>());
    let rows = fields(&read(&path.join("networks/results.csv")));
    let named: Vec<&str> = rows[1..].iter().map(|row| row[3].as_str()).collect();
    assert_eq!(named.join(","), models);
    let mut rows_to_learn_from = Vec::new();
    for model in named {
        assert!(table.contains(model), "{table}");
        let metrics = json(&path.join(format!("networks/runs/{model}/seed-1/metrics.json")));
        assert!(metrics["nlpd"].as_f64().unwrap().is_finite(), "{model}");
        rows_to_learn_from.push(metrics["n_train"].as_u64().unwrap());
    }
    rows_to_learn_from.dedup();
    assert_eq!(rows_to_learn_from.len(), 1);
    assert!(read(&path.join("networks/diabetes.svg")).contains("svdbk"));
}

/// A grid over options, data sets and seeds is one table; an option that a model has no use for makes
/// no run of its own, and other values join those that are there.
#[test]
fn a_sweep_has_a_row_for_every_combination() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("data.csv"), 90);
    let sweep = |options: &str| {
        let line = format!("sweep --steps 5 --out grid --quiet {options}");
        run(path, &line.split_whitespace().collect::<Vec<&str>>())
    };
    let done = |options: &str| {
        let output = sweep(options);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{message}");
        String::from_utf8(output.stdout).unwrap()
    };
    let grid = "--data-sets data.csv,diabetes --grid model=exact,svgp --grid inducing=6,9";
    let table = done(grid);
    let titles = ["data", "model", "inducing", "seeds", "rmse"];
    let rows = || columns(&path.join("grid/results.csv"), &titles);
    let cells: Vec<String> = rows().iter().map(|row| row[..4].join(" ")).collect();
    let expected = [
        "data exact none 1",
        "data svgp 6 1",
        "data svgp 9 1",
        "diabetes exact none 1",
        "diabetes svgp 6 1",
        "diabetes svgp 9 1",
    ];
    assert_eq!(cells, expected, "{table}");
    let metrics = |run: &str| json(&path.join("grid/runs").join(run).join("metrics.json"));
    let run = metrics("data/model-svgp/inducing-9/seed-0");
    assert_eq!(
        rows()[2][4].parse::<f64>().unwrap(),
        run["rmse"].as_f64().unwrap()
    );
    for plot in ["data.svg", "diabetes.svg"] {
        assert!(
            read(&path.join("grid").join(plot)).contains("svgp, inducing 9"),
            "{plot}"
        );
    }
    done("--data-sets data.csv --grid model=svgp --grid inducing=9,12 --seeds 0,1");
    assert_eq!(metrics("data/model-svgp/inducing-9/seed-0"), run);
    let cells: Vec<String> = rows().iter().map(|row| row[..4].join(" ")).collect();
    // The values of this command come first.
    let expected = [
        "data svgp 6 1",
        "data svgp 9 2",
        "data svgp 12 2",
        "data exact none 1",
    ];
    assert_eq!(cells[..4], expected);
    // The numbers that were run are the ticks, whenever they were run.
    let over = read(&path.join("grid/data-inducing.svg"));
    for label in ["6", "9", "12", "NLPD", "svgp"] {
        assert!(over.contains(&format!(">{label}</text>")), "{label}");
    }
    assert!(!over.contains(">exact</text>"));
    let kernels =
        "sweep --grid kernel=rbf,periodic(rbf,period=2) --data data.csv --steps 3 --quiet --out k";
    let table = succeed(path, &kernels.split(' ').collect::<Vec<&str>>());
    assert!(table.contains("periodic(rbf,period=2)"), "{table}");
    fs::create_dir(path.join("copy")).unwrap();
    write_regression(&path.join("copy/data.csv"), 60);
    for (options, sentence) in [
        ("--grid inducin=3", "did you mean 'inducing'?"),
        (
            "--grid model=exact --grid inducing=3",
            "--inducing does not apply to",
        ),
        ("--grid model=svgp --batch-size 17", "other options"),
        ("--seeds 0", "--grid"),
        (
            "--grid steps=3,4",
            "--grid steps and --steps cannot be used together",
        ),
        (
            "--grid inducing=3 --grid inducing=4",
            "--grid inducing is given twice",
        ),
        (
            "--grid model=exact --data-sets data.csv,copy/data.csv",
            "would both be called data; rename one of them",
        ),
    ] {
        let output = sweep(options);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{options}: {message}");
        assert!(message.contains(sentence), "{options}: {message}");
    }
}
