//! Table and plot of the positions of inducing points.

use serde::Serialize;

use super::inducing::{NAME, NOISE, Run};
use crate::failure::Failure;
use crate::plots::{self, Caption, CurveName, CurvePanel, PlotError, Quantity, Span};
use crate::standard_output::print;
use crate::study::{CsvLine, ExperimentFolder, summary_text};
use crate::summary::Summary;
use crate::text_table::aligned;

/// A summary over the seeds of a number of inputs.
#[derive(Serialize)]
struct Cell {
    dimensions: usize,
    seeds: usize,
    distance: Option<Summary>,
    uniform_distance: Option<Summary>,
    ratio: Option<Summary>,
    exact_ratio: Option<Summary>,
    noise: Option<Summary>,
    lengthscale: Option<Summary>,
}

impl Cell {
    fn new(runs: &[Run]) -> Self {
        let summary =
            |number: fn(&Run) -> f64| Summary::of(&runs.iter().map(number).collect::<Vec<f64>>());
        Self {
            dimensions: runs[0].dimensions,
            seeds: runs.len(),
            distance: summary(|run| run.distance),
            uniform_distance: summary(|run| run.uniform_distance),
            ratio: summary(|run| run.ratio),
            exact_ratio: summary(|run| run.exact_ratio),
            noise: summary(|run| run.noise),
            lengthscale: summary(|run| run.lengthscale),
        }
    }

    fn row(&self) -> Vec<String> {
        let numbers = [
            self.distance,
            self.uniform_distance,
            self.ratio,
            self.exact_ratio,
            self.noise,
            self.lengthscale,
        ];
        let mut row = vec![self.dimensions.to_string()];
        row.extend(numbers.map(|number| summary_text(number, 3)));
        row.push(self.seeds.to_string());
        row
    }
}

const TITLES: [&str; 8] = [
    "inputs",
    "distance",
    "uniform",
    "ratio",
    "exact",
    "noise deviation",
    "lengthscale",
    "seeds",
];

/// Writes the table and the plot of all runs in the folder.
pub(super) fn report(folder: &ExperimentFolder, inducing: usize) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.made()?;
    runs.sort_by_key(|run| (run.dimensions, run.seed));
    let groups = runs.chunk_by(|a, b| a.dimensions == b.dimensions);
    let cells: Vec<Cell> = groups.map(Cell::new).collect();
    let lines: Vec<CsvLine> = runs.iter().map(line).collect();
    folder.write_results(&cells, &lines)?;
    plots::warn_undrawn(draw(folder, &cells));
    print(&text(&cells, inducing, folder))
}

fn text(cells: &[Cell], inducing: usize, folder: &ExperimentFolder) -> String {
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(cells.iter().map(Cell::row));
    let mut lines = vec![format!(
        "{NAME}: {inducing} inducing points of SVGP; the data's noise deviation is {NOISE}"
    )];
    lines.extend(aligned(&rows));
    lines.push(
        "mean (standard error) over the seeds; distance: from an inducing point to the nearest row, in \
         trained lengthscales (eq. S24);\nuniform: from as many uniform points; ratio: of the function's \
         variance to a target's at the inducing points (eq. S25);\nexact: that of CholeskyGP with the \
         hyperparameters of the data. The paper (arXiv:2411.01036, Figure S3) has no numbers:\ninducing \
         points are closer to the data than uniform ones, the farther the more inputs there are; the ratio \
         is small already\nwith four inputs, far below the exact one."
            .into(),
    );
    lines.push(finding(cells));
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// States for which numbers of inputs the paper's findings hold here.
fn finding(cells: &[Cell]) -> String {
    let mean = |summary: Option<Summary>| summary.map_or(f64::NAN, |summary| summary.mean);
    let inputs = |holds: &mut dyn FnMut(&Cell) -> bool| {
        let held = cells.iter().map(|cell| (cell.dimensions, holds(cell)));
        ranges(&held.collect::<Vec<(usize, bool)>>())
    };
    let nearer = inputs(&mut |cell| mean(cell.distance) < mean(cell.uniform_distance));
    let surer = inputs(&mut |cell| mean(cell.ratio) < mean(cell.exact_ratio));
    let mut before = f64::NAN;
    let farther = inputs(&mut |cell| {
        let distance = mean(cell.distance);
        let is_farther = distance > before;
        before = distance;
        is_farther
    });
    format!(
        "here, by numbers of inputs: closer than uniform points: {nearer}; farther than with the fewer \
         inputs above: {farther};\nratio below the exact one: {surer}"
    )
}

/// The numbers with a true condition; consecutive ones are written as ranges.
fn ranges(numbers: &[(usize, bool)]) -> String {
    let runs = numbers.chunk_by(|a, b| a.1 == b.1).filter(|run| run[0].1);
    let ranges: Vec<String> = runs
        .map(|run| match (run[0].0, run[run.len() - 1].0) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        })
        .collect();
    match ranges.is_empty() {
        true => "none".to_owned(),
        false => ranges.join(", "),
    }
}

/// A line of the CSV file.
fn line(run: &Run) -> CsvLine {
    CsvLine::default()
        .with("inputs", run.dimensions)
        .with("seed", run.seed)
        .with("distance", run.distance)
        .with("uniform_distance", run.uniform_distance)
        .with("ratio", run.ratio)
        .with("exact_ratio", run.exact_ratio)
        .with("noise_deviation", run.noise)
        .with("lengthscale", run.lengthscale)
}

/// Draws distances and ratios against the number of inputs.
fn draw(folder: &ExperimentFolder, cells: &[Cell]) -> Result<(), PlotError> {
    let curve = |number: fn(&Cell) -> Option<Summary>| -> Vec<(f64, f64)> {
        let points = cells
            .iter()
            .filter_map(|cell| Some((cell.dimensions as f64, number(cell)?.mean)));
        points.collect()
    };
    let panels = [
        CurvePanel {
            title: "distance to the nearest row",
            value: Quantity::of("trained lengthscales"),
            curves: vec![
                curve(|cell| cell.distance),
                curve(|cell| cell.uniform_distance),
            ],
            span: Span::FromZero,
        },
        CurvePanel {
            title: "function's part of a target's variance",
            value: Quantity::of("ratio of variances"),
            curves: vec![
                curve(|cell| cell.ratio),
                Vec::new(),
                curve(|cell| cell.exact_ratio),
            ],
            span: Span::Window(0.0, 1.0),
        },
    ];
    let names = [
        "SVGP",
        "uniform points",
        "CholeskyGP, hyperparameters of the data",
    ];
    let caption = Caption {
        data: "draws of a process",
        model: "at the inducing points of SVGP, means over the seeds",
    };
    let path = folder.path().join("inducing.svg");
    let along = Quantity::of("inputs");
    let names = names.map(CurveName::from);
    plots::curves(&path, "Inducing points", caption, &names, along, &panels)
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbors_are_ranges() {
        let numbers = [(1, true), (2, false), (4, true), (8, true), (16, true)];
        assert_eq!(ranges(&numbers), "1, 4 to 16");
        assert_eq!(ranges(&[(1, false)]), "none");
    }
}
