//! Table and plots of the distances between actions and eigenvectors.

use std::f64::consts::FRAC_PI_2;
use std::path::Path;

use burn_gp_runs::{
    failure::Failure,
    plots::{self, Caption, CurveName, CurvePanel, PlotError, PointMaps, Quantity, Span},
    study::{ExperimentFolder, ResultRow, points, table},
    summary::Summary,
};
use serde::Serialize;

use super::actions::{Distances, NAME, Run};

/// Display name, name in files, and the distance.
type Compared = (&'static str, &'static str, fn(&Distances) -> f64);

/// The compared actions.
const ACTIONS: [Compared; 4] = [
    ("CaGP-CG", "cagp_cg", |at| at.cagp_cg),
    ("CG, as CaGP-Opt", "residuals", |at| at.residuals),
    ("CaGP-Opt", "cagp_opt", |at| at.cagp_opt),
    ("random", "random", |at| at.random),
];

/// The results as JSON.
#[derive(Serialize)]
struct Record {
    seeds: usize,
    /// Distances after some steps, summarized over the seeds.
    snapshots: Vec<ResultRow>,
    /// The number of seeds for which CaGP-CG ends closest to the eigenvectors and random vectors
    /// end farthest.
    in_the_order_of_the_paper: usize,
}

/// Writes the table and the plots of all runs in the folder.
pub(super) fn report(folder: &ExperimentFolder, count: usize) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.load_all()?;
    runs.sort_by_key(|run| run.seed);
    let snapshots = runs.iter().map(|run| run.distances.len()).min();
    let record = Record {
        seeds: runs.len(),
        snapshots: (0..snapshots.unwrap_or(0))
            .map(|index| snapshot(&runs, index))
            .collect(),
        in_the_order_of_the_paper: runs.iter().filter(|run| is_ordered(run)).count(),
    };
    let own = |run: &Run| {
        run.distances
            .iter()
            .map(|at| line(run, at))
            .collect::<Vec<_>>()
    };
    let lines: Vec<ResultRow> = runs.iter().flat_map(own).collect();
    folder.write_results(&record, &lines)?;
    if let Some(run) = runs.first() {
        folder.draw("maps.svg", |path| draw_maps(path, run));
    }
    folder.draw("distances.svg", |path| draw_distances(path, &record));
    folder.print(text(&record, count));
    Ok(())
}

fn is_ordered(run: &Run) -> bool {
    let last = run.distances.last();
    last.is_some_and(|at| at.cagp_cg < at.cagp_opt && at.cagp_opt < at.random)
}

/// The distances at one evaluation of all runs.
fn snapshot(runs: &[Run], index: usize) -> ResultRow {
    let line = ResultRow::default().with("step", runs[0].distances[index].step);
    ACTIONS.iter().fold(line, |line, &(_, key, number)| {
        let values = runs.iter().map(|run| number(&run.distances[index]));
        line.with(key, Summary::of(values))
    })
}

/// The distances at one evaluation of a run.
fn line(run: &Run, at: &Distances) -> ResultRow {
    let line = ResultRow::default()
        .with("seed", run.seed)
        .with("step", at.step);
    (ACTIONS.iter()).fold(line, |line, &(_, key, number)| line.with(key, number(at)))
}

fn text(record: &Record, count: usize) -> Vec<String> {
    let (Some(first), Some(last)) = (record.snapshots.first(), record.snapshots.last()) else {
        return Vec::new();
    };
    let title = |snapshot: &ResultRow| format!("after {} steps", snapshot.text("step", 0));
    let rows = ACTIONS.map(|(name, key, _)| {
        ResultRow::default()
            .shown("actions", name)
            .shown(title(first), first.text(key, 3))
            .shown(title(last), last.text(key, 3))
    });
    let mut lines = vec![format!(
        "{NAME}: distance between the span of {count} actions and that of the first {count} eigenvectors, \
         at most {:.3}",
        (count as f64).sqrt() * FRAC_PI_2
    )];
    lines.extend(table(&rows));
    let (ordered, seeds) = (record.in_the_order_of_the_paper, record.seeds);
    lines.push(format!(
        "mean (standard error) over the seeds; CG, as CaGP-Opt: actions of conjugate gradients under the \
         hyperparameters\nof CaGP-Opt, which random vectors use too. The paper (arXiv:2411.01036, Figure 2) has \
         no numbers: CaGP-CG is closer than\nCaGP-Opt, and both are closer than random vectors. This order \
         holds here for {ordered} of {seeds} seeds."
    ));
    lines
}

/// Draws the first vectors of a seed.
fn draw_maps(path: &Path, run: &Run) -> Result<(), PlotError> {
    let maps: Vec<PointMaps<'_>> = (run.drawn.iter())
        .map(|drawn| PointMaps {
            name: &drawn.name,
            vectors: &drawn.vectors,
        })
        .collect();
    let caption = Caption::new(
        "two inputs",
        "entries of the first vectors, under the hyperparameters of CaGP-Opt",
    );
    plots::point_maps(path, caption, &run.points, &maps)
}

fn draw_distances(path: &Path, record: &Record) -> Result<(), PlotError> {
    let names = ACTIONS.map(|(title, ..)| CurveName::dashed_if(title == "CG, as CaGP-Opt", title));
    let curves = ACTIONS.map(|(_, key, _)| points(&record.snapshots, "step", key));
    let panel = CurvePanel {
        value: Quantity::of("Grassmann distance"),
        ..CurvePanel::new("to the first eigenvectors", Span::FromZero, curves.into())
    };
    let caption = Caption::new(
        "two inputs",
        "spans of actions during training, means over the seeds",
    );
    let along = Quantity::of("step");
    plots::curves(path, "Distances", caption, &names, along, &[panel])
}
