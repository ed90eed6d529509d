//! The protocol of regression with W-, L- and R-SVGP: section 4.2 of S. Cortinovis, L. Aitchison,
//! S. Eleftheriadis and M. van der Wilk, "Inverse-Free Sparse Variational Gaussian Processes",
//! arXiv:2604.00697.
//!
//! The kernel is squared exponential with one lengthscale for each input; the mean is zero. A random 10 % of
//! the rows are test rows, and everything is standardized by the training rows. Variance, lengthscales and
//! noise variance start at 1, inducing points at cluster centers. The learning rate of Adam is 0.005. Splits,
//! batches and probes depend on the seed; the authors' program uses the same split for all seeds.

use burn_gp_runs::study::{
    Along, CellDetails, Column, Curves, Panel, Plot, RunRequest, Table, merged,
};
use serde_json::{Value, json};

/// The three posteriors.
pub(super) const METHODS: &str = "
w | W-SVGP | W-SVGP: whitened, with Cholesky factors
l | L-SVGP | L-SVGP: pseudo-observations, with Cholesky factors
r | R-SVGP | R-SVGP: pseudo-observations, with matrix products only
";

/// The options of all runs.
pub(super) fn run(request: &RunRequest<'_>) -> Value {
    let base = json!({
        "default_priors": false,
        "kernel": "rbf(lengthscale=1 std)",
        "isotropic": false,
        "mean": "zero",
        "likelihood": "gaussian",
        "noise": 1.0,
        "initializer": "k-means",
        "test_fraction": 0.1,
        "learning_rate": 0.005,
        "schedule": "constant",
        "score_every": 0.04,
    });
    let model = match request.value("method") {
        // The other models use no jitter.
        "w" => json!({ "model": "svgp", "jitter": 1e-6 }),
        "l" => json!({ "model": "l-svgp" }),
        _ => json!({ "model": "inverse-free" }),
    };
    merged(base, model)
}

/// R-SVGP with a damped inversion and inducing points in Figures 2 and S1: inversions make steps of size 1
/// until the residual is 0.005. Inducing points are frozen for 1000 of 20 000 steps, and for the same share
/// of fewer steps; then they are trained with β₁ = 0.99 and a learning rate of 0.001 that is multiplied by
/// 0.95 after 100 steps without a lower loss.
pub(super) fn damped(steps: u64) -> Value {
    json!({
        "inversion": "full",
        "inversion_tolerance": 0.005,
        "inducing_rate": 0.001,
        "inducing_momentum": 0.99,
        "inducing_plateau": 100,
        "inducing_frozen": (steps as f64 * 0.05) as u64,
    })
}

/// A table of methods and sizes, named by the data set, this title and the number of inducing points.
pub(super) fn table(
    title: fn(&CellDetails<'_>) -> String,
    name: fn(&CellDetails<'_>) -> String,
    columns: Vec<Column>,
) -> Table {
    Table {
        title,
        name,
        heading: Some(|cell| Some(format!("{}, test rows", cell.data()))),
        bare: true,
        columns,
        ..Table::default()
    }
}

/// The columns of such a table. The seconds are divided by those of `reference`; `has_dashes` adds a column
/// for a paper without numbers.
pub(super) fn columns(
    title: Column,
    has_dashes: bool,
    (ratio, reference): (&str, (&'static str, &'static str)),
) -> Vec<Column> {
    let mut columns = vec![
        Column::text("data", "", |cell| Some(cell.data().to_owned())),
        Column::axis("method", "", "method"),
        title,
        Column::text("inducing", "M", |cell| cell.get("inducing")),
        Column::text("probes", "", |cell| cell.get("probes")),
        Column::text("steps", "", |cell| cell.get("steps")),
        Column::seeds("seeds", ""),
        Column::metric("nlpd", "NLPD").with_paper(),
    ];
    columns.extend(has_dashes.then(|| Column::text("", "paper", |_| Some("-".into()))));
    columns.extend([
        Column::metric("rmse", "RMSE"),
        Column::score("loss", "", |run| run.curve("loss")?.last().copied()),
        Column::text("", "steps", |cell| cell.get("steps")),
        Column::score("seconds", "seconds", |run| run.get("train_seconds")).digits(1),
        Column::milliseconds("").mean_only(),
        Column::ratio("seconds_ratio", ratio, "train_seconds", reference),
        Column::seeds("", "seeds"),
    ]);
    columns
}

/// NLPD against seconds, with a panel for each number of inducing points.
pub(super) fn curves() -> Plot {
    Plot::Curves(Curves {
        over: Along::Seconds,
        caption: |_| Some("test rows, means over the seeds".into()),
        curve: |cell| cell.title_of("method").to_owned(),
        panels: Some("inducing"),
        shown: vec![Panel {
            title: |cell| format!("M = {}", cell.value("inducing")),
            column: "nlpd",
            sign: 1.0,
            name: "NLPD",
        }],
    })
}
