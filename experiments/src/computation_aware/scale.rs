//! Time and memory of a step of CaGP-Opt against the number of rows (Section 4).
//!
//! The data are synthetic rows with nine inputs, as many as protein has; 1000 more rows are held
//! out. Prior, initial values and Adam in single precision are the same as in
//! cagp-uci. Each run is a separate process, so its peak memory is its own. A run with
//! few rows and the same number of actions measures the memory that the program needs for any data.

use burn_gp_runs::{
    arguments::RunOptions,
    failure::Failure,
    ranges::at_least_one,
    study::{
        self, Cell, CommonOptions, ComputeTarget, ExperimentFolder, OptionSource, Request,
        RunSupervisor, all_made,
    },
    training_run::TrainingRun,
};
use clap::Args;
use serde_json::json;

use super::{TABLE_1, scale_report::report};

/// The name of the experiment.
pub(super) const NAME: &str = "cagp-scale";

/// The numbers of rows at quick scale.
const QUICK: [usize; 3] = [10_000, 20_000, 40_000];
/// The numbers of rows at paper scale, up to the paper's largest data set.
const PAPER: [usize; 8] = [
    10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
];

/// The rows of the run that measures the memory of the program itself.
const FEW: usize = 1000;
pub(super) const DIMENSIONS: usize = 9;
const TEST_ROWS: usize = 1000;
/// The method of Table 1.
const METHOD: &str = "cagp-opt-adam";

/// The options of `experiment cagp-scale`.
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

/// Runs `burn-gp experiment cagp-scale`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub(crate) fn scale(options: &ScaleOptions) -> Result<(), Failure> {
    let common = &options.common;
    for &size in &options.sizes {
        at_least_one("--sizes", Some(size))?;
    }
    for &count in &options.actions {
        at_least_one("--actions", Some(count))?;
    }
    at_least_one("--epochs", options.epochs)?;
    let place = common.place_in_single_precision()?;
    place.open()?;
    let settings = json!({ "dtype": place.dtype, "device": place.device });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let watch = RunSupervisor::new(&folder, common.quiet)?;
    let epochs = options.epochs.unwrap_or(common.by_scale(5, 3));
    let mut broken = Vec::new();
    for (actions, rows) in options.cells() {
        let name = format!("{rows} rows, {actions} actions");
        watch.announce(&name);
        let run = options.run((actions, rows), epochs, &place, &folder)?;
        if !watch.run(&run, &name)? {
            broken.push(name);
        }
    }
    report(&folder, &place.device.to_string())?;
    all_made(broken)
}
