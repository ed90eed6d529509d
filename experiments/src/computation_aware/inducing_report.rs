//! Table and plot of the positions of inducing points.

use std::path::Path;

use burn_gp_runs::{
    failure::Failure,
    plots::{self, Caption, CurveName, CurvePanel, PlotError, Quantity, Span},
    study::{ExperimentFolder, ResultRow, points, table},
    summary::Summary,
};

use super::inducing::{NAME, NOISE, Run};

/// Title, key of the means, key of the values of a run, and the value.
type Number = (&'static str, &'static str, &'static str, fn(&Run) -> f64);

const NUMBERS: [Number; 6] = [
    ("distance", "distance", "distance", |run| run.distance),
    ("uniform", "uniform_distance", "uniform_distance", |run| {
        run.uniform_distance
    }),
    ("ratio", "ratio", "ratio", |run| run.ratio),
    ("exact", "exact_ratio", "exact_ratio", |run| run.exact_ratio),
    ("noise deviation", "noise", "noise_deviation", |run| {
        run.noise
    }),
    ("lengthscale", "lengthscale", "lengthscale", |run| {
        run.lengthscale
    }),
];

/// A summary over the seeds for one number of inputs.
fn cell(runs: &[Run]) -> ResultRow {
    let line = ResultRow::default()
        .column("inputs", "dimensions", runs[0].dimensions, 0)
        .with("seeds", runs.len());
    let line = NUMBERS.into_iter().fold(line, |line, (title, key, _, of)| {
        line.column(title, key, Summary::of(runs.iter().map(of)), 3)
    });
    line.shown("seeds", runs.len())
}

/// A line of the CSV file.
fn line(run: &Run) -> ResultRow {
    let line = ResultRow::default()
        .with("inputs", run.dimensions)
        .with("seed", run.seed);
    let with = |line: ResultRow, (.., key, of): Number| line.with(key, of(run));
    NUMBERS.into_iter().fold(line, with)
}

/// Writes the table and the plot of all runs in the folder.
pub(super) fn report(folder: &ExperimentFolder, inducing: usize) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.load_all()?;
    runs.sort_by_key(|run| (run.dimensions, run.seed));
    let groups = runs.chunk_by(|a, b| a.dimensions == b.dimensions);
    let cells: Vec<ResultRow> = groups.map(cell).collect();
    let rows: Vec<ResultRow> = runs.iter().map(line).collect();
    folder.write_results(&cells, &rows)?;
    folder.draw("inducing.svg", |path| draw(path, &cells));
    let mut lines = vec![format!(
        "{NAME}: {inducing} inducing points of SVGP; the noise standard deviation of the data is {NOISE}"
    )];
    lines.extend(table(&cells));
    lines.push(
        "mean (standard error) over the seeds; distance: from an inducing point to the nearest row, in \
         trained lengthscales (eq. S24);\nuniform: the same for as many uniform points; ratio: variance of the \
         function over that of a target at the inducing points\n(eq. S25); exact: the ratio for CholeskyGP with the \
         hyperparameters of the data. The paper (arXiv:2411.01036, Figure S3) has\nno numbers: inducing \
         points are closer to the data than uniform points, at a distance that grows with the number of\ninputs; \
         with only four inputs the ratio is already small, far below the exact one."
            .into(),
    );
    lines.push(finding(&cells));
    folder.print(lines);
    Ok(())
}

/// States the numbers of inputs for which the paper's findings hold here.
fn finding(cells: &[ResultRow]) -> String {
    let mean = |cell: &ResultRow, key| cell.number(key).unwrap_or(f64::NAN);
    let inputs = |holds: &mut dyn FnMut(&ResultRow) -> bool| {
        let held = cells
            .iter()
            .map(|cell| (mean(cell, "dimensions") as usize, holds(cell)));
        ranges(&held.collect::<Vec<(usize, bool)>>())
    };
    let nearer = inputs(&mut |cell| mean(cell, "distance") < mean(cell, "uniform_distance"));
    let surer = inputs(&mut |cell| mean(cell, "ratio") < mean(cell, "exact_ratio"));
    let mut before = f64::NAN;
    let farther = inputs(&mut |cell| {
        let distance = mean(cell, "distance");
        let is_farther = distance > before;
        before = distance;
        is_farther
    });
    format!(
        "here, by number of inputs: closer than uniform points: {nearer}; farther than with the next smaller \
         number: {farther};\nratio below the exact one: {surer}"
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

/// Draws distances and ratios against the number of inputs.
fn draw(path: &Path, cells: &[ResultRow]) -> Result<(), PlotError> {
    let curve = |key| points(cells, "dimensions", key);
    let distances = vec![curve("distance"), curve("uniform_distance")];
    let ratios = vec![curve("ratio"), Vec::new(), curve("exact_ratio")];
    let panels = [
        CurvePanel {
            value: Quantity::of("trained lengthscales"),
            ..CurvePanel::new("distance to the nearest row", Span::FromZero, distances)
        },
        CurvePanel {
            title: "function's share of a target's variance",
            ..CurvePanel::new("ratio of variances", Span::Window(0.0, 1.0), ratios)
        },
    ];
    let names = [
        "SVGP",
        "uniform points",
        "CholeskyGP, hyperparameters of the data",
    ];
    let caption = Caption::new(
        "draws of a process",
        "at the inducing points of SVGP, means over the seeds",
    );
    let along = Quantity::of("inputs");
    let names = names.map(CurveName::from);
    plots::curves(path, "Inducing points", caption, &names, along, &panels)
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
