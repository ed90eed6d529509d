//! Whitening: section 6.3, Figure 3b of J. Shi, M. Titsias and A. Mnih, "Sparse Orthogonal Variational
//! Inference for Gaussian Processes", arXiv:1910.10596: test error and log density in the course of training.
//!
//! The paper shows houseelectric in a figure without a table.

use burn_gp_runs::study::{
    Along, Axis, AxisValue, CellDetails, Column, Curves, DataSets, Note, Panel, Plot,
    RegisteredStudy, RunRequest, Seeds, Study, StudyOption, Table, merged,
};
use serde_json::{Value, json};

use super::solve_protocol as protocol;

inventory::submit! { RegisteredStudy(study) }

fn study() -> Study {
    let models = AxisValue::list(
        "
        svgp-unwhitened | SVGP 2M, unwhitened
        solve-unwhitened | SOLVE-GP M+M, unwhitened
        svgp | SVGP 2M, whitened
        solve | SOLVE-GP M+M, whitened
        ",
    );
    Study {
        name: "solve-ablation",
        about: "Learning curves of whitened and unwhitened SVGP and SOLVE-GP (arXiv:1910.10596, Figure 3b)",
        help: "SVGP with 2M inducing points and SOLVE-GP with M and M orthogonal ones, each whitened and\n\
               unwhitened, trained as in solve-regression, with their test scores during training. The paper's\n\
               data set is houseelectric; --data-set chooses another.",
        figures: true,
        data: DataSets {
            option: Some("data-set"),
            of_paper: Some("houseelectric"),
            ..DataSets::new(&["kin40k"])
        },
        seeds: Seeds {
            paper: 1,
            ..Seeds::default()
        },
        axes: vec![Axis::new("model", models)],
        options: StudyOption::list(
            "
            inducing | inducing | Inducing points M [default: 1024; quick: 128]
            epochs | epochs | Epochs [default: 100; quick: 10]
            ",
        ),
        run,
        table: table(),
        plots: vec![plot()],
        notes: vec![Note::new(
            "scores in standardized units, on the way and at the end. In the paper (arXiv:1910.10596, Figure 3b:\n\
             curves of houseelectric, no table) SOLVE-GP 1024+1024 is ahead of SVGP 2048 without whitening, and\n\
             level with it whitened.",
        )],
        ..Study::default()
    }
}

fn run(request: &RunRequest<'_>) -> Value {
    let model = request.value("model");
    let inducing = request.count("inducing", 128, 1024);
    let is_orthogonal = model.starts_with("solve");
    let own = json!({
        "model": model,
        "inducing": if is_orthogonal { inducing } else { 2 * inducing },
        "orthogonal": is_orthogonal.then_some(inducing),
        "score_every": 0.02,
    });
    merged(protocol::run(request.given_or("epochs", 10, 100)), own)
}

/// The number M, which the cells with orthogonal inducing points tell.
fn size(cell: &CellDetails<'_>) -> Option<String> {
    let (orthogonal, seed) = (cell.get("orthogonal")?, cell.get("seed")?);
    Some(format!("M = {orthogonal}, test rows, seed {seed}"))
}

fn table() -> Table {
    Table {
        heading: Some(|cell| Some(format!("{}: {}", cell.data(), size(cell)?))),
        digits: 4,
        bare: true,
        snapshots: &[0.25, 1.0],
        columns: vec![
            Column::text("model", "model", |cell| Some(cell.title())),
            Column::text("step", "steps", |cell| cell.get("step")),
            Column::metric("seconds", ""),
            Column::metric("rmse", ""),
            Column::score("log_density", "test LL", |run| Some(-run.get("nlpd")?)),
            Column::score("", "test RMSE", |run| run.get("rmse")),
            Column::milliseconds("").mean_only(),
        ],
        ..Table::default()
    }
}

fn plot() -> Plot {
    let panel = |title, column, sign, name| Panel {
        title,
        column,
        sign,
        name,
    };
    Plot::Curves(Curves {
        over: Along::Step,
        caption: size,
        curve: |cell| cell.title(),
        panels: None,
        shown: vec![
            panel(|_| "error of the test rows".into(), "rmse", 1.0, "RMSE"),
            panel(
                |_| "log density of the test rows".into(),
                "nlpd",
                -1.0,
                "mean log density",
            ),
        ],
    })
}
