//! The simulated temperatures of M. J. Heaton et al., "A Case Study Competition Among Methods for Analyzing Large
//! Spatial Data", arXiv:1710.05013: 105 569 training rows on a grid of 500 by 300 places, and 44 431 test rows in gaps
//! with the shapes of clouds.
//!
//! The kernel is the one of the simulation, exponential, in degrees of a plane. The competition's methods have kernels
//! and settings of their own, so that its scores are below the table and not beside single cells.

use burn_gp_runs::study::{
    Axis, AxisValue, Column, DataSets, FinishedCell, Note, RegisteredStudy, ResultRow, RunRequest,
    ScaleName, Seeds, Study, StudyOption, Table, merged, table,
};
use serde_json::{Value, json};

inventory::submit! { RegisteredStudy(study) }

fn study() -> Study {
    Study {
        name: "map-competition",
        about: "Simulated temperatures on a map with nearest neighbors and inducing points (arXiv:1710.05013)",
        help: "The simulated data of the competition: the folder of the data sets has them as\n\
               spatial/simulated.train.csv.gz and spatial/simulated.test.csv.gz, with the columns lon, lat and the\n\
               temperature. Scores are in the units of the temperature. Those of the competition that could be\n\
               checked are below the table.",
        data: DataSets {
            files_in: Some("spatial"),
            ..DataSets::fixed(&["simulated"])
        },
        seeds: Seeds {
            paper: 1,
            ..Seeds::default()
        },
        axes: vec![methods()],
        options: StudyOption::in_folders(OPTIONS),
        run,
        folder: |cell| {
            let parts = [
                (cell.get("neighbors"), "neighbors"),
                (cell.get("inducing"), "points"),
                (cell.get("steps"), "steps"),
            ];
            let mut name = cell.value("method").to_owned();
            for (number, what) in parts {
                name.extend(number.map(|number| format!("-{number}-{what}")));
            }
            vec![name]
        },
        scale_in_folder: true,
        table: Table {
            columns: columns(),
            ..Table::default()
        },
        notes: vec![Note::new(
            "scores of the test rows in the units of the temperature, 95 % intervals; seconds of the steps alone",
        )],
        findings: competition,
        ..Study::default()
    }
}

fn methods() -> Axis {
    let methods = AxisValue::list(
        "
        vecchia | vecchia | Nearest neighbors
        vif | vif | Inducing points, and nearest neighbors for what they leave
        sgpr | sgpr | Inducing points, collapsed bound
        svgp | svgp | Inducing points, mini-batches
        ",
    );
    Axis::new("method", methods)
        .chosen_by("methods", "Models, such as vecchia,sgpr")
        .with_default("all; quick: vecchia,sgpr")
        .only(|method, _, scale| scale == ScaleName::Paper || ["vecchia", "sgpr"].contains(&method))
}

const OPTIONS: &str = "
neighbors | neighbors | Neighbors in training; twice as many in predictions [default: 30]
inducing | inducing | Inducing points [default: 512; quick: 128]
steps | steps | Steps of all models [default: until nothing changes, with sgpr 200 and svgp 4000; quick: sgpr 50]
";

fn run(request: &RunRequest<'_>) -> Value {
    let method = request.value("method");
    let neighbors = request.count("neighbors", 30, 30);
    let own = match method {
        "vecchia" | "vif" => json!({
            "neighbors": neighbors,
            "prediction_neighbors": 2 * neighbors,
            "steps": request.given("steps"),
        }),
        "sgpr" => json!({ "steps": request.given_or("steps", 50, 200) }),
        _ => json!({ "steps": request.given_or("steps", 1000, 4000), "batch_size": 1024 }),
    };
    let inducing = (method != "vecchia").then(|| request.given_or("inducing", 128, 512));
    merged(
        json!({
            "model": method,
            "kernel": "matern12",
            // The rows were drawn in degrees of a plane, not on the sphere.
            "kind": ["lon=number", "lat=number"],
            "inducing": inducing,
        }),
        own,
    )
}

fn columns() -> Vec<Column> {
    vec![
        Column::text("", "model", |cell| Some(cell.title())),
        Column::text("neighbors", "neighbors", |cell| cell.get("neighbors")),
        Column::text("inducing", "points", |cell| cell.get("inducing")),
        Column::text("steps", "steps", |cell| cell.get("steps")),
        Column::score("mae", "MAE", |run| run.get("mae_original")),
        Column::score("rmse", "RMSE", |run| run.get("rmse_original")),
        Column::score("crps", "CRPS", |run| run.get("crps_original")),
        Column::score("interval_score95", "interval score", |run| {
            run.get("interval_score95_original")
        })
        .digits(2),
        Column::metric("coverage95", "coverage"),
        Column::metric("train_seconds", "seconds").digits(1),
        Column::seeds("seeds", ""),
    ]
}

/// The published scores that could be checked: those of the predictive process were computed again from its
/// predictions, which are in the repository of the competition, and the RMSE of the others is the same in two places.
const PUBLISHED: [(&str, [&str; 5]); 6] = [
    (
        "predictive process",
        ["1.059", "1.431", "0.761", "7.33", "0.894"],
    ),
    ("SPDE", ["-", "0.86", "-", "-", "-"]),
    ("LatticeKrig", ["-", "0.87", "-", "-", "-"]),
    ("periodic embedding", ["-", "0.91", "-", "-", "-"]),
    ("gapfill", ["-", "1.00", "-", "-", "-"]),
    ("local approximation (LAGP)", ["-", "1.11", "-", "-", "-"]),
];

/// The competition's methods, below the table.
fn competition(_cells: &[FinishedCell]) -> Vec<String> {
    let titles = ["MAE", "RMSE", "CRPS", "interval score", "coverage"];
    let row = |(method, scores): &(&'static str, [&'static str; 5])| {
        let row = ResultRow::default().shown("in the competition", method);
        titles
            .iter()
            .zip(scores)
            .fold(row, |row, (title, score)| row.shown(*title, score))
    };
    let rows: Vec<ResultRow> = PUBLISHED.iter().map(row).collect();
    let mut lines = vec![String::new()];
    lines.extend(table(&rows));
    lines.push(String::new());
    lines.push(
        "the competition's methods have kernels and settings of their own (arXiv:1710.05013); a dash is a score that \
         could\nnot be checked, and methods without a checked score are left out"
            .to_owned(),
    );
    lines
}
