//! `burn-gp train --folds`: one run per fold, and a table of their scores.

use std::path::PathBuf;

use serde_json::Value;

use crate::arguments::{ModelChoice, RunOptions};
use crate::failure::Failure;
use crate::plan::check;
use crate::preparation::PreparedData;
use crate::report::Metrics;
use crate::scores::{Scored, Shown};
use crate::study::{CommonOptions, ExperimentFolder, ResultRow, RunSupervisor, all_made, table};
use crate::summary::Summary;
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
            true => finished.extend(TrainingRun::finished(&run.folder)?.map(|run| (fold, run))),
            false => broken.push(name),
        }
    }
    report(&folder, &finished, quiet)?;
    all_made(broken)
}

/// Writes the scores, and prints them unless `quiet`.
fn report(
    folder: &ExperimentFolder,
    finished: &[(usize, Metrics)],
    quiet: bool,
) -> Result<(), Failure> {
    let lines: Vec<ResultRow> = finished
        .iter()
        .map(|(fold, run)| line(*fold, run))
        .collect();
    folder.write_results(&lines, &lines)?;
    if quiet || finished.is_empty() {
        return Ok(());
    }
    let mut texts = table(lines.iter().chain([&mean(finished)]));
    for (fold, run) in finished {
        let warnings = run.warnings.iter();
        texts.extend(warnings.map(|text| format!("warning: fold {fold}: {text}")));
    }
    texts.push(
        "the last line has means and standard errors; to train on all rows, use --test-fraction 0 \
         instead of --folds"
            .into(),
    );
    folder.print(texts);
    Ok(())
}

fn line(fold: usize, run: &Metrics) -> ResultRow {
    let start = ResultRow::default()
        .column("fold", "fold", fold, 0)
        .column("model", "model", &run.model, 0)
        .column("training rows", "n_train", run.n_train, 0)
        .column("test rows", "n_test", run.n_test, 0);
    let line = scores_of(run).fold(start, |line, scored| {
        let (score, number) = (scored.score, scored.number());
        match score.shown <= Shown::OnTerminal {
            true => line.column(score.column(), scored.key(), number, score.digits),
            false => line.with(scored.key(), number),
        }
    });
    line.column("seconds", "train_seconds", run.training.train_seconds, 1)
}

/// The scores of a fold on pages.
fn scores_of(run: &Metrics) -> impl Iterator<Item = Scored> {
    let scores = run.scores.iter();
    scores.flat_map(|scores| scores.shown(Shown::OnPages))
}

/// The means over the folds with their standard errors, for the terminal.
fn mean(finished: &[(usize, Metrics)]) -> ResultRow {
    let start = ResultRow::default()
        .shown("fold", "all")
        .shown("model", "")
        .shown("training rows", "")
        .shown("test rows", "");
    let first = finished.iter().take(1);
    let columns = first.flat_map(|(_, run)| scores_of(run));
    let columns = columns.filter(|scored| scored.score.shown <= Shown::OnTerminal);
    let line = columns.fold(start, |line, column| {
        let score = column.score;
        let each = finished.iter().filter_map(|(_, run)| {
            let mut own = scores_of(run);
            Some(own.find(|own| own.score.key == score.key)?.number())
        });
        line.column(score.column(), score.key, Summary::of(each), score.digits)
    });
    let seconds = Summary::of(finished.iter().map(|(_, run)| run.training.train_seconds));
    line.shown(
        "seconds",
        format!("{:.1}", seconds.map_or(0.0, |mean| mean.mean)),
    )
}
