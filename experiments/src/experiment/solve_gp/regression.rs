//! Regression (Section 6.3, Tables 2, 6 and 7).
//!
//! Matérn-3/2 with one lengthscale, unwhitened posteriors, 20 % of the rows at random for testing
//! and 20 % of the rest held out, 100 epochs of Adam with batches of 1024 and learning rate 0.01.
//! The paper does not say what its held-out validation rows are for: here nothing looks at them, and
//! the model of the last step is tested. Where the paper is silent, inputs and targets are
//! standardized by the training rows, inducing points start at the centers of clusters, and
//! hyperparameters where `train` starts them.

use std::path::PathBuf;

use burn_gp::ops::Stationary;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::columns::Column;
use super::published::{self, DATA_SETS};
use super::regression_table::{Cell, RegressionTable};
use crate::arguments::{KeepName, LikelihoodName, MeanName, RunOptions, ScheduleName, name_of};
use crate::experiment::{
    CommonOptions, ExperimentFolder,
    data_at_hand::data_at_hand,
    departures::{Departure, departures_of_runs},
    options::Place,
    watch::{Watch, all_made},
};
use crate::failure::Failure;
use crate::kernel_expression::KernelExpression;
use crate::report::Metrics;
use crate::standard_output::print;
use crate::training_run::TrainingRun;

/// Its name.
const NAME: &str = "solve-regression";

/// The data sets of quick scale unless told otherwise.
const QUICK_DATA_SETS: [&str; 2] = ["elevators", "bike"];

/// What `experiment solve-regression` takes.
#[derive(Args, Clone, Debug)]
pub struct RegressionOptions {
    /// Data sets, such as kin40k,bike [default: all of the paper's; quick: elevators,bike]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    data_sets: Vec<String>,
    /// Columns of the tables, named by the paper's numbers of inducing points [default: all]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    columns: Vec<Column>,
    /// Random splits, with the first seed and those after it [default: 5; quick: 2]
    #[arg(long, value_name = "COUNT")]
    splits: Option<u64>,
    /// Passes over the training rows [default: 100; quick: 40]
    #[arg(long, value_name = "E")]
    epochs: Option<usize>,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment solve-regression`.
///
/// # Errors
///
/// [`Failure`]. Data sets that are absent are named and left out, and so are runs that break off.
pub(in crate::experiment) fn regression(options: &RegressionOptions) -> Result<(), Failure> {
    let common = &options.common;
    let asked = options.runs()?;
    let settings = json!({
        "scale": name_of(common.scale),
        "epochs": asked.shared.epochs,
        "dtype": asked.shared.dtype,
        "device": asked.shared.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let watch = Watch::new(&folder, common.quiet)?;
    let mut broken = Vec::new();
    for (data, column, seed) in asked.in_order() {
        let title = column.title(common.is_paper());
        let name = format!("{data}, {title}, seed {seed}");
        let run = TrainingRun {
            folder: cell_folder(&folder, data, column).join(format!("seed-{seed}")),
            options: RunOptions {
                data: Some(data.to_owned()),
                seed: Some(seed),
                ..column.with_model(asked.shared.clone(), common.is_paper())
            },
        };
        if !watch.run(&run, &name)? {
            broken.push(name);
        }
    }
    let cells = options.finished_cells(&folder)?;
    let table = RegressionTable::new(cells, common.is_paper());
    table.write(&folder)?;
    print(&table.text(folder.path()))?;
    all_made(broken)
}

/// What all runs of regression have in common, but for their length.
pub(super) fn protocol(common: &CommonOptions, place: Place) -> RunOptions {
    RunOptions {
        kernel: Some(KernelExpression::of_unit_lengthscale(Stationary::Matern32)),
        isotropic: Some(true),
        mean: Some(MeanName::Zero),
        likelihood: Some(LikelihoodName::Gaussian),
        data_dir: common.data_dir(),
        test_fraction: Some(0.2),
        validation_fraction: Some(0.2),
        keep: Some(KeepName::Last),
        batch_size: Some(1024),
        learning_rate: Some(0.01),
        schedule: Some(ScheduleName::Constant),
        dtype: Some(place.dtype),
        device: Some(place.device),
        ..RunOptions::default()
    }
}

/// The runs that were asked for, on the data that are there.
struct AskedRuns {
    data_sets: Vec<String>,
    columns: Vec<Column>,
    seeds: Vec<u64>,
    /// What they have in common.
    shared: RunOptions,
}

impl AskedRuns {
    /// Split by split, so that every table is complete as early as possible.
    fn in_order(&self) -> impl Iterator<Item = (&str, Column, u64)> {
        self.data_sets.iter().flat_map(move |data| {
            let columns = &self.columns;
            let seeds = self.seeds.iter();
            seeds.flat_map(move |&seed| {
                columns
                    .iter()
                    .map(move |&column| (data.as_str(), column, seed))
            })
        })
    }
}

impl RegressionOptions {
    fn runs(&self) -> Result<AskedRuns, Failure> {
        let common = &self.common;
        let place = common.place()?;
        place.open()?;
        let splits = self.splits.unwrap_or(common.by_scale(2, 5));
        let columns = match self.columns.as_slice() {
            [] => Column::value_variants(),
            columns => columns,
        };
        let default = common.by_scale(&QUICK_DATA_SETS[..], &DATA_SETS[..]);
        let data_dir = common.data_dir();
        let data_sets = data_at_hand(&self.data_sets, default, &DATA_SETS, data_dir.as_deref())?;
        Ok(AskedRuns {
            data_sets,
            columns: columns.to_vec(),
            seeds: (common.seed..common.seed + splits).collect(),
            shared: self.shared(place),
        })
    }

    /// What all runs have in common.
    fn shared(&self, place: Place) -> RunOptions {
        let common = &self.common;
        RunOptions {
            epochs: Some(self.epochs.unwrap_or(common.by_scale(40, 100))),
            ..protocol(common, place)
        }
    }

    /// What a run of a column is told in the paper.
    fn in_paper(&self, column: Column, place: Place) -> RunOptions {
        let paper = Self {
            epochs: None,
            common: self.common.as_in_paper(),
            ..self.clone()
        };
        column.with_model(paper.shared(place), true)
    }
}

fn cell_folder(folder: &ExperimentFolder, data: &str, column: Column) -> PathBuf {
    folder.runs().join(data).join(name_of(column))
}

impl RegressionOptions {
    /// The cells with finished runs, in the order of the paper.
    fn finished_cells(&self, folder: &ExperimentFolder) -> Result<Vec<Cell>, Failure> {
        let found = crate::output::names_in(&folder.runs());
        let others = found
            .iter()
            .filter(|name| !DATA_SETS.contains(&name.as_str()));
        let known = DATA_SETS.iter().copied();
        let mut cells = Vec::new();
        for data in known.chain(others.map(String::as_str)) {
            for &column in Column::value_variants() {
                let place = cell_folder(folder, data, column);
                let (folders, runs): (Vec<_>, Vec<Metrics>) =
                    TrainingRun::places_finished(&place)?.into_iter().unzip();
                if runs.is_empty() {
                    continue;
                }
                cells.push(Cell {
                    data: data.to_owned(),
                    column,
                    departures: self.departures(data, column, &folders, &runs[0])?,
                    runs,
                });
            }
        }
        Ok(cells)
    }

    /// Where the runs of a cell depart from the paper; none where it has no such cell.
    fn departures(
        &self,
        data: &str,
        column: Column,
        folders: &[PathBuf],
        run: &Metrics,
    ) -> Result<Option<Vec<Departure>>, Failure> {
        let Some([rows, inputs]) = published::sizes(data) else {
            return Ok(None);
        };
        let paper = RunOptions {
            data: Some(data.to_owned()),
            ..self.in_paper(column, self.common.place()?)
        };
        let mut departures = departures_of_runs(folders, &paper)?;
        departures.extend(Departure::of_rows("training rows", run.n_train, rows));
        departures.extend(Departure::of("inputs", run.d, inputs));
        Ok(Some(departures))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::departures::testing::{departures_between, typed};

    #[test]
    fn other_lengths_are_departures_from_the_paper() {
        for (line, expected) in [
            ("--scale paper", ""),
            ("--scale paper --epochs 1", "epochs 1 instead of 100"),
            (
                "--epochs 100",
                "inducing 128 instead of 1024; orthogonal 128 instead of 1024",
            ),
        ] {
            let options: RegressionOptions = typed(line);
            let place = options.common.place().unwrap();
            let column = Column::Solve1024;
            let here = column.with_model(options.shared(place), options.common.is_paper());
            let paper = options.in_paper(column, place);
            assert_eq!(departures_between(here, paper), expected, "{line}");
        }
    }
}
