//! Sensitivity to the number of basis functions.
//!
//! The paper has ranks 1 and 128 alone (Table 1). Protocol as in [uci](mod@super::uci).

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::method::Method;
use super::protocol::{Protocol, paper, quick};
use super::published::DATA_SETS;
use crate::arguments::{NetworkOptions, RunOptions, name_of};
use crate::experiment::{
    CommonOptions, CsvLine, ExperimentFolder,
    data_at_hand::data_at_hand,
    reported::summary_text,
    watch::{Watch, all_made},
};
use crate::failure::Failure;
use crate::output::names_in;
use crate::report::Metrics;
use crate::settings::at_least_one;
use crate::standard_output::print;
use crate::summary::Summary;
use crate::text_table::aligned;
use crate::training_run::TrainingRun;

/// Its name.
const NAME: &str = "dbk-rank";

const RANKS: [usize; 6] = [1, 4, 16, 64, 128, 256];

/// What stands between the model and the rank in the name of a folder.
const RANK: &str = "-rank-";

/// What `experiment dbk-rank` takes.
#[derive(Args, Clone, Debug)]
pub struct DbkRankOptions {
    /// Data sets, such as pol [default: pol]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    data_sets: Vec<String>,
    /// Models with basis functions [default: svdbk,svdbk-c]
    #[arg(long, value_name = "MODELS", value_delimiter = ',')]
    methods: Vec<Method>,
    /// Numbers of basis functions [default: 1,4,16,64,128,256]
    #[arg(long, value_name = "RANKS", value_delimiter = ',')]
    ranks: Vec<usize>,
    /// Seeds, the first one and those after it [default: 2; quick: 1]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// Steps of Adam on all rows [default: 10000; quick: 200]
    #[arg(long, value_name = "S")]
    iterations: Option<usize>,
    /// Passes over the rows in batches [default: 2000; quick: 20]
    #[arg(long, value_name = "E")]
    epochs: Option<usize>,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment dbk-rank`.
///
/// # Errors
///
/// [`Failure`]. Data sets that are absent are named and left out, and so are runs that break off.
pub(in crate::experiment) fn rank(options: &DbkRankOptions) -> Result<(), Failure> {
    let common = &options.common;
    for &rank in &options.ranks {
        at_least_one("--ranks", Some(rank))?;
    }
    at_least_one("--seeds", options.seeds)?;
    let place = common.place_in_single_precision()?;
    place.open()?;
    let data_dir = common.data_dir();
    let asked = &options.data_sets;
    let data_sets = data_at_hand(asked, &DATA_SETS[..1], &DATA_SETS, data_dir.as_deref())?;
    let default = common.by_scale(quick(), paper());
    let budget = (default.budget).with(options.iterations, options.epochs, None);
    let protocol = Protocol { budget, ..default };
    let settings = json!({
        "protocol": protocol,
        "budget": budget,
        "dtype": place.dtype,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let watch = Watch::new(&folder, common.quiet)?;
    let seeds = options.seeds.unwrap_or(common.by_scale(1, 2));
    let mut broken = Vec::new();
    for seed in common.seed..common.seed + seeds {
        for data in &data_sets {
            for (method, rank) in options.cells() {
                // The lengthscales, which these models have not, alone depend on the inputs.
                let told = protocol.options(method, 1, common, place);
                let network = NetworkOptions {
                    rank: Some(rank),
                    ..told.network.clone()
                };
                let cell = format!("{}{RANK}{rank}", name_of(method));
                let run = TrainingRun {
                    folder: (folder.runs().join(data).join(cell)).join(format!("seed-{seed}")),
                    options: RunOptions {
                        data: Some(data.clone()),
                        seed: Some(seed),
                        network,
                        ..told
                    },
                };
                let name = format!("{data}, {}, rank {rank}, seed {seed}", method.title());
                if !watch.run(&run, &name)? {
                    broken.push(name);
                }
            }
        }
    }
    report(&folder)?;
    all_made(broken)
}

impl DbkRankOptions {
    /// The models and ranks that are asked for; models without basis functions are named and left
    /// out.
    fn cells(&self) -> Vec<(Method, usize)> {
        let methods: &[Method] = match self.methods.as_slice() {
            [] => &[Method::Svdbk, Method::SvdbkC],
            methods => methods,
        };
        let ranks: &[usize] = match self.ranks.as_slice() {
            [] => &RANKS,
            ranks => ranks,
        };
        let with_basis = methods.iter().filter(|method| method.model().has_basis());
        with_basis
            .flat_map(|&method| ranks.iter().map(move |&rank| (method, rank)))
            .collect()
    }
}

/// The runs of a model of a rank on a data set, one a seed.
#[derive(Serialize)]
struct Cell {
    data: String,
    method: Method,
    rank: usize,
    seeds: usize,
    mae: Option<Summary>,
    rmse: Option<Summary>,
    nlpd: Option<Summary>,
    steps: Option<Summary>,
    milliseconds_per_step: Option<Summary>,
}

impl Cell {
    fn new(data: &str, (method, rank): (Method, usize), runs: &[Metrics]) -> Self {
        let summary = |number: fn(&Metrics) -> f64| {
            Summary::of(&runs.iter().map(number).collect::<Vec<f64>>())
        };
        Self {
            data: data.to_owned(),
            method,
            rank,
            seeds: runs.len(),
            mae: summary(|run| run.scores.mae),
            rmse: summary(|run| run.scores.rmse),
            nlpd: summary(|run| run.scores.nlpd),
            steps: summary(|run| run.steps as f64),
            milliseconds_per_step: summary(|run| 1e3 * run.seconds_per_step),
        }
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.data.clone(),
            self.method.title().into(),
            self.rank.to_string(),
            summary_text(self.mae, 4),
            summary_text(self.rmse, 4),
            summary_text(self.nlpd, 4),
            summary_text(self.steps, 0),
            summary_text(self.milliseconds_per_step, 1),
            self.seeds.to_string(),
        ]
    }

    /// A line of the file.
    fn line(&self) -> CsvLine {
        CsvLine::default()
            .with("data", &self.data)
            .with("method", name_of(self.method))
            .with("rank", self.rank)
            .with("seeds", self.seeds)
            .summary("mae", self.mae)
            .summary("rmse", self.rmse)
            .summary("nlpd", self.nlpd)
            .summary("steps", self.steps)
            .summary("milliseconds_per_step", self.milliseconds_per_step)
    }
}

const TITLES: [&str; 9] = [
    "data",
    "model",
    "rank",
    "MAE",
    "RMSE",
    "NLPD",
    "steps",
    "ms a step",
    "seeds",
];

/// The table of every run that is finished in the folder.
fn report(folder: &ExperimentFolder) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for data in names_in(&folder.runs()) {
        let place = folder.runs().join(&data);
        for name in names_in(&place) {
            let Some((method, rank)) = name.split_once(RANK) else {
                continue;
            };
            let (Ok(method), Ok(rank)) = (Method::from_str(method, false), rank.parse()) else {
                continue;
            };
            let runs = TrainingRun::all_finished(&place.join(&name))?;
            if !runs.is_empty() {
                cells.push(Cell::new(&data, (method, rank), &runs));
            }
        }
    }
    cells.sort_by(|a, b| (&a.data, a.method, a.rank).cmp(&(&b.data, b.method, b.rank)));
    let rows: Vec<Vec<String>> = cells.iter().map(Cell::row).collect();
    let titles = TITLES.map(str::to_owned).to_vec();
    let csv: Vec<CsvLine> = cells.iter().map(Cell::line).collect();
    folder.write_results(&cells, &csv)?;
    let mut lines = aligned(&[vec![titles], rows].concat());
    lines.push(
        "mean (standard error) over the seeds, in standardized units; the paper (arXiv:2505.18526, \
         Table 1) has ranks\n1 and 128 alone: see dbk-uci"
            .into(),
    );
    lines.push(format!("all of it in {}\n", folder.path().display()));
    print(&lines.join("\n"))
}
