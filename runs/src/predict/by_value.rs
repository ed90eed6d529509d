//! Predictions with a model for each value of a column.

use std::collections::BTreeSet;
use std::path::PathBuf;

use burn_gp_datasets::{DataSource, RowSelection, RowsByValue};

use super::{PredictArguments, Predicted, places, predicted, write};
use crate::evaluation::Levels;
use crate::failure::Failure;
use crate::folder_of_models::FolderOfModels;
use crate::output::PredictionTable;
use crate::report::score_line;
use crate::standard_error::{tell, warn};
use crate::trained_folder::open_model;

/// Predicts each row with the model of its value. Rows without a value, or with one that has no model, have empty
/// predictions; with `--strict`, they are an error.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn predict(
    arguments: &PredictArguments,
    models: &FolderOfModels,
    levels: &Levels,
) -> Result<(), Failure> {
    models.require_some()?;
    let (source, destination) = places(arguments)?;
    let column = &models.column;
    let rows = source.rows_by_value("--by", column, arguments.no_header.map(|none| !none))?;
    let RowsByValue { values, missing } = rows;
    let (known, unknown): (Vec<_>, Vec<_>) =
        (values.into_iter()).partition(|(value, _)| models.model(value).is_dir());
    let unknown: Vec<(String, Vec<usize>)> = (unknown.into_iter())
        .chain((!missing.is_empty()).then(|| (String::new(), missing)))
        .collect();
    require_known(arguments, column, &unknown)?;
    let work = Work {
        arguments,
        models,
        source,
        levels,
    };
    let (mut tables, mut lines) = (Vec::new(), Vec::new());
    let first = known.first().map(|(value, _)| models.model(value));
    for (value, rows) in known {
        let Predicted {
            table,
            sentence,
            scores,
            inside,
        } = work.predicted(models.model(&value), &value, rows)?;
        let scores = scores.as_ref().map(score_line);
        let said = sentence.into_iter().chain(scores).chain(inside);
        lines.extend(said.map(|text| format!("{column} {value}: {text}")));
        tables.push(table);
    }
    for (value, rows) in &unknown {
        tables.push(work.unpredicted(first.clone(), value, rows));
    }
    write(
        PredictionTable::stacked(tables),
        destination,
        arguments.json,
    )?;
    if !unknown.is_empty() {
        let values: Vec<String> = unknown.iter().map(|(value, _)| named(value)).collect();
        let count: usize = unknown.iter().map(|(_, rows)| rows.len()).sum();
        let values = values.join(", ");
        warn(format!(
            "there is no model for the {column} {values}; rows without a prediction: {count}"
        ));
    }
    lines.iter().for_each(|line| tell(line));
    Ok(())
}

/// Fails with `--strict` if values have no model.
fn require_known(
    arguments: &PredictArguments,
    column: &str,
    unknown: &[(String, Vec<usize>)],
) -> Result<(), Failure> {
    match unknown.first() {
        Some((value, _)) if arguments.strict => Err(Failure::Arguments(format!(
            "there is no model for the {column} {}; remove its rows, or remove --strict",
            named(value)
        ))),
        _ => Ok(()),
    }
}

/// A value in messages.
fn named(value: &str) -> String {
    match value {
        "" => "of empty cells".to_owned(),
        value => format!("{value:?}"),
    }
}

/// What all predictions share.
struct Work<'a> {
    arguments: &'a PredictArguments,
    models: &'a FolderOfModels,
    source: DataSource,
    levels: &'a Levels,
}

impl Work<'_> {
    /// The predictions of the rows with a value by the model in `folder`.
    fn predicted(
        &self,
        folder: PathBuf,
        value: &str,
        rows: Vec<usize>,
    ) -> Result<Predicted, Failure> {
        let saved = open_model(&folder, self.arguments.shared.device.as_ref())?;
        let selection = RowSelection {
            column: self.models.column.clone(),
            value: value.to_owned(),
        };
        let source = self.source.clone().with_rows(Some(selection));
        predicted(
            self.arguments,
            (&folder, &saved),
            &source,
            (self.levels, rows),
        )
    }

    /// The rows with a value that has no model, with the columns to keep if the model in `folder` can read them.
    fn unpredicted(&self, folder: Option<PathBuf>, value: &str, rows: &[usize]) -> PredictionTable {
        let read = folder.and_then(|folder| self.predicted(folder, value, rows.to_vec()).ok());
        let all: BTreeSet<usize> = (0..rows.len()).collect();
        match read {
            Some(read) => read.table.without(&all),
            None => PredictionTable::of_rows(rows.iter().copied()),
        }
    }
}
