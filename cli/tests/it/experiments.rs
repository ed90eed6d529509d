//! The experiments run, keep finished results and report missing data.

use std::path::Path;

use crate::support::{
    columns, fields, read, run, succeed, write_collection, write_regression, write_snelson,
};

/// The error message of a refused command.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed something");
    String::from_utf8(output.stderr).unwrap()
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&read(path)).unwrap()
}

#[test]
fn the_list_has_a_line_for_each_experiment() {
    let folder = temp_dir::TempDir::new().unwrap();
    let list = succeed(folder.path(), &["experiment", "list"]);
    let names: Vec<&str> = list
        .lines()
        .map(|line| {
            line.split_once("   ")
                .expect("a name and a sentence")
                .0
                .trim()
        })
        .collect();
    assert_eq!(
        names,
        [
            "cagp-actions",
            "cagp-course",
            "cagp-coverage",
            "cagp-inducing",
            "cagp-loss",
            "cagp-scale",
            "cagp-toy",
            "cagp-uci",
            "conv-cifar10",
            "conv-mnist",
            "dbk-cox",
            "dbk-mobile",
            "dbk-rank",
            "dbk-synthetic",
            "dbk-theorem1",
            "dbk-uci",
            "deep-conv-cifar10",
            "deep-kin40k",
            "deep-uci",
            "inverse-free-hutchinson",
            "inverse-free-mnist",
            "inverse-free-toy",
            "inverse-free-uci",
            "map-competition",
            "snelson",
            "solve-ablation",
            "solve-cost",
            "solve-regression"
        ]
    );
    for line in list.lines() {
        let paper = match line.split_once(' ') {
            Some(("deep-uci", _)) => "arXiv:1705.08933",
            Some((name, _)) if name.starts_with("cagp") => "arXiv:2411.01036",
            Some((name, _)) if name.starts_with("dbk") => "arXiv:2505.18526",
            Some((name, _)) if name.starts_with("inverse-free") => "arXiv:2604.00697",
            Some(("deep-kin40k" | "conv-mnist", _)) => "arXiv:2604.00697",
            Some(("map-competition", _)) => "arXiv:1710.05013",
            _ => "arXiv:1910.10596",
        };
        assert!(line.contains(paper), "{line}");
    }
}

#[test]
fn what_cannot_run_gets_one_sentence() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    assert_eq!(
        refused(path, &["experiment", "snelsn"]),
        "error: unrecognized subcommand 'snelsn' (did you mean snelson?); see --help\n"
    );
    assert_eq!(
        refused(path, &["experiment", "snelson", "--data-dir", "."]),
        "error: the data set snelson is not on disk: looked for ./small/snelson.csv and \
         ./snelson.csv; save the set as CSV, with a header and the target last, at ./small/snelson.csv\n"
            .replace("./", &format!("{}/", path.display()))
    );
    let message = refused(path, &["experiment", "map-competition", "--data-dir", "."]);
    let files = "looked for ./spatial/simulated.train.csv.gz and ./spatial/simulated.test.csv.gz;";
    let files = files.replace("./", &format!("{}/", path.display()));
    assert!(
        message.starts_with(&format!(
            "error: the data set simulated is not on disk: {files}"
        )),
        "{message}"
    );
    let words = ["experiment", "solve-regression", "--data-sets", "song,bike"];
    let message = refused(path, &words);
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 3, "{message}");
    assert!(lines[0].starts_with("warning: the data set song is not on disk"));
    assert!(lines[0].contains("https://github.com/treforevans/uci_datasets"));
    assert!(lines[1].starts_with("warning: the data set bike is not on disk"));
    assert_eq!(
        lines[2],
        "error: none of the data sets of this experiment can be used (see above)"
    );
    assert!(!path.join("out").exists(), "a folder is left behind");
}

#[test]
fn snelson_fits_four_models_once() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_snelson(path);
    let words = |steps| {
        let words = "experiment snelson --data-dir . --out fits --quiet --steps";
        words.split(' ').chain([steps]).collect::<Vec<&str>>()
    };
    let table = succeed(path, &words("30"));
    let fits = path.join("fits");
    let rows = fields(&read(&fits.join("results.csv")));
    let models: Vec<&str> = rows[1..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(models, ["SVGP 5", "SVGP 10", "ODVGP 5+100", "SOLVE-GP 5+5"]);
    assert!(models.iter().all(|model| table.contains(model)), "{table}");
    for row in &rows[1..] {
        assert!(
            row[1..]
                .iter()
                .all(|cell| cell.parse::<f64>().unwrap().is_finite())
        );
    }
    let plot = read(&fits.join("fits.svg"));
    assert!(models.iter().all(|model| plot.contains(model)));
    let results = json(&fits.join("results.json"));
    let orthogonal: Vec<usize> = (results.as_array().unwrap().iter())
        .map(|fit| fit["orthogonal"].as_array().unwrap().len())
        .collect();
    assert_eq!(orthogonal, [0, 0, 100, 5]);
    // Existing results are not computed again, including the seconds.
    let written = read(&fits.join("results.csv"));
    assert_eq!(succeed(path, &words("30")), table);
    assert_eq!(read(&fits.join("results.csv")), written);
    assert_eq!(
        refused(path, &words("31")),
        "error: the folder fits holds results of an experiment with other options; choose another \
         with --out, or replace it with --overwrite\n"
    );
}

#[test]
fn cells_of_regression_are_made_one_by_one() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "bike", 600);
    let regression = |options: &str| {
        let words = format!(
            "experiment solve-regression --data-dir . --out cells --epochs 3 --quiet {options}"
        );
        succeed(path, &words.split(' ').collect::<Vec<&str>>())
    };
    regression("--data-sets bike --columns solve-1024 --splits 2");
    let metrics = path.join("cells/runs/bike/solve-1024/seed-1/metrics.json");
    let first = read(&metrics);
    let table = regression("--data-sets bike,song --columns odvgp-1024,svgp-1024 --splits 1");
    assert_eq!(read(&metrics), first, "a finished run was made again");
    assert!(
        table.contains("-0.189 (0.006)"),
        "the paper's number: {table}"
    );
    assert!(table.contains("not comparable"), "{table}");
    let titles = [
        "column",
        "inducing",
        "orthogonal",
        "columns",
        "splits",
        "log_density",
    ];
    let cells = columns(&path.join("cells/results.csv"), &titles);
    let sizes: Vec<&[String]> = cells.iter().map(|cell| &cell[..5]).collect();
    assert_eq!(
        sizes,
        [
            ["svgp-1024", "128", "", "", "1"],
            ["odvgp-1024", "128", "128", "128", "1"],
            ["solve-1024", "128", "128", "", "2"],
        ]
    );
    // The mean of two runs, in the table as in the runs.
    let nlpd = |seed: &str| {
        let run = path.join("cells/runs/bike/solve-1024").join(seed);
        let metrics = json(&run.join("metrics.json"));
        assert_eq!(metrics["n_train"], 384);
        assert_eq!(metrics["step_kept"], metrics["steps"]);
        metrics["nlpd"].as_f64().unwrap()
    };
    let mean = -0.5 * (nlpd("seed-0") + nlpd("seed-1"));
    assert!((cells[2][5].parse::<f64>().unwrap() - mean).abs() < 1e-12);
    assert!(path.join("cells/bike.svg").exists());
}

#[test]
fn ablation_shows_four_models_on_the_way() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "bike", 300);
    let words = "experiment solve-ablation --data-set bike --data-dir . --out curves --inducing 8 \
                 --epochs 6 --quiet";
    let table = succeed(path, &words.split_whitespace().collect::<Vec<&str>>());
    assert!(table.contains("SOLVE-GP M+M, whitened"), "{table}");
    let results = json(&path.join("curves/results.json"));
    assert_eq!(results["comparable_with_the_paper"], false);
    assert!(
        table.contains("data bike instead of houseelectric"),
        "{table}"
    );
    let cells = results["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    for cell in cells {
        let errors = cell["runs"][0]["curve"]["rmse"].as_array().unwrap();
        assert_eq!(errors.len(), 6);
        assert!(errors[5].as_f64().unwrap() < errors[0].as_f64().unwrap());
    }
    // A row after a quarter of the snapshots and at the end, and a line for every snapshot.
    assert!(table.contains("bike: M = 8, test rows, seed 0"), "{table}");
    let rows = |model: &str| table.lines().filter(|line| line.starts_with(model)).count();
    assert_eq!(
        [rows("SVGP 2M, w"), rows("SOLVE-GP M+M, u")],
        [2, 2],
        "{table}"
    );
    let lines = columns(&path.join("curves/results.csv"), &["step", "log_density"]);
    assert_eq!(lines.len(), 4 * 6);
    assert!(read(&path.join("curves/bike.svg")).contains("SVGP 2M, unwhitened"));
}

#[test]
fn a_data_set_of_a_study_can_be_a_file() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_regression(&path.join("rows.csv"), 80);
    let words =
        "experiment solve-ablation --data-set rows.csv --out file --inducing 4 --epochs 2 --quiet";
    let table = succeed(path, &words.split(' ').collect::<Vec<&str>>());
    assert!(table.contains("rows: M = 4, test rows, seed 0"), "{table}");
    assert!(
        path.join("file/runs/rows/svgp/seed-0/metrics.json")
            .exists()
    );
    assert_eq!(
        succeed(path, &words.split(' ').collect::<Vec<&str>>()),
        table
    );
}

#[test]
fn cost_has_a_row_for_each_size() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let words = "experiment solve-cost --sizes 8,16 --steps 3 --out cost --quiet";
    let table = succeed(path, &words.split(' ').collect::<Vec<&str>>());
    assert!(table.contains("Table 4"), "{table}");
    let rows = fields(&read(&path.join("cost/results.csv")));
    assert_eq!(rows.len(), 1 + 4);
    for row in &rows[1..] {
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        assert!((number(6) - number(5) / number(4)).abs() < 1e-9 * number(6));
        assert!((1.0..4.0).contains(&number(7)), "counted ratio {}", row[7]);
    }
    assert!(path.join("cost/times.svg").exists());
}
