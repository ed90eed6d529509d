//! Time and memory of a step of CaGP-Opt against the number of rows (Section 4).
//!
//! The data are synthetic rows with nine inputs, as many as protein has; 1000 more rows are held
//! out. Prior, initial values and Adam in single precision are the same as in
//! cagp-uci. Each run is a separate process, so its peak memory is its own. A run with
//! few rows and the same number of actions measures the memory that the program needs for any data.

use burn_gp_runs::{
    arguments::RunOptions,
    checksums::{Links, read_text},
    failure::{Failure, FolderError},
    fitting::TrainingLog,
    output::TRAINING_LOG,
    plots::{self, Caption, CurveName, CurvePanel, Quantity, Span},
    ranges::at_least_one,
    report::Metrics,
    scores::NLPD,
    study::{
        self, Cell, CommonOptions, ComputeTarget, ExperimentFolder, OptionSource, Request,
        ResultRow, RunSupervisor, all_made, table,
    },
    summary::median,
    training_run::TrainingRun,
};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::TABLE_1;
use crate::figure::{Figure, Registration};
use crate::scaling::fitted_slope;

/// The name of the experiment.
const NAME: &str = "cagp-scale";

/// The numbers of rows at quick scale.
const QUICK: [usize; 3] = [10_000, 20_000, 40_000];
/// The numbers of rows at paper scale, up to the paper's largest data set.
const PAPER: [usize; 8] = [
    10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
];

/// The rows of the run that measures the memory of the program itself.
const FEW: usize = 1000;
const DIMENSIONS: usize = 9;
const TEST_ROWS: usize = 1000;
/// The method of Table 1.
const METHOD: &str = "cagp-opt-adam";

/// Time and memory of computation-aware regression for increasing numbers of rows
/// (arXiv:2411.01036, Section 4)
///
/// Seconds per step of CaGP-Opt and peak memory of its process on synthetic data, with the
/// exponents of their growth in n·I. Every run is a separate process. The paper scale has up to
/// two million rows. Run nothing else at the same time.
#[derive(Args, Clone, Debug)]
pub struct ScaleOptions {
    /// Numbers of rows, such as 10000,20000 [default: 1e4, 2e4, 5e4 and so on up to 2e6; quick:
    /// 10000,20000,40000]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Numbers of actions, such as 64,128 [default: 512; quick: 64]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    actions: Vec<usize>,
    /// Epochs of one step each [default: 3; quick: 5]
    #[arg(long, value_name = "E")]
    epochs: Option<usize>,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

impl ScaleOptions {
    /// The numbers of actions and of rows, in increasing order.
    fn cells(&self) -> Vec<(usize, usize)> {
        let paper = self.common.is_paper();
        let (sizes, actions) = (self.sizes.as_slice(), self.actions.as_slice());
        let sizes = match sizes {
            [] if paper => &PAPER[..],
            [] => &QUICK[..],
            sizes => sizes,
        };
        let actions = match actions {
            [] if paper => &[512],
            [] => &[64],
            actions => actions,
        };
        let each = actions.iter().flat_map(|&actions| {
            let few = FEW.max(actions);
            let rows = std::iter::once(few).chain(sizes.iter().copied());
            rows.map(move |rows| (actions, rows))
        });
        let mut cells: Vec<(usize, usize)> = each.collect();
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    fn run(
        &self,
        (actions, rows): (usize, usize),
        epochs: usize,
        place: &ComputeTarget,
        folder: &ExperimentFolder,
    ) -> Result<TrainingRun, Failure> {
        let (all, seed) = (rows + TEST_ROWS, self.common.seed);
        let name = format!("{rows}-rows-{actions}-actions-{epochs}-epochs-seed-{seed}");
        let cell = Cell {
            data: format!("synthetic:friedman?n={all}&d={DIMENSIONS}&noise=1&seed={seed}"),
            values: vec![METHOD.to_owned()],
        };
        let request = Request::by_default(&self.common);
        let of_table =
            study::named(TABLE_1).options(&cell, &request, OptionSource::Ours, DIMENSIONS)?;
        Ok(TrainingRun {
            folder: folder.runs().join(name),
            options: RunOptions {
                test_fraction: Some(TEST_ROWS as f64 / all as f64),
                actions: Some(actions),
                epochs: Some(epochs),
                seed: Some(seed),
                dtype: Some(place.dtype),
                ..of_table
            },
        })
    }
}

inventory::submit! { Registration::of::<ScaleOptions>(NAME) }

impl Figure for ScaleOptions {
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        for &size in &self.sizes {
            at_least_one("--sizes", Some(size))?;
        }
        for &count in &self.actions {
            at_least_one("--actions", Some(count))?;
        }
        at_least_one("--epochs", self.epochs)?;
        let place = common.place_in_single_precision()?;
        place.open()?;
        let settings = json!({ "dtype": place.dtype, "device": place.device });
        let folder = ExperimentFolder::open(NAME, common, &settings)?;
        let watch = RunSupervisor::new(&folder, common.quiet)?;
        let epochs = self.epochs.unwrap_or(common.by_scale(5, 3));
        let mut broken = Vec::new();
        for (actions, rows) in self.cells() {
            let name = format!("{rows} rows, {actions} actions");
            watch.announce(&name);
            let run = self.run((actions, rows), epochs, &place, &folder)?;
            if !watch.run(&run, &name)? {
                broken.push(name);
            }
        }
        report(&folder, &place.device.to_string())?;
        all_made(broken)
    }
}

/// The largest memory exponent that agrees with the paper's claim, with a margin for measurement
/// error.
const MOST_MEMORY: f64 = 1.05;

/// The share of the memory that the rows must take for a reliable exponent.
const OWN_SHARE: f64 = 0.75;

/// A finished run.
#[derive(Clone, Debug, Serialize)]
struct Cost {
    actions: usize,
    rows: usize,
    inputs: usize,
    steps: usize,
    seed: u64,
    /// The median time of a step.
    seconds_per_step: f64,
    /// The peak memory of the process; NaN if the system does not report it.
    peak_mebibytes: f64,
    /// The number of rows minus that of the smallest run with the same number of actions.
    more_rows: usize,
    /// The peak memory minus that of the smallest run.
    mebibytes_for_rows: f64,
    /// The size of a matrix with an entry for each row and action.
    matrix_mebibytes: f64,
    nlpd: f64,
}

impl Cost {
    fn new(metrics: &Metrics, log: &TrainingLog) -> Self {
        let starts = std::iter::once(0.0).chain(log.entries.iter().map(|entry| entry.seconds));
        let steps = log.entries.iter().zip(starts);
        let seconds = steps.map(|(entry, start)| entry.seconds - start).collect();
        let actions = metrics.actions.unwrap_or(0);
        let bytes = if metrics.dtype == "f32" { 4.0 } else { 8.0 };
        let mebibytes = |bytes: f64| bytes / f64::from(1 << 20);
        Self {
            actions,
            rows: metrics.n_train,
            inputs: metrics.d,
            steps: metrics.training.steps,
            seed: metrics.seed,
            seconds_per_step: median(seconds),
            peak_mebibytes: (metrics.peak_memory).map_or(f64::NAN, |bytes| mebibytes(bytes as f64)),
            more_rows: 0,
            mebibytes_for_rows: f64::NAN,
            matrix_mebibytes: mebibytes(bytes * metrics.n_train as f64 * actions as f64),
            nlpd: metrics
                .scores
                .as_ref()
                .map_or(f64::NAN, |scores| scores.number(NLPD)),
        }
    }

    /// The finished runs, sorted by actions and rows.
    fn finished(folder: &ExperimentFolder) -> Result<Vec<Self>, Failure> {
        let mut costs = Vec::new();
        for (run, metrics) in TrainingRun::places_finished(&folder.runs())? {
            let path = run.join(TRAINING_LOG);
            let text = read_text(&path, Links::Followed).map_err(FolderError::from)?;
            let log =
                TrainingLog::from_csv(&text).ok_or_else(|| FolderError::DamagedCheckpoint {
                    path,
                    reason: "it is not a training log".to_owned(),
                })?;
            costs.push(Self::new(&metrics, &log));
        }
        costs.sort_by_key(|cost| (cost.actions, cost.rows, cost.steps, cost.seed));
        let counts = costs.chunk_by_mut(|a, b| a.actions == b.actions);
        for costs in counts {
            let (few, least) = (costs[0].rows, costs[0].peak_mebibytes);
            for cost in costs {
                cost.more_rows = cost.rows - few;
                cost.mebibytes_for_rows = cost.peak_mebibytes - least;
            }
        }
        Ok(costs)
    }

    fn line(&self) -> ResultRow {
        let ratio = self.matrices();
        ResultRow::default()
            .column("I", "actions", self.actions, 0)
            .column("n", "rows", self.rows, 0)
            .with("inputs", self.inputs)
            .column("steps", "steps", self.steps, 0)
            .with("seed", self.seed)
            .column("s a step", "seconds_per_step", self.seconds_per_step, 3)
            .column("peak MiB", "peak_mebibytes", self.peak_mebibytes, 1)
            .column("for rows", "mebibytes_for_rows", self.mebibytes_for_rows, 1)
            .column("n×I MiB", "matrix_mebibytes", self.matrix_mebibytes, 1)
            .with("nlpd", self.nlpd)
            .shown(
                "ratio",
                ratio.map_or_else(|| "-".into(), |count| format!("{count:.1}")),
            )
    }

    /// The memory for the rows, as a number of matrices with one entry for each row and action.
    fn matrices(&self) -> Option<f64> {
        let matrix = self.matrix_mebibytes * self.more_rows as f64 / self.rows as f64;
        (self.more_rows > 0).then(|| self.mebibytes_for_rows / matrix)
    }
}

/// The exponents with which costs grow with n·I, for one I.
#[derive(Debug, Serialize)]
struct Exponents {
    actions: usize,
    /// The smallest number of rows that the exponents are fitted to.
    rows: usize,
    seconds_per_step: Option<f64>,
    peak_memory: Option<f64>,
    /// The exponent of the memory for the rows beyond the smallest run, in the number of these
    /// rows.
    memory_for_rows: Option<f64>,
    /// Whether the memory of the program itself is a large share even with the most rows.
    is_small: bool,
}

impl Exponents {
    /// The exponents of runs with the same number of actions. The run with the fewest rows is not
    /// used.
    fn new(costs: &[Cost]) -> Self {
        let few = costs[0].rows;
        let counted = || costs.iter().filter(move |cost| cost.rows > few);
        let exponent = |rows: fn(&Cost) -> usize, cost: fn(&Cost) -> f64| {
            let points: Vec<(f64, f64)> = counted()
                .map(|run| ((rows(run) * run.actions) as f64, cost(run)))
                .filter(|point| point.1 > 0.0)
                .map(|(size, cost)| (size.ln(), cost.ln()))
                .collect();
            fitted_slope(&points)
        };
        Self {
            actions: costs[0].actions,
            rows: counted().map(|cost| cost.rows).min().unwrap_or(few),
            seconds_per_step: exponent(|cost| cost.rows, |cost| cost.seconds_per_step),
            peak_memory: exponent(|cost| cost.rows, |cost| cost.peak_mebibytes),
            memory_for_rows: exponent(|cost| cost.more_rows, |cost| cost.mebibytes_for_rows),
            is_small: (costs.last())
                .is_some_and(|cost| cost.mebibytes_for_rows < OWN_SHARE * cost.peak_mebibytes),
        }
    }

    fn line(&self) -> Option<String> {
        let (time, memory) = (self.seconds_per_step?, self.peak_memory?);
        let rows = self.memory_for_rows.unwrap_or(memory);
        let verdict = match memory.max(rows) <= MOST_MEMORY {
            true => "both at most",
            false => "NOT both at most",
        };
        let doubt = match self.is_small {
            true => {
                "; use more --sizes or --actions, because much of the memory is the program's own"
            }
            false => "",
        };
        Some(format!(
            "I = {}, from {} rows: memory grows as the power {memory:.2} of n·I, the part for the rows \
             as {rows:.2}, {verdict} {MOST_MEMORY};\nthe time of a step as {time:.2}{doubt}",
            self.actions, self.rows
        ))
    }
}

/// The results as JSON.
#[derive(Serialize)]
struct Record {
    costs: Vec<Cost>,
    exponents: Vec<Exponents>,
}

/// Writes the table and the plot of all finished runs in the folder.
///
/// # Errors
///
/// If a file cannot be read or written.
fn report(folder: &ExperimentFolder, device: &str) -> Result<(), Failure> {
    let costs = Cost::finished(folder)?;
    let exponents: Vec<Exponents> = costs
        .chunk_by(|a, b| a.actions == b.actions)
        .map(Exponents::new)
        .collect();
    draw(folder, &costs);
    let rows: Vec<ResultRow> = costs.iter().map(Cost::line).collect();
    let mut lines = vec![format!(
        "{NAME}: generated rows of {DIMENSIONS} inputs, {} threads, device {device}",
        threads()
    )];
    lines.extend(table(&rows));
    lines.extend(exponents.iter().filter_map(Exponents::line));
    lines.push(
        "medians of the steps of Adam on all n rows; peak MiB: the peak host memory of the process; for \
         rows: the part beyond\nthe run with the fewest rows; n×I: one matrix with an entry for each row and \
         action; ratio: the part for rows in such\nmatrices. The paper (arXiv:2411.01036, Section \
         4) has memory O(nI), and time O(n max(I, n/I)) with the I actions\nin parallel: a step \
         evaluates the kernel n² times, so its time grows as the power 2 with far fewer threads \
         than I"
            .into(),
    );
    folder.write_results(&Record { costs, exponents }, &rows)?;
    folder.print(lines);
    Ok(())
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Draws time and memory against the rows on logarithmic scales: one curve for each number of
/// actions, and one for the matrix with an entry for each row and action.
fn draw(folder: &ExperimentFolder, costs: &[Cost]) {
    let counts: Vec<&[Cost]> = costs.chunk_by(|a, b| a.actions == b.actions).collect();
    let names = counts.iter().flat_map(|costs| {
        let actions = costs[0].actions;
        [
            CurveName::from(format!("I = {actions}")),
            CurveName::dashed(format!("n×{actions} numbers")),
        ]
    });
    let names: Vec<CurveName> = names.collect();
    let curve = |costs: &[Cost], number: fn(&Cost) -> f64| -> Vec<(f64, f64)> {
        let points = costs.iter().filter(|cost| number(cost) > 0.0);
        points
            .map(|cost| ((cost.rows as f64).log10(), number(cost).log10()))
            .collect()
    };
    let panel = |title, numbers: [fn(&Cost) -> f64; 2]| {
        let of_count = |costs: &&[Cost]| numbers.map(|number| curve(costs, number));
        CurvePanel::new(
            title,
            Span::Values,
            counts.iter().flat_map(of_count).collect(),
        )
    };
    let panels = [
        panel(
            "log10 seconds a step",
            [|cost| cost.seconds_per_step, |_| 0.0],
        ),
        panel(
            "log10 MiB at the peak",
            [|cost| cost.peak_mebibytes, |cost| cost.matrix_mebibytes],
        ),
    ];
    let caption = Caption::new("generated", "CaGP-Opt, a step of Adam on all rows");
    let along = Quantity::of("log10 rows");
    folder.draw("scale.svg", |path| {
        plots::curves(path, "Cost", caption, &names, along, &panels)
    });
}
