//! Regression with exact, sparse and computation-aware models (Section 5, Tables 1 and S1).
//!
//! Protocol: 10 % of the rows at random for testing, everything standardized, zero mean, Matérn-3/2
//! kernel with a lengthscale for each input, noise variance of at least 1e-4, all of them ln 2 at the
//! start; 512 combinations of rows, 1024 inducing points; Adam in single precision, whose learning rate
//! goes down in a straight line to a tenth, and L-BFGS in double precision, 20 iterations an epoch, whose
//! line searches begin at the learning rate. The learning rates are the best of those that the paper
//! tried. A trained combination is of rows near each other, which the paper's are not (`--action-rows
//! given`). The numbers are those of the last step: the paper's are those of
//! the epoch whose test NLL is lowest.

use clap::{Args, ValueEnum};
use serde_json::json;

use super::cells::{Cell, by_data};
use super::method::Method;
use super::published::DATA_SETS;
use super::runs::{Budget, Runs};
use super::table;
use crate::experiment::{
    CommonOptions, ExperimentFolder, data_at_hand::data_at_hand, watch::all_made,
};
use crate::failure::Failure;
use crate::plots::{self, ComparedScore};
use crate::standard_output::print;

/// Its name.
pub(super) const NAME: &str = "cagp-uci";

/// The data sets of a quick look.
pub(super) const QUICK: [&str; 1] = ["parkinsons"];

/// What `experiment cagp-uci` takes.
#[derive(Args, Clone, Debug)]
pub struct UciOptions {
    /// Data sets, such as bike [default: all of the paper's that are there; quick: parkinsons]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    data_sets: Vec<String>,
    /// Which runs, and how large they are.
    #[command(flatten)]
    budget: Budget,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment cagp-uci`.
///
/// # Errors
///
/// [`Failure`]. Data sets that are absent are named and left out, and so are runs that break off.
pub(in crate::experiment) fn uci(options: &UciOptions) -> Result<(), Failure> {
    let (common, budget) = (&options.common, &options.budget);
    budget.check()?;
    let place = common.place()?;
    place.open()?;
    let default = common.by_scale(&QUICK[..], &DATA_SETS[..]);
    let data_dir = common.data_dir();
    let data_sets = data_at_hand(&options.data_sets, default, &DATA_SETS, data_dir.as_deref())?;
    let settings = json!({ "device": place.device });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let runs = Runs {
        budget,
        common,
        place,
        default: Method::value_variants(),
    };
    let broken = runs.make(&data_sets, &folder)?;
    let mut cells = Cell::finished(&folder.runs())?;
    for cell in &mut cells {
        cell.departures = runs.departures(cell)?;
    }
    report(&cells, &folder)?;
    all_made(broken)
}

/// The table and the plots of every run that is finished in the folder.
fn report(cells: &[Cell], folder: &ExperimentFolder) -> Result<(), Failure> {
    table::write(folder, cells)?;
    for cells in by_data(cells) {
        draw(folder, cells);
    }
    let mut lines = table::lines(cells);
    lines.push(
        "mean (standard deviation) over the seeds, in standardized units, after the last step; the \
         paper is arXiv:2411.01036,\nTable 1, at the epoch whose test NLL is lowest: rank 512 for \
         combinations of rows and 1024 for inducing points,\nseconds on a V100. The learning rates are \
         those that were best in the paper, by its test NLL"
            .into(),
    );
    lines.extend(table::departures(cells));
    if cells.iter().any(|cell| cell.cached_variances.is_some()) {
        let text = "R variances: those of predictions were made once, in R directions; with fewer than \
                    rows\nthey are too large, and exact otherwise";
        lines.push(text.into());
    }
    lines.push(format!("all of it in {}\n", folder.path().display()));
    print(&lines.join("\n"))
}

/// What tells cells of one title apart.
const DIFFERENCES: [fn(&Cell) -> Option<String>; 3] = [
    |cell| cell.rank().map(|rank| format!(", {rank}")),
    |cell| Some(format!(", {} steps", cell.steps())),
    |cell| cell.learning_rate.map(|rate| format!(", rate {rate}")),
];

/// What a cell is called among others: its title, and what tells it from others of the same one.
fn name_among(cell: &Cell, cells: &[Cell]) -> String {
    let mut name = cell.title();
    let mut same: Vec<&Cell> = cells.iter().filter(|other| other.title() == name).collect();
    for difference in DIFFERENCES {
        let own = difference(cell);
        let before = same.len();
        same.retain(|other| difference(other) == own);
        if same.len() < before {
            name.extend(own);
        }
    }
    name
}

/// The scores of a data set's models side by side.
fn draw(folder: &ExperimentFolder, cells: &[Cell]) {
    let data = &cells[0].first().data;
    let names: Vec<String> = cells.iter().map(|cell| name_among(cell, cells)).collect();
    let score = |name, number: fn(&crate::report::Metrics) -> f64| ComparedScore {
        name,
        unit: None,
        values: (cells.iter())
            .map(|cell| cell.runs.iter().map(number).collect())
            .collect(),
    };
    let scores = [
        score("NLPD", |run| run.scores.nlpd),
        score("RMSE", |run| run.scores.rmse),
    ];
    let path = folder.path().join(format!("{data}.svg"));
    plots::warn_undrawn(plots::comparison(&path, data, &names, &scores));
}
