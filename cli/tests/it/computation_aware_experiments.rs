//! The experiments with computation-aware models.

use std::path::Path;

use crate::support::{fields, read, run, succeed, write_collection};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&read(path)).unwrap()
}

/// Every model of the table, on a small data set with a name from the paper, cell by cell in one
/// folder.
#[test]
fn cells_of_the_table_come_one_by_one() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "parkinsons", 90);
    let line = "experiment cagp-uci --data-dir . --out cells --quiet --seeds 1 --epochs 10 --actions 12 \
                --inducing 12 --methods";
    let first = succeed(path, &words(&format!("{line} cagp-opt-adam")));
    assert!(
        first.contains("CaGP-Opt, Adam") && !first.contains("SVGP"),
        "{first}"
    );
    let run = "cells/runs/parkinsons/cagp-opt-adam/10-epochs-12-actions-rate-1/seed-0";
    let before = json(&path.join(run).join("metrics.json"));
    assert_eq!(
        (&before["actions"], &before["dtype"]),
        (&12.into(), &"f32".into())
    );
    // An epoch is an Adam step on all rows. The learning rate falls to a tenth.
    let log = fields(&read(&path.join(run).join("training_log.csv")));
    assert_eq!(log.len(), 11);
    let last: f64 = log[10][3].parse().unwrap();
    assert!((last - 0.19).abs() < 1e-9, "{last}");

    let all = "exact,sgpr-adam,sgpr-l-bfgs,sgpr-fixed,svgp,cggp,cagp-cg,cagp-opt-l-bfgs";
    let table = succeed(path, &words(&format!("{line} {all}")));
    let titles = [
        "CholeskyGP",
        "SGPR, Adam",
        "SGPR, L-BFGS",
        "SGPR, fixed Z",
        "SVGP",
        "CGGP",
        "CaGP-CG",
        "CaGP-Opt, Adam",
        "CaGP-Opt, L-BFGS",
    ];
    for title in titles {
        assert!(table.contains(title), "{title} is not in\n{table}");
    }
    // The table contains the paper's numbers too.
    assert!(table.contains("-3.384 (0.005)"), "{table}");
    assert_eq!(json(&path.join(run).join("metrics.json")), before);
    let rows = fields(&read(&path.join("cells/results.csv")));
    assert_eq!(rows.len(), 1 + titles.len());
    let of_method = |method: &str| rows.iter().find(|row| row[3] == method).unwrap();
    assert_eq!(
        (rows[0][6].as_str(), of_method("svgp")[6].as_str()),
        ("learning_rate", "0.1")
    );
    assert_eq!(of_method("cagp-opt-adam")[6], "1");
    for row in &rows[1..] {
        let nlpd: f64 = row[7].parse().unwrap();
        assert!(nlpd.is_finite(), "{row:?}");
    }
    assert!(read(&path.join("cells/parkinsons.svg")).contains("CaGP-CG"));

    // Precomputed variances of the same training give another cell.
    let cached = format!("{line} cggp --cached-variances 4");
    let table = succeed(path, &words(&cached));
    for text in ["CGGP, 4 variances", "made once, in R directions"] {
        assert!(table.contains(text), "{text} is not in\n{table}");
    }
    let rows = fields(&read(&path.join("cells/results.csv")));
    let cggp: Vec<&Vec<String>> = (rows.iter()).filter(|row| row[3] == "cggp").collect();
    let place = |title: &str| rows[0].iter().position(|name| name == title).unwrap();
    let of_both = |title: &str| [0, 1].map(|row: usize| cggp[row][place(title)].as_str());
    assert_eq!(of_both("cached_variances"), ["", "4"]);
    for same in ["rmse", "noise"] {
        let [plain, cached] = of_both(same);
        assert_eq!(plain, cached, "{same}");
    }
    let [plain, cached] = of_both("nlpd");
    assert_ne!(plain, cached);

    // Another number of epochs gives other runs, which the plot shows separately.
    let longer = "experiment cagp-uci --data-dir . --out cells --quiet --epochs 12 --actions 12 \
                  --inducing 12 --methods svgp";
    succeed(path, &words(longer));
    let plot = read(&path.join("cells/parkinsons.svg"));
    for name in ["SVGP, 10 steps", "SVGP, 12 steps", "CGGP, 4 variances"] {
        assert!(plot.contains(name), "{name} is not in\n{plot}");
    }

    // Other action rows give other runs.
    let given = format!("{line} cagp-opt-adam --action-rows given");
    let table = succeed(path, &words(&given));
    for title in ["CaGP-Opt, Adam  ", "CaGP-Opt, Adam, near rows  "] {
        assert!(table.contains(title), "{title} is not in\n{table}");
    }
    let rows = fields(&read(&path.join("cells/results.csv")));
    let nlpds: Vec<&String> = (rows.iter())
        .filter(|row| row[3] == "cagp-opt-adam")
        .map(|row| &row[7])
        .collect();
    assert_eq!(nlpds.len(), 2);
    assert_ne!(nlpds[0], nlpds[1]);

    // Line-search budgets limit the iterations of L-BFGS. Other models keep their epochs.
    let fewer = succeed(path, &words(&format!("{line} cggp,svgp --line-searches 3")));
    let cell = path.join("cells/runs/parkinsons/cggp/3-epochs-12-actions-rate-0.1/seed-0");
    assert_eq!(json(&cell.join("metrics.json"))["steps"], 3, "{fewer}");
}

/// Sizes requested later join the existing ones. The memory of the program itself is separate.
#[test]
fn cost_grows_with_the_rows() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let line = "experiment cagp-scale --out cost --quiet --epochs 3 --actions 8 --sizes";
    succeed(path, &words(&format!("{line} 4000")));
    let run = path.join("cost/runs/4000-rows-8-actions-3-epochs-seed-0/metrics.json");
    let before = json(&run);
    assert_eq!(
        (&before["n_train"], &before["n_test"]),
        (&4000.into(), &1000.into())
    );
    let table = succeed(path, &words(&format!("{line} 16000")));
    assert_eq!(json(&run), before, "a finished run is made again");
    assert!(table.contains("memory grows as the power"), "{table}");
    let rows = fields(&read(&path.join("cost/results.csv")));
    let sizes: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
    assert_eq!(sizes, ["1000", "4000", "16000"]);
    let number = |row: usize, column: usize| rows[row][column].parse::<f64>().unwrap();
    // The median of three steps with 16 times as many pairs of rows.
    assert!(number(3, 5) > 2.0 * number(2, 5), "{rows:?}");
    assert_eq!(number(1, 7), 0.0);
    assert!((number(3, 8) - 16_000.0 * 8.0 * 4.0 / 1_048_576.0).abs() < 1e-9);
    let exponents = &json(&path.join("cost/results.json"))["exponents"][0];
    assert!(exponents["seconds_per_step"].as_f64().unwrap() > 0.5);
    assert!(read(&path.join("cost/scale.svg")).contains("I = 8"));
}

/// Conjugate-gradient actions are closest to the eigenvectors, and random actions are farthest.
#[test]
fn trained_actions_are_between_those_by_residuals_and_random_ones() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let line =
        "experiment cagp-actions --out spans --quiet --rows 60 --actions 6 --steps 40 --seeds";
    succeed(path, &words(&format!("{line} 1")));
    let before = read(&path.join("spans/runs/seed-0.json"));
    let table = succeed(path, &words(&format!("{line} 2")));
    assert_eq!(read(&path.join("spans/runs/seed-0.json")), before);
    assert!(table.contains("for 2 of 2 seeds"), "{table}");
    let rows = fields(&read(&path.join("spans/results.csv")));
    assert_eq!(
        rows[0].join(","),
        "seed,step,cagp_cg,residuals,cagp_opt,random"
    );
    // The start and 20 measurements per seed.
    assert_eq!(rows.len(), 1 + 2 * 21);
    let plot = read(&path.join("spans/maps.svg"));
    // Five maps with 60 points per row, and the legend.
    assert_eq!(plot.matches("<circle").count(), 4 * 5 * 60 + 3);
    assert!(read(&path.join("spans/distances.svg")).contains("CaGP-Opt"));
}

/// The projected-data loss explains the function as noise.
#[test]
fn the_bound_is_the_better_loss() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let line =
        "experiment cagp-loss --out losses --quiet --rows 80 --actions 8 --steps 60 --seeds 1";
    let table = succeed(path, &words(line));
    assert!(table.contains("gets worse during training"), "{table}");
    let cells = json(&path.join("losses/results.json"));
    let number = |cell: usize, name: &str| cells[cell][name]["mean"].as_f64().unwrap();
    // CaGP-CG, then CaGP-Opt, each with the bound first.
    for bound in [0, 2] {
        assert!(number(bound, "nlpd") < number(bound + 1, "nlpd"));
    }
    assert!(number(0, "noise") < 0.3 && number(1, "noise") > 0.5);
    for plot in ["course.svg", "fits.svg"] {
        assert!(read(&path.join("losses").join(plot)).contains("CaGP-CG, projected"));
    }
}

/// Coverage uses the predictions of the cagp-uci runs, which both experiments share.
#[test]
fn coverage_is_that_of_the_runs_of_the_table() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "parkinsons", 90);
    let budget = "--data-dir . --quiet --seeds 2 --epochs 5 --actions 8 --inducing 8 --methods";
    let uci = "experiment cagp-uci --out cells";
    succeed(path, &words(&format!("{uci} {budget} svgp")));
    let before = read(&path.join("cells/results.csv"));
    let line = "experiment cagp-coverage --out coverage --cells cells";
    let table = succeed(path, &words(&format!("{line} {budget} svgp,cagp-opt-adam")));
    assert!(table.contains("parkinsons, 9 held-out rows"), "{table}");
    let records = json(&path.join("coverage/results.json"));
    assert_eq!(records.as_array().unwrap().len(), 2);
    for (record, method) in (records.as_array().unwrap().iter()).zip(["svgp", "cagp-opt-adam"]) {
        assert_eq!(record["method"], method);
        let mean = |name: &str| record[name]["mean"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&mean("at_95")) && mean("at_50") <= mean("at_95"));
        // The budget of the runs in the table.
        let budget = match method {
            "svgp" => "5-epochs-8-points-rate-0.1",
            _ => "5-epochs-8-actions-rate-1",
        };
        let run = path.join(format!("cells/runs/parkinsons/{method}/{budget}"));
        let covered = ["seed-0", "seed-1"].map(|seed| {
            let metrics = json(&run.join(seed).join("metrics.json"));
            metrics["coverage95"].as_f64().unwrap()
        });
        assert!((mean("at_95") - 0.5 * (covered[0] + covered[1])).abs() < 1e-12);
    }
    assert!(read(&path.join("coverage/parkinsons.svg")).contains("CaGP-Opt, Adam"));
    // The run made by the coverage experiment appears in the other table too.
    let table = succeed(path, &words(&format!("{uci} {budget} svgp")));
    assert!(table.contains("CaGP-Opt, Adam"), "{table}");
    assert!(!before.contains("cagp-opt-adam"));
}

/// Additional inputs join the existing ones in their order.
#[test]
fn inducing_points_have_distances_and_ratios() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let line = "experiment cagp-inducing --out places --quiet --rows 80 --inducing 8 --epochs 40 --dimensions";
    succeed(path, &words(&format!("{line} 6")));
    let before = read(&path.join("places/runs/6-inputs-seed-0.json"));
    let table = succeed(path, &words(&format!("{line} 2,6 --seeds 2")));
    assert_eq!(read(&path.join("places/runs/6-inputs-seed-0.json")), before);
    assert!(table.contains("closer than uniform points"), "{table}");
    let rows = fields(&read(&path.join("places/results.csv")));
    let made: Vec<String> = (rows[1..].iter())
        .map(|row| format!("{} {}", row[0], row[1]))
        .collect();
    assert_eq!(made, ["2 0", "2 1", "6 0", "6 1"]);
    for row in &rows[1..] {
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        assert!(
            number(2) > 0.0 && number(3) > 0.0 && number(6) > 0.0,
            "{row:?}"
        );
        // Fractions of a variance.
        assert!(
            [4, 5]
                .iter()
                .all(|&column| (0.0..1.0).contains(&number(column)))
        );
        assert!(number(4) < number(5), "{row:?}");
    }
    assert!(read(&path.join("places/inducing.svg")).contains("uniform points"));
}

/// Invalid sizes give a one-sentence message, and no folder is left behind.
#[test]
fn sizes_that_cannot_be_are_refused() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    let refused = |line: &str, sentence: &str| {
        let output = run(path, &words(&format!("experiment {line} --out bad")));
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert_eq!(message, format!("error: {sentence}\n"), "{line}");
        assert!(!path.join("bad").exists(), "{line}");
    };
    let zero = |option: &str| format!("--{option} is 0 but must be at least 1");
    refused("cagp-scale --sizes 2000,0", &zero("sizes"));
    refused("cagp-scale --actions 0", &zero("actions"));
    refused("cagp-actions --rows 0", &zero("rows"));
    refused("cagp-actions --seeds 0", &zero("seeds"));
    refused("cagp-loss --steps 0", &zero("steps"));
    refused("cagp-inducing --dimensions 2,0", &zero("dimensions"));
    refused(
        "cagp-loss --rows 5 --actions 6",
        "--actions is 6 but there are only 5 training rows; give at most 5",
    );
    refused(
        "cagp-inducing --lengthscale -1",
        "--lengthscale is -1 but must be a number above 1e-6",
    );
    refused("cagp-toy --steps 0", &zero("steps"));
    refused("cagp-toy --actions 0", &zero("actions"));
    refused(
        "cagp-toy --actions 251",
        "--actions is 251 but there are only 250 training rows; give at most 250",
    );
    refused("cagp-course --epochs 0", &zero("epochs"));
    refused("cagp-coverage --seeds 0", &zero("seeds"));
    refused("cagp-uci --line-searches 0", &zero("line-searches"));
    refused(
        "cagp-uci --learning-rate -1",
        "--learning-rate is -1 but must be a positive number",
    );
    write_collection(path, "parkinsons", 60);
    std::fs::write(path.join("file"), "").unwrap();
    refused(
        "cagp-coverage --data-dir . --cells file",
        "file holds no runs of cagp-uci on this device; choose another folder with --cells",
    );
}

/// The rows of trained actions are configurable, and the table names them next to the model.
#[test]
fn the_course_of_training_is_that_of_the_rows_that_are_asked_for() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "parkinsons", 90);
    let last_loss = |rows: &str, title: &str| {
        let line = format!(
            "experiment cagp-course --data-dir . --out {rows} --quiet --epochs 30 --actions 8 \
             --methods cagp-opt-adam --action-rows {rows}"
        );
        let table = succeed(path, &words(&line));
        assert!(table.contains(title), "{table}");
        let rows = fields(&read(&path.join(rows).join("results.csv")));
        rows.last().unwrap()[5].parse::<f64>().unwrap()
    };
    let near = last_loss("near", "CaGP-Opt, Adam, near rows  ");
    let given = last_loss("given", "CaGP-Opt, Adam  ");
    assert!((near - given).abs() > 1e-3, "near {near}, given {given}");
    // The same as the run of the program.
    let line = "experiment cagp-uci --data-dir . --out cells --quiet --epochs 30 --actions 8 \
                --methods cagp-opt-adam";
    succeed(path, &words(line));
    let run = path.join("cells/runs/parkinsons/cagp-opt-adam/30-epochs-8-actions-rate-1/seed-0");
    let log = fields(&read(&run.join("training_log.csv")));
    let logged: f64 = log.last().unwrap()[2].parse().unwrap();
    assert_eq!(near, logged);
}

/// All models of the table can have a learning curve. By default two of them do.
#[test]
fn the_course_of_training_has_scores_and_hyperparameters() {
    let folder = temp_dir::TempDir::new().unwrap();
    let path = folder.path();
    write_collection(path, "parkinsons", 90);
    let line = "experiment cagp-course --data-dir . --out course --quiet --epochs 40 --actions 8 \
                --inducing 8";
    let table = succeed(path, &words(line));
    assert!(
        table.contains("here, compared with SVGP, CaGP-Opt ends"),
        "{table}"
    );
    let run = path.join("course/runs/parkinsons/svgp/40-epochs-8-points-rate-0.1/seed-0");
    let before = read(&run.join("metrics.json"));
    let others = "exact,sgpr-l-bfgs,cggp,cagp-cg";
    let table = succeed(path, &words(&format!("{line} --methods {others}")));
    for title in ["SVGP", "CholeskyGP", "SGPR, L-BFGS", "CGGP", "CaGP-CG"] {
        assert!(table.contains(title), "{title} is not in\n{table}");
    }
    assert_eq!(read(&run.join("metrics.json")), before);
    let rows = fields(&read(&path.join("course/results.csv")));
    let opt: Vec<&Vec<String>> = rows
        .iter()
        .filter(|row| row[1] == "cagp-opt-adam")
        .collect();
    let steps: Vec<usize> = opt.iter().map(|row| row[3].parse().unwrap()).collect();
    assert_eq!(steps, (1..=40).collect::<Vec<usize>>());
    // Training decreases the loss, and it starts as in the paper.
    let number = |row: usize, column: usize| opt[row][column].parse::<f64>().unwrap();
    assert!(number(39, 5) < number(0, 5));
    for plot in ["scores", "hyperparameters"] {
        let plot = path.join(format!("course/parkinsons-{plot}.svg"));
        assert!(read(&plot).contains("CaGP-Opt, Adam"));
    }
}
