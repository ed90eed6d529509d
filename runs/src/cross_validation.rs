//! `burn-gp train --folds`: one run per fold, and a table of their scores.

use std::path::PathBuf;

use serde_json::Value;

use crate::arguments::{ModelChoice, RunOptions};
use crate::failure::Failure;
use crate::plan::check;
use crate::preparation::PreparedData;
use crate::study::{CommonOptions, ExperimentFolder, RunSupervisor, all_made};
use crate::table_of_runs::TableOfRuns;
use crate::training_run::TrainingRun;

/// The name of the experiment in its folder.
const NAME: &str = "cross-validation";

/// Trains on all folds, each in its own process and folder, and prints their scores. Folds that are already
/// finished in the folder are not repeated.
///
/// # Errors
///
/// [`Failure`]. Folds that fail are reported and left out of the table.
pub fn cross_validate(
    options: &RunOptions,
    out: PathBuf,
    (overwrite, quiet): (bool, bool),
) -> Result<(), Failure> {
    let folds = options.folds.unwrap_or_default();
    let run_of = |fold: usize| RunOptions {
        fold: Some(fold),
        model: (options.model).or(options.is_automatic().then_some(ModelChoice::AUTO)),
        ..options.clone()
    };
    let source = options.source()?;
    let named = RunOptions {
        model: options.named_model(),
        ..run_of(1)
    };
    let first = check(&named.with_inferred_likelihood(&source)?, &source)?;
    // Otherwise each fold would report the same problem with the rows.
    PreparedData::load(&source, &first)?;
    let common = CommonOptions::of_run(options, out, overwrite, quiet);
    let settings: Value = options.fields().into();
    let folder = ExperimentFolder::open(NAME, &common, &settings)?;
    let watch = RunSupervisor::new(&folder, quiet)?;
    let (mut finished, mut broken) = (Vec::new(), Vec::new());
    for fold in 1..=folds {
        let name = format!("fold {fold} of {folds}");
        let run = TrainingRun {
            folder: folder.runs().join(format!("fold-{fold}")),
            options: run_of(fold),
        };
        match watch.run(&run, &name)? {
            true => {
                finished.extend(TrainingRun::finished(&run.folder)?.map(|run| (fold.into(), run)))
            }
            false => broken.push(name),
        }
    }
    let table = TableOfRuns {
        column: "fold".to_owned(),
        runs: &finished,
        note: "the last line has means and standard errors; to train on all rows, use --test-fraction 0 instead of \
               --folds"
            .to_owned(),
    };
    table.write(&folder, quiet)?;
    all_made(broken)
}
