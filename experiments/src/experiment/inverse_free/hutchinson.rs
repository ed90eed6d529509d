//! Random probes for the traces in the bound of R-SVGP (Section S6, Figure S1).
//!
//! The protocol is that of Figure 2 in [uci](mod@super::uci) with M = 2000, with 1, 64 and 256
//! probes and with exact traces.

use clap::Args;
use serde_json::json;

use super::cells::{Cell, Run};
use super::method::Method;
use super::regression::{DATA_SETS, PROBES, Runs, damped, shared, told};
use super::table::{Table, against_seconds, by_data};
use crate::arguments::RunOptions;
use crate::experiment::course::Look;
use crate::failure::Failure;
use crate::plots::{self, Caption, CurveName, CurvePanel, Quantity, Span};
use crate::standard_output::print;
use crate::study::{CommonOptions, ExperimentFolder, Watch, all_made, data_at_hand};

/// The name of the experiment.
const NAME: &str = "inverse-free-hutchinson";

const BATCH: usize = 100;
/// The number of steps in the paper.
const STEPS: usize = 20_000;
const INDUCING: usize = 2000;

/// The numbers of probes; `None` for exact traces.
const COUNTS: [Option<usize>; 4] = [Some(1), Some(64), Some(PROBES), None];

/// The options of `experiment inverse-free-hutchinson`.
#[derive(Args, Clone, Debug)]
pub struct HutchinsonOptions {
    /// Data sets, such as kin40k [default: elevators,kin40k]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    data_sets: Vec<String>,
    /// Inducing points M, at least 256 [default: 2000; quick: 384]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(PROBES as i64..))]
    inducing: Option<u32>,
    /// Number of seeds, counted from --seed [default: 5; quick: 1]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// Optimizer steps [default: 20000; quick: 400]
    #[arg(long, value_name = "S")]
    steps: Option<usize>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment inverse-free-hutchinson`.
///
/// # Errors
///
/// [`Failure`]. Missing data sets and runs that break off are reported and left out.
pub(in crate::experiment) fn hutchinson(options: &HutchinsonOptions) -> Result<(), Failure> {
    let common = &options.common;
    let place = common.place()?;
    place.open()?;
    let inducing = options.inducing.map(|count| count as usize);
    let inducing = inducing.unwrap_or(common.by_scale(384, INDUCING));
    let steps = options.steps.unwrap_or(common.by_scale(400, STEPS));
    let relaxed = damped(steps);
    let data_dir = common.data_dir();
    let data_sets = data_at_hand(
        &options.data_sets,
        &DATA_SETS,
        Some(&DATA_SETS),
        data_dir.as_deref(),
    )?;
    let settings = json!({
        "inducing": inducing,
        "steps": steps,
        "r_svgp": relaxed,
        "dtype": place.dtype,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let runs = Runs {
        shared: RunOptions {
            steps: Some(steps),
            batch_size: Some(BATCH),
            ..shared(common, place)
        },
        place,
        folder: &folder,
        watch: Watch::new(&folder, common.quiet)?,
    };
    let broken = runs.make_all(options.runs(&data_sets, inducing), &relaxed)?;
    let in_paper = |run: &Run| {
        let paper = RunOptions {
            steps: Some(STEPS),
            batch_size: Some(BATCH),
            ..shared(&common.as_in_paper(), place)
        };
        let run = Run {
            inducing: INDUCING,
            ..run.clone()
        };
        told(&run, paper, &damped(STEPS))
    };
    report(&Cell::finished(&folder, in_paper)?, &folder)?;
    all_made(broken)
}

impl HutchinsonOptions {
    /// The runs, seed by seed.
    fn runs(&self, data_sets: &[String], inducing: usize) -> Vec<Run> {
        let first = self.common.seed;
        let count = self.seeds.unwrap_or(self.common.by_scale(1, 5));
        let mut runs = Vec::new();
        for seed in first..first + count {
            for data in data_sets {
                runs.extend(COUNTS.map(|probes| Run {
                    data: data.clone(),
                    method: Method::R,
                    inducing,
                    probes,
                    seed,
                    looks: Vec::new(),
                    options: None,
                }));
            }
        }
        runs
    }
}

/// The label of runs by their number of probes.
fn label(run: &Run) -> String {
    run.probes
        .map_or_else(|| "exact".into(), |count| format!("K = {count}"))
}

/// Writes the tables and plots of all finished runs in the folder.
fn report(cells: &[Cell], folder: &ExperimentFolder) -> Result<(), Failure> {
    let table = Table {
        cells,
        label,
        published: |_| None,
        is_reference: |run| run.probes.is_none(),
        ratio: "of exact",
    };
    table.write(folder)?;
    draw(folder, cells);
    let mut lines = table.lines();
    lines.push(
        "R-SVGP, mean (standard error) over the seeds, in standardized units; seconds of the steps \
         alone. The paper\n(arXiv:2604.00697, Figure S1, curves without numbers): one probe is noisy \
         and ends with a worse NLPD, 64 and\nmore are as good as exact traces, and 256 save 25 to 30 % \
         of the time at M = 2000 on a V100"
            .into(),
    );
    lines.extend(table.departures());
    lines.push(format!("all of it in {}\n", folder.path().display()));
    print(&lines.join("\n"))
}

/// Draws a plot of each data set.
fn draw(folder: &ExperimentFolder, cells: &[Cell]) {
    for cells in by_data(cells) {
        let names: Vec<CurveName> = (cells.iter())
            .map(|cell| label(cell.first()).into())
            .collect();
        let panel = |title, name, number: fn(&Look) -> f64| CurvePanel {
            title,
            value: Quantity::of(name),
            curves: (cells.iter())
                .map(|cell| against_seconds(cell, number))
                .collect(),
            span: Span::Values,
        };
        let panels = [
            panel("test rows", "NLPD", |look| look.nlpd),
            panel("mini-batches since the look before", "loss", |look| {
                look.loss
            }),
        ];
        let run = cells[0].first();
        let model = format!("R-SVGP, M = {}, means over the seeds", run.inducing);
        let caption = Caption {
            data: &run.data,
            model: &model,
        };
        let seconds = Quantity {
            name: "training",
            unit: Some("s"),
        };
        let path = folder.path().join(format!("{}.svg", run.data));
        let drawn = plots::curves(&path, "Training", caption, &names, seconds, &panels);
        plots::warn_undrawn(drawn);
    }
}
