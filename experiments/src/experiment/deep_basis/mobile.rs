//! Mobile internet quality in Georgia, USA (section 4.3, Figure 4).
//!
//! Ookla's measurements of 2019 to 2022, 19 535 places with their coordinates and a score of quality
//! whose logarithm is the target. They are not part of the program: they come from a file with the
//! columns `latitude`, `longitude` and the score. Protocol as in [uci](super::uci), variational models
//! alone.

use std::path::{Path, PathBuf};

use burn_gp_datasets::{DataSource, Dataset, TargetColumn};
use clap::Args;
use serde_json::json;

use super::cells::{Cell, Run, folder};
use super::method::Method;
use super::mobile_plots::{Place, draw};
use super::protocol::{Protocol, paper, quick};
use crate::arguments::{RunOptions, name_of};
use crate::experiment::{
    CommonOptions, CsvLine, ExperimentFolder,
    departures::{self, are_comparable, joined},
    options,
    reported::summary_text,
    watch::{Watch, all_made},
};
use crate::failure::Failure;
use crate::output::replace_file;
use crate::settings::at_least_one;
use crate::standard_output::print;
use crate::summary::Summary;
use crate::text_table::aligned;
use crate::training_run::TrainingRun;

/// Its name.
const NAME: &str = "dbk-mobile";

/// What the data are called.
const DATA: &str = "mobile";

const METHODS: [Method; 3] = [Method::Svgp, Method::Svdkl, Method::Svdbk];

/// MAE, RMSE and NLL of the paper, which does not say over how many seeds.
const PUBLISHED: [[f64; 3]; 3] = [
    [0.2533, 0.3589, 0.3728],
    [0.2322, 0.3369, 0.4210],
    [0.2216, 0.3233, 0.2880],
];

/// 70 % of the paper's 19 535.
const TRAINING_ROWS: usize = 13_674;

/// The columns of the coordinates.
const COORDINATES: [&str; 2] = ["latitude", "longitude"];

/// What `experiment dbk-mobile` takes.
#[derive(Args, Clone, Debug)]
pub struct DbkMobileOptions {
    /// CSV file with the columns latitude, longitude and the score of quality
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The column of the score [default: the last]
    #[arg(long, value_name = "COLUMN")]
    target: Option<TargetColumn>,
    /// The column has logarithms already
    #[arg(long)]
    logarithms: bool,
    /// Seeds, the first one and those after it [default: 5; quick: 1]
    #[arg(long, value_name = "COUNT")]
    seeds: Option<u64>,
    /// Passes over the rows in batches [default: 2000; quick: 20]
    #[arg(long, value_name = "E")]
    epochs: Option<usize>,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment dbk-mobile`.
///
/// # Errors
///
/// [`Failure`]. Runs that break off are named and left out.
pub(in crate::experiment) fn mobile(options: &DbkMobileOptions) -> Result<(), Failure> {
    let common = &options.common;
    at_least_one("--seeds", options.seeds)?;
    let place = common.place_in_single_precision()?;
    place.open()?;
    let Some(path) = &options.data else {
        return Err(Failure::Arguments(
            "the measurements are not part of this program; make a CSV file with the columns latitude, \
             longitude and quality score of Ookla's open data (Georgia, USA, 2019 to 2022) and give it \
             with --data FILE"
                .into(),
        ));
    };
    let data = options.read(path)?;
    let default = common.by_scale(quick(), paper());
    let budget = default.budget.with(None, options.epochs, None);
    let protocol = Protocol { budget, ..default };
    let settings = json!({
        "data": path,
        "protocol": protocol,
        "budget": budget,
        "dtype": place.dtype,
        "device": place.device,
    });
    let experiment = ExperimentFolder::open(NAME, common, &settings)?;
    let file = write(&data, &experiment)?;
    let broken = options.make(&file, &protocol, place, &experiment)?;
    let in_paper = |run: &Run| {
        let options = paper().options(run.method, run.inputs, &common.as_in_paper(), place);
        Some(RunOptions {
            data: Some(file.display().to_string()),
            ..options
        })
    };
    let mut cells = Cell::finished(&experiment, in_paper)?;
    for cell in &mut cells {
        cell.compare_rows(|_| Some(TRAINING_ROWS));
    }
    write_results(&cells, &experiment)?;
    draw(&experiment, &data, place, &finished(&cells))?;
    print(&text(&cells, &experiment))?;
    all_made(broken)
}

/// A place and the logarithm of the score there, a row each.
pub(super) struct Measurements {
    /// Latitude, longitude, logarithm.
    pub rows: Vec<[f64; 3]>,
}

impl DbkMobileOptions {
    fn read(&self, path: &Path) -> Result<Measurements, Failure> {
        let source = DataSource::resolve(&path.display().to_string(), None)?;
        let data = source.load(self.target.as_ref())?;
        let [latitude, longitude] = coordinates(path, &data)?;
        let mut rows = Vec::new();
        for (index, &score) in data.targets.iter().enumerate() {
            if !self.logarithms && score <= 0.0 {
                return Err(Failure::Arguments(format!(
                    "{}: the score {score} has no logarithm; correct it, or say --logarithms if the column has \
                     logarithms already",
                    data.location(index)
                )));
            }
            let logarithm = if self.logarithms { score } else { score.ln() };
            let at = |column| data.inputs.get(index, column);
            rows.push([at(latitude), at(longitude), logarithm]);
        }
        Ok(Measurements { rows })
    }

    /// Makes all runs, seed by seed; the names of those that broke off.
    fn make(
        &self,
        file: &Path,
        protocol: &Protocol,
        place: options::Place,
        experiment: &ExperimentFolder,
    ) -> Result<Vec<String>, Failure> {
        let common = &self.common;
        let watch = Watch::new(experiment, common.quiet)?;
        let seeds = self.seeds.unwrap_or(common.by_scale(1, 5));
        let mut broken = Vec::new();
        for seed in common.seed..common.seed + seeds {
            for method in METHODS {
                let options = protocol.options(method, COORDINATES.len(), common, place);
                let run = TrainingRun {
                    folder: folder(&experiment.runs(), DATA, (method, protocol.budget), seed),
                    options: RunOptions {
                        data: Some(file.display().to_string()),
                        seed: Some(seed),
                        ..options
                    },
                };
                let name = format!("{}, seed {seed}", method.title());
                if !watch.run(&run, &name)? {
                    broken.push(name);
                }
            }
        }
        Ok(broken)
    }
}

/// The inputs with the coordinates.
fn coordinates(path: &Path, data: &Dataset) -> Result<[usize; 2], Failure> {
    let names = data.input_names();
    let position = |wanted: &str| {
        let found = (names.iter()).position(|name| name.trim().eq_ignore_ascii_case(wanted));
        found.ok_or_else(|| {
            Failure::Arguments(format!(
                "{} has no column {wanted:?} beside its target {:?}; its other columns are {}",
                path.display(),
                data.target_name(),
                names.join(", ")
            ))
        })
    };
    Ok([position(COORDINATES[0])?, position(COORDINATES[1])?])
}

/// The file that the runs read.
fn write(data: &Measurements, experiment: &ExperimentFolder) -> Result<PathBuf, Failure> {
    let runs = experiment.runs();
    std::fs::create_dir_all(&runs).map_err(Failure::writing(&runs))?;
    let path = runs.join(format!("{DATA}.csv"));
    let mut text = String::from("latitude,longitude,logarithm\n");
    for [latitude, longitude, logarithm] in &data.rows {
        text += &format!("{latitude},{longitude},{logarithm}\n");
    }
    replace_file(&path, &text)?;
    Ok(path)
}

/// The folder of the first run of each model.
fn finished(cells: &[Cell]) -> Vec<Place> {
    (METHODS.iter())
        .filter_map(|&method| {
            let cell = cells.iter().find(|cell| cell.first().method == method)?;
            Some(Place {
                title: method.title(),
                folder: cell.folder_of_first(),
            })
        })
        .collect()
}

const TITLES: [&str; 9] = [
    "model", "rows", "MAE", "paper", "RMSE", "paper", "NLPD", "paper", "seeds",
];

/// The cells with the paper's numbers, in its order.
fn beside_the_paper(cells: &[Cell]) -> Vec<(&Cell, [f64; 3])> {
    (METHODS.iter().zip(PUBLISHED))
        .filter_map(|(method, published)| {
            let cell = cells.iter().find(|cell| cell.first().method == *method)?;
            Some((cell, published))
        })
        .collect()
}

/// In the order of the paper's numbers.
fn scores(cell: &Cell) -> [Option<Summary>; 3] {
    [
        cell.summary(|run| run.mae),
        cell.summary(|run| run.rmse),
        cell.summary(|run| run.nlpd),
    ]
}

fn row((cell, published): &(&Cell, [f64; 3])) -> Vec<String> {
    let run = cell.first();
    let mut row = vec![run.method.title().to_owned(), run.rows.to_string()];
    for (score, published) in scores(cell).into_iter().zip(published) {
        row.extend([summary_text(score, 4), format!("{published:.4}")]);
    }
    row.push(cell.runs.len().to_string());
    row
}

/// A line of the file.
fn line((cell, published): &(&Cell, [f64; 3])) -> CsvLine {
    let ([mae, rmse, nlpd], &[paper_mae, paper_rmse, paper_nlpd]) = (scores(cell), published);
    CsvLine::default()
        .with("method", name_of(cell.first().method))
        .with("rows", cell.first().rows)
        .with("seeds", cell.runs.len())
        .summary("mae", mae)
        .with("paper_mae", paper_mae)
        .summary("rmse", rmse)
        .with("paper_rmse", paper_rmse)
        .summary("nlpd", nlpd)
        .with("paper_nlpd", paper_nlpd)
        .maybe("departures", cell.departures.as_deref().map(joined))
}

fn write_results(cells: &[Cell], experiment: &ExperimentFolder) -> Result<(), Failure> {
    let lines: Vec<CsvLine> = beside_the_paper(cells).iter().map(line).collect();
    let runs: Vec<_> = cells.iter().flat_map(|cell| &cell.runs).collect();
    let record = json!({
        "comparable_with_the_paper": are_comparable(cells.iter().map(|cell| &cell.departures)),
        "runs": runs,
    });
    experiment.write_results(&record, &lines)
}

fn text(cells: &[Cell], experiment: &ExperimentFolder) -> String {
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(beside_the_paper(cells).iter().map(row));
    let mut lines = aligned(&rows);
    lines.push(
        "mean (standard error) over the seeds, logarithms in standardized units; the paper is \
         arXiv:2505.18526, Figure 4,\nwith 19 535 rows, of which 70 % are to train on: other data have other \
         numbers"
            .into(),
    );
    let named: Vec<_> = (cells.iter())
        .map(|cell| (cell.first().method.title().to_owned(), &cell.departures))
        .collect();
    lines.extend(departures::lines(&named));
    lines.push(format!("all of it in {}\n", experiment.path().display()));
    lines.join("\n")
}
