//! Table and plots of the distances between actions and eigenvectors.

use std::f64::consts::FRAC_PI_2;

use serde::Serialize;

use super::actions::{Distances, NAME, Run};
use crate::failure::Failure;
use crate::plots::{self, Caption, CurveName, CurvePanel, PlotError, PointMaps, Quantity, Span};
use crate::standard_output::print;
use crate::study::{CsvLine, ExperimentFolder, summary_text};
use crate::summary::Summary;
use crate::text_table::aligned;

/// Display name, name in files, and the distance.
type Compared = (&'static str, &'static str, fn(&Distances) -> f64);

/// The compared actions.
const ACTIONS: [Compared; 4] = [
    ("CaGP-CG", "cagp_cg", |at| at.cagp_cg),
    ("CG, as CaGP-Opt", "residuals", |at| at.residuals),
    ("CaGP-Opt", "cagp_opt", |at| at.cagp_opt),
    ("random", "random", |at| at.random),
];

/// Distances after a step, summarized over the seeds.
#[derive(Serialize)]
struct Look {
    step: usize,
    cagp_cg: Option<Summary>,
    residuals: Option<Summary>,
    cagp_opt: Option<Summary>,
    random: Option<Summary>,
}

/// The results as JSON.
#[derive(Serialize)]
struct Record {
    seeds: usize,
    looks: Vec<Look>,
    /// The number of seeds for which CaGP-CG ends closest to the eigenvectors and random vectors
    /// end farthest.
    in_the_order_of_the_paper: usize,
}

/// Writes the table and the plots of all runs in the folder.
pub(super) fn report(folder: &ExperimentFolder, count: usize) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.made()?;
    runs.sort_by_key(|run| run.seed);
    let record = Record {
        seeds: runs.len(),
        looks: looks(&runs),
        in_the_order_of_the_paper: runs.iter().filter(|run| is_ordered(run)).count(),
    };
    folder.write_results(&record, &csv_lines(&runs))?;
    let drawn = [draw_maps(folder, &runs), draw_distances(folder, &record)];
    drawn.into_iter().for_each(plots::warn_undrawn);
    print(&text(&record, count, folder))
}

fn is_ordered(run: &Run) -> bool {
    let last = run.distances.last();
    last.is_some_and(|at| at.cagp_cg < at.cagp_opt && at.cagp_opt < at.random)
}

fn looks(runs: &[Run]) -> Vec<Look> {
    let count = runs.iter().map(|run| run.distances.len()).min();
    let look = |index: usize| {
        let summary = |(_, _, number): Compared| {
            let values = runs.iter().map(|run| number(&run.distances[index]));
            Summary::of(&values.collect::<Vec<f64>>())
        };
        let [cagp_cg, residuals, cagp_opt, random] = ACTIONS.map(summary);
        Look {
            step: runs[0].distances[index].step,
            cagp_cg,
            residuals,
            cagp_opt,
            random,
        }
    };
    (0..count.unwrap_or(0)).map(look).collect()
}

impl Look {
    /// The summaries in the order of [`ACTIONS`].
    fn summaries(&self) -> [Option<Summary>; 4] {
        [self.cagp_cg, self.residuals, self.cagp_opt, self.random]
    }
}

fn text(record: &Record, count: usize, folder: &ExperimentFolder) -> String {
    let (Some(first), Some(last)) = (record.looks.first(), record.looks.last()) else {
        return String::new();
    };
    let title = |look: &Look| format!("after {} steps", look.step);
    let mut rows = vec![vec!["actions".to_owned(), title(first), title(last)]];
    let pairs = first.summaries().into_iter().zip(last.summaries());
    rows.extend(
        ACTIONS
            .iter()
            .zip(pairs)
            .map(|((title, ..), (first, last))| {
                vec![
                    (*title).to_owned(),
                    summary_text(first, 3),
                    summary_text(last, 3),
                ]
            }),
    );
    let mut lines = vec![format!(
        "{NAME}: distance of the span of {count} actions to that of the first {count} eigenvectors, at \
         most {:.3}",
        (count as f64).sqrt() * FRAC_PI_2
    )];
    lines.extend(aligned(&rows));
    let (ordered, seeds) = (record.in_the_order_of_the_paper, record.seeds);
    lines.push(format!(
        "mean (standard error) over the seeds; CG, as CaGP-Opt: what conjugate gradients choose under the \
         hyperparameters\nof CaGP-Opt, as random vectors are. The paper (arXiv:2411.01036, Figure 2) has \
         no numbers: CaGP-CG is closer than\nCaGP-Opt, and both are closer than random vectors. So they \
         end here for {ordered} of {seeds} seeds."
    ));
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// One line for each evaluation.
fn csv_lines(runs: &[Run]) -> Vec<CsvLine> {
    let line = |run: &Run, at: &Distances| {
        let line = CsvLine::default()
            .with("seed", run.seed)
            .with("step", at.step);
        (ACTIONS.iter()).fold(line, |line, (_, name, number)| line.with(*name, number(at)))
    };
    let looks = runs
        .iter()
        .flat_map(|run| run.distances.iter().map(move |at| line(run, at)));
    looks.collect()
}

/// Draws the first vectors of the first seed.
fn draw_maps(folder: &ExperimentFolder, runs: &[Run]) -> Result<(), PlotError> {
    let Some(run) = runs.first() else {
        return Ok(());
    };
    let maps: Vec<PointMaps<'_>> = (run.drawn.iter())
        .map(|drawn| PointMaps {
            name: &drawn.name,
            vectors: &drawn.vectors,
        })
        .collect();
    let caption = Caption {
        data: "two inputs",
        model: "entries of the first vectors, under the hyperparameters of CaGP-Opt",
    };
    plots::point_maps(&folder.path().join("maps.svg"), caption, &run.points, &maps)
}

fn draw_distances(folder: &ExperimentFolder, record: &Record) -> Result<(), PlotError> {
    let names = ACTIONS.map(|(title, ..)| CurveName {
        text: title.to_owned(),
        dashed: title == "CG, as CaGP-Opt",
    });
    let curve = |index: usize| -> Vec<(f64, f64)> {
        let points = record.looks.iter().filter_map(|look| {
            let summary = look.summaries()[index]?;
            Some((look.step as f64, summary.mean))
        });
        points.collect()
    };
    let panel = CurvePanel {
        title: "to the first eigenvectors",
        value: Quantity::of("Grassmann distance"),
        curves: (0..ACTIONS.len()).map(curve).collect(),
        span: Span::FromZero,
    };
    let caption = Caption {
        data: "two inputs",
        model: "spans of actions in the course of training, means over the seeds",
    };
    let along = Quantity::of("step");
    let path = folder.path().join("distances.svg");
    plots::curves(&path, "Distances", caption, &names, along, &[panel])
}
