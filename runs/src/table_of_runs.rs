//! The table of several runs with the same options: the folds of a cross-validation, or the models of `train --by`.

use crate::failure::Failure;
use crate::report::Metrics;
use crate::scores::{Scored, Shown};
use crate::study::{Entry, ExperimentFolder, ResultRow, table};
use crate::summary::Summary;

/// The scores of finished runs.
pub struct TableOfRuns<'a> {
    /// The title of the first column.
    pub column: String,
    /// The runs with their entries in the first column.
    pub runs: &'a [(Entry, Metrics)],
    /// The text below the table.
    pub note: String,
}

impl TableOfRuns<'_> {
    /// Writes the scores, and prints them unless `quiet`.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn write(&self, folder: &ExperimentFolder, quiet: bool) -> Result<(), Failure> {
        let lines = self.runs.iter();
        let lines: Vec<ResultRow> = lines.map(|(entry, run)| self.line(entry, run)).collect();
        folder.write_results(&lines, &lines)?;
        if quiet || self.runs.is_empty() {
            return Ok(());
        }
        let mut texts = table(lines.iter().chain([&self.mean()]));
        for (entry, run) in self.runs {
            let name = format!("{} {}", self.column, entry.text(0));
            let warnings = run.warnings.iter();
            texts.extend(warnings.map(|text| format!("warning: {name}: {text}")));
        }
        texts.push(self.note.clone());
        folder.print(texts);
        Ok(())
    }

    fn line(&self, entry: &Entry, run: &Metrics) -> ResultRow {
        let start = ResultRow::default()
            .column(self.column.clone(), self.column.clone(), entry.clone(), 0)
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

    /// The means over the runs with their standard errors, for the terminal.
    fn mean(&self) -> ResultRow {
        let start = ResultRow::default()
            .shown(self.column.clone(), "all")
            .shown("model", "")
            .shown("training rows", "")
            .shown("test rows", "");
        let first = self.runs.iter().take(1);
        let columns = first.flat_map(|(_, run)| scores_of(run));
        let columns = columns.filter(|scored| scored.score.shown <= Shown::OnTerminal);
        let line = columns.fold(start, |line, column| {
            let score = column.score;
            let each = self.runs.iter().filter_map(|(_, run)| {
                let mut own = scores_of(run);
                Some(own.find(|own| own.score.key == score.key)?.number())
            });
            line.column(score.column(), score.key, Summary::of(each), score.digits)
        });
        let seconds = Summary::of((self.runs.iter()).map(|(_, run)| run.training.train_seconds));
        line.shown(
            "seconds",
            format!("{:.1}", seconds.map_or(0.0, |mean| mean.mean)),
        )
    }
}

/// The scores of a run on pages.
fn scores_of(run: &Metrics) -> impl Iterator<Item = Scored> {
    let scores = run.scores.iter();
    scores.flat_map(|scores| scores.shown(Shown::OnPages))
}
