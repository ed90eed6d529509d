//! Table and plots of the two losses.

use serde::Serialize;

use super::loss::{Look, NAME, NOISE, Run, Trained};
use crate::failure::Failure;
use crate::plots::{
    self, Bands, Caption, CurveName, CurvePanel, FitPanel, PlotError, Points, Quantity, Span,
};
use crate::standard_output::print;
use crate::study::{CsvLine, ExperimentFolder, summary_text};
use crate::summary::Summary;
use crate::text_table::aligned;

/// The half-width of a band, in standard deviations.
const DEVIATIONS: f64 = 2.0;

/// A summary over the seeds of a model.
#[derive(Serialize)]
struct Cell {
    trained: Trained,
    seeds: usize,
    /// The NLPD before the first step.
    first_nlpd: Option<Summary>,
    /// The lowest NLPD during training.
    best_nlpd: Option<Summary>,
    /// The NLPD after the last step.
    nlpd: Option<Summary>,
    rmse: Option<Summary>,
    /// The standard deviation of the noise.
    noise: Option<Summary>,
    lengthscale: Option<Summary>,
}

impl Cell {
    fn new(trained: Trained, runs: &[&Run]) -> Self {
        let summary = |number: &dyn Fn(&[Look]) -> f64| {
            let values = runs.iter().map(|run| number(&run.looks));
            Summary::of(&values.collect::<Vec<f64>>())
        };
        let last =
            |number: fn(&Look) -> f64| summary(&|looks| looks.last().map_or(f64::NAN, number));
        Self {
            trained,
            seeds: runs.len(),
            first_nlpd: summary(&|looks| looks.first().map_or(f64::NAN, |look| look.nlpd)),
            best_nlpd: summary(&|looks| {
                let values = looks.iter().map(|look| look.nlpd);
                values.fold(f64::NAN, f64::min)
            }),
            nlpd: last(|look| look.nlpd),
            rmse: last(|look| look.rmse),
            noise: last(|look| look.noise),
            lengthscale: last(|look| look.lengthscale),
        }
    }

    /// The summaries in the order of [`TITLES`], without the first title.
    fn summaries(&self) -> [Option<Summary>; 6] {
        [
            self.first_nlpd,
            self.best_nlpd,
            self.nlpd,
            self.rmse,
            self.noise,
            self.lengthscale,
        ]
    }
}

/// The shown range of the NLPD. Trained actions leave it when trained with the density of the
/// projected data.
const SHOWN: (f64, f64) = (-1.0, 2.0);

const TITLES: [&str; 7] = [
    "model, loss",
    "first NLPD",
    "best NLPD",
    "last NLPD",
    "RMSE",
    "noise deviation",
    "lengthscale",
];

/// Writes the table and the plots of all runs in the folder, with the rows of the first seed.
pub(super) fn report(folder: &ExperimentFolder, (x, y): (&[f64], &[f64])) -> Result<(), Failure> {
    let mut runs: Vec<Run> = folder.made()?;
    runs.sort_by_key(|run| (run.trained, run.seed));
    let cells = Trained::ALL.into_iter().filter_map(|trained| {
        let own: Vec<&Run> = runs.iter().filter(|run| run.trained == trained).collect();
        (!own.is_empty()).then(|| Cell::new(trained, &own))
    });
    let cells: Vec<Cell> = cells.collect();
    folder.write_results(&cells, &csv_lines(&runs))?;
    let drawn = [
        draw_course(folder, &runs),
        draw_fits(folder, &runs, Points { x, y }),
    ];
    drawn.into_iter().for_each(plots::warn_undrawn);
    print(&text(&cells, folder))
}

fn text(cells: &[Cell], folder: &ExperimentFolder) -> String {
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(cells.iter().map(|cell| {
        let numbers = cell.summaries().map(|summary| summary_text(summary, 3));
        [vec![cell.trained.title().to_owned()], numbers.to_vec()].concat()
    }));
    let mut lines = vec![format!(
        "{NAME}: held-out rows; the data's noise deviation is {NOISE}"
    )];
    lines.extend(aligned(&rows));
    lines.push(
        "mean (standard error) over the seeds; best: on the way; bound: the evidence lower bound (eq. 11), \
         projected: the density\nof the projected data (eq. 9). The paper (arXiv:2411.01036, Figures S1 and \
         S2) has no numbers: trained with the latter,\nCaGP-CG gets worse on held-out rows and calls the \
         function noise. Actions that are trained with it come to see\nnext to nothing of the data."
            .into(),
    );
    lines.extend(finding(cells, Trained::CgEvidence, Trained::CgProjected));
    lines.extend(finding(cells, Trained::OptEvidence, Trained::OptProjected));
    lines.push(format!("all of it in {}\n", folder.path().display()));
    lines.join("\n")
}

/// A sentence that compares the two losses for a model.
fn finding(cells: &[Cell], bound: Trained, projected: Trained) -> Option<String> {
    let cell = |trained| cells.iter().find(|cell| cell.trained == trained);
    let (bound, projected) = (cell(bound)?, cell(projected)?);
    let (best, last) = (projected.best_nlpd?.mean, projected.nlpd?.mean);
    let course = match last > best + 0.01 {
        true => format!("gets worse on the way, from {best:.3} to {last:.3}"),
        false => "does not get worse on the way".to_owned(),
    };
    Some(format!(
        "here {}: the NLPD {course} and ends {:+.3} from that of the bound;\nthe noise deviation is {:.1} \
         times the data's, with the bound {:.1} times",
        projected.trained.title(),
        last - bound.nlpd?.mean,
        projected.noise?.mean / NOISE,
        bound.noise?.mean / NOISE
    ))
}

/// One line for each evaluation.
fn csv_lines(runs: &[Run]) -> Vec<CsvLine> {
    let line = |run: &Run, look: &Look| {
        CsvLine::default()
            .with("model", run.trained.name())
            .with("seed", run.seed)
            .with("step", look.step)
            .with("nlpd", look.nlpd)
            .with("rmse", look.rmse)
            .with("noise_deviation", look.noise)
            .with("lengthscale", look.lengthscale)
    };
    let looks = runs
        .iter()
        .flat_map(|run| run.looks.iter().map(move |look| line(run, look)));
    looks.collect()
}

/// Draws learning curves, averaged over the seeds.
fn draw_course(folder: &ExperimentFolder, runs: &[Run]) -> Result<(), PlotError> {
    let names = Trained::ALL.map(|trained| CurveName::from(trained.title()));
    let panel = |title, number: fn(&Look) -> f64, span| CurvePanel {
        title,
        value: Quantity::of(title),
        curves: (Trained::ALL.into_iter())
            .map(|trained| course(runs, trained, number))
            .collect(),
        span,
    };
    let window = Span::Window(SHOWN.0, SHOWN.1);
    let panels = [
        panel("NLPD of held-out rows", |look| look.nlpd, window),
        panel("noise deviation", |look| look.noise, Span::FromZero),
    ];
    let caption = Caption {
        data: "sines",
        model: "either loss in the course of training, means over the seeds",
    };
    let along = Quantity::of("step");
    let path = folder.path().join("course.svg");
    plots::curves(&path, "Losses", caption, &names, along, &panels)
}

fn course(runs: &[Run], trained: Trained, number: fn(&Look) -> f64) -> Vec<(f64, f64)> {
    let own: Vec<&Run> = runs.iter().filter(|run| run.trained == trained).collect();
    let count = own.iter().map(|run| run.looks.len()).min().unwrap_or(0);
    (0..count)
        .map(|index| {
            let sum: f64 = own.iter().map(|run| number(&run.looks[index])).sum();
            (own[0].looks[index].step as f64, sum / own.len() as f64)
        })
        .collect()
}

/// Draws the predictions of the first seed.
fn draw_fits(folder: &ExperimentFolder, runs: &[Run], train: Points<'_>) -> Result<(), PlotError> {
    let seed = runs.iter().map(|run| run.seed).min();
    let shown = runs.iter().filter(|run| Some(run.seed) == seed);
    let panels: Vec<FitPanel<'_>> = shown
        .map(|run| FitPanel {
            title: run.trained.title(),
            x: &run.x,
            mean: &run.mean,
            deviation: &run.deviation,
            inducing: &[],
            orthogonal: &[],
        })
        .collect();
    plots::fits(
        &folder.path().join("fits.svg"),
        Caption {
            data: "sines",
            model: "after the last step, with noise",
        },
        Bands {
            text: "±2 deviations of targets",
            deviations: DEVIATIONS,
        },
        (train, Points { x: &[], y: &[] }),
        (Quantity::of("x"), Quantity::of("y")),
        &panels,
    )
}
