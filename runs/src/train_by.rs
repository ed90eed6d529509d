//! `burn-gp train --by`: a model for each value of a column, and a table of their scores.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use burn_gp_datasets::{DataSource, RowSelection, RowsByValue};

use crate::arguments::{ModelChoice, RunOptions};
use crate::failure::Failure;
use crate::fitting::Interrupt;
use crate::folder_of_models::{FolderOfModels, NAME};
use crate::output::default_folder_name;
use crate::outputs::Place;
use crate::plan::check;
use crate::report::{Metrics, score_line};
use crate::standard_error::{tell, warn};
use crate::study::{CommonOptions, ExperimentFolder, all_made};
use crate::table_of_runs::TableOfRuns;
use crate::training_run::{RunEnd, TrainingRun};

/// Trains a model for each value of `column`, each in its own process and folder, as many at a time as there are
/// threads, and prints their scores. Models that are already finished in the folder are not trained again.
///
/// # Errors
///
/// [`Failure`]. Models that fail are reported and left out of the table.
pub fn train_by(column: &str, options: &RunOptions, place: &Place) -> Result<(), Failure> {
    let source = options.source()?;
    let rows = source.rows_by_value("--by", column, options.no_header.map(|none| !none))?;
    require_groups(column, &rows)?;
    let runs = runs(column, &rows, options);
    check_options(&runs[0].1, options)?;
    let common = CommonOptions::of_run(
        options,
        (place.out.clone()).unwrap_or_else(|| default_folder(column, options, &source)),
        place.overwrite,
        place.quiet,
    );
    let settings = FolderOfModels::settings(column, options.fields().into());
    let folder = ExperimentFolder::open(NAME, &common, &settings)?;
    let models = FolderOfModels {
        path: folder.path().to_owned(),
        column: column.to_owned(),
    };
    if !rows.missing.is_empty() {
        let count = rows.missing.len();
        warn(format!(
            "rows without a {column} that are left out: {count}"
        ));
    }
    let finished = train_all(&runs, &models, place.quiet)?;
    let mut broken = Vec::new();
    let mut made = Vec::new();
    for ((value, _), metrics) in runs.iter().zip(finished) {
        match metrics {
            Some(metrics) => made.push((value.as_str().into(), metrics)),
            None => broken.push(format!("{column} {value}")),
        }
    }
    if !broken.is_empty() {
        folder.has_gaps().set(true);
    }
    let table = TableOfRuns {
        column: column.to_owned(),
        runs: &made,
        note: format!(
            "the last line has means and standard errors over the models; predict with: burn-gp predict --model-dir {} --data FILE",
            folder.path().display()
        ),
    };
    table.write(&folder, place.quiet)?;
    all_made(broken)
}

/// Fails if the column has no values, or most of them are in one row only.
fn require_groups(column: &str, rows: &RowsByValue) -> Result<(), Failure> {
    let single = rows.values.iter().filter(|(_, rows)| rows.len() == 1);
    let reason = match (rows.values.len(), single.count()) {
        (0, _) => "no row has a value there",
        (values, single) if 2 * single > values => "most of its values are in one row only",
        _ => return Ok(()),
    };
    Err(Failure::Arguments(format!(
        "--by {column:?} cannot divide the rows, because {reason}; name a column such as a store or a patient"
    )))
}

/// The options of the model of each value.
fn runs(column: &str, rows: &RowsByValue, options: &RunOptions) -> Vec<(String, RunOptions)> {
    let run = |(value, _): &(String, Vec<usize>)| {
        let own = RunOptions {
            rows: Some(RowSelection {
                column: column.to_owned(),
                value: value.clone(),
            }),
            model: (options.model).or(options.is_automatic().then_some(ModelChoice::AUTO)),
            ..options.clone()
        };
        (value.clone(), own)
    };
    rows.values.iter().map(run).collect()
}

/// Checks the options of the first model. Otherwise each model would report the same problem.
fn check_options(first: &RunOptions, options: &RunOptions) -> Result<(), Failure> {
    let named = RunOptions {
        model: options.named_model(),
        ..first.clone()
    };
    let source = named.source()?;
    check(&named.with_inferred_likelihood(&source)?, &source)?;
    Ok(())
}

/// Trains all models, several at a time. `None` for those that fail.
fn train_all(
    runs: &[(String, RunOptions)],
    models: &FolderOfModels,
    quiet: bool,
) -> Result<Vec<Option<Metrics>>, Failure> {
    let interrupt = Interrupt::install()?;
    let train = |(value, options): &(String, RunOptions)| {
        if interrupt.is_requested() {
            return Err(Failure::InterruptedExperiment(models.path.clone()));
        }
        let run = TrainingRun {
            folder: models.model(value),
            options: options.clone(),
        };
        let (end, messages) = run.execute_aside(&interrupt)?;
        let column = &models.column;
        match end {
            RunEnd::Finished(metrics) => {
                if !quiet {
                    let scores = metrics.scores.as_ref().map_or_else(String::new, score_line);
                    let seconds = metrics.training.train_seconds;
                    tell(&format!("{column} {value}: {scores}, {seconds:.1} s"));
                }
                Ok(Some(*metrics))
            }
            RunEnd::Refused | RunEnd::Broken => {
                for line in messages.lines() {
                    tell(&format!("{column} {value}: {line}"));
                }
                Ok(None)
            }
            RunEnd::Interrupted => Err(Failure::InterruptedExperiment(models.path.clone())),
        }
    };
    runs.par_iter().with_max_len(1).map(train).collect()
}

/// `out/<data>-by-<column>`.
fn default_folder(column: &str, options: &RunOptions, source: &DataSource) -> PathBuf {
    let model = options.named_model().unwrap_or(ModelChoice::AUTO);
    let name = default_folder_name(source.name(), model.name());
    let column = crate::file_names::file_name(column);
    Path::new("out").join(format!("{}-by-{column}", Path::new(&name).display()))
}
