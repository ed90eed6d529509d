//! The table of a sweep.

use burn_gp_datasets::counted;

use super::definition::{Axis, AxisValue, DataSets, Note, Study};
use super::details::CellDetails;
use super::finished::FinishedCell;
use super::plots::Plot;
use super::sweep::Swept;
use super::table_definition::{Column, Table};
use crate::arguments::{ModelChoice, ModelFields, RunOptions};
use crate::report::Metrics;
use crate::scores::{COVERAGE, ERROR, NLPD, RMSE, SCORES, Score, ScoreUnit, Shown};

/// The keys of the columns that are plotted.
const PLOTTED: &[&str] = &[ERROR, RMSE, NLPD, "train_seconds"];

/// The study of a sweep over `grid` on data sets. The folders of a comparison are named after its
/// models.
pub fn study(grid: &[Swept], data: Vec<String>, is_comparison: bool) -> Study {
    Study {
        name: "sweep",
        data: DataSets {
            names: data,
            in_folder: !is_comparison,
            ..DataSets::default()
        },
        axes: grid.iter().map(Swept::axis).collect(),
        folder: match is_comparison {
            true => |cell| cell.cell.values.clone(),
            false => |cell| {
                let axes = cell.study.axes.iter().zip(&cell.cell.values);
                axes.map(|(axis, value)| format!("{}-{value}", axis.name))
                    .collect()
            },
        },
        table: Table {
            title,
            heading: Some(|cell| cell.sizes()),
            digits: 4,
            columns: columns(grid),
            ..Table::default()
        },
        plots: vec![Plot::Comparison(PLOTTED), Plot::Sizes(PLOTTED)],
        notes: vec![
            Note::about(
                "mean (standard error) over the seeds, each with its own split, in standardized units; steps: seconds \
                 of\nthe optimizer steps only, without choosing inducing points, validation or evaluation",
                |cell| !has_labels(cell),
            ),
            Note::about(
                "mean (standard error) over the seeds, each with its own split; steps: seconds of the optimizer steps \
                 only,\nwithout choosing inducing points, validation or evaluation",
                has_labels,
            ),
        ],
        findings,
        ..Study::default()
    }
}

/// Whether the targets are labels.
fn has_labels(cell: &FinishedCell) -> bool {
    let mut scores = cell.runs.iter().filter_map(|run| run.scores.as_ref());
    scores.any(|scores| scores.get(ERROR).is_some())
}

/// The values of a cell. Numbers come with the option's name, because they say little alone.
fn title(cell: &CellDetails<'_>) -> String {
    let is_number =
        |value: &AxisValue| value.name.parse::<f64>().is_ok() || value.name.parse::<bool>().is_ok();
    let part = |(axis, value): (&Axis, &String)| match axis.values.iter().all(is_number) {
        true => format!("{} {value}", axis.name.replace('_', " ")),
        false => value.clone(),
    };
    let axes = cell.study.axes.iter().zip(&cell.cell.values);
    axes.map(part).collect::<Vec<String>>().join(", ")
}

/// The swept options, the scores of comparisons, in standardized units, time and memory.
fn columns(grid: &[Swept]) -> Vec<Column> {
    let option = |swept: &Swept| Column::axis("", swept.field.replace('_', " "), &swept.field);
    let compared = SCORES
        .iter()
        .filter(|score| score.shown == Shown::InComparisons);
    let optional = |column: Column| Column {
        optional: true,
        ..column
    };
    let seconds = Column::metric("train_seconds", "steps (s)").digits(1);
    let memory = Column {
        unit: 1e-6,
        ..Column::metric("peak_memory", "memory (MB)").digits(0)
    };
    (grid.iter().map(option))
        .chain(compared.map(score))
        .chain([seconds, memory].map(optional))
        .chain([Column::seeds("seeds", "seeds")])
        .collect()
}

/// The column of a score. Labels have neither errors in the units of the targets nor intervals.
fn score(score: &'static Score) -> Column {
    let is_percent = score.unit == ScoreUnit::Percent;
    let is_of_numbers = score.unit == ScoreUnit::Target || score.key == COVERAGE;
    let title = match is_percent {
        true => format!("{} (%)", score.title),
        false => score.title.to_owned(),
    };
    Column {
        unit: if is_percent { 100.0 } else { 1.0 },
        optional: true,
        instead: is_of_numbers.then_some(ERROR),
        ..Column::metric(score.key, title).digits(score.digits)
    }
}

impl Swept {
    fn axis(&self) -> Axis {
        let values = self.values.iter().map(AxisValue::new);
        Axis::new(&self.field, values).setting(&self.field)
    }
}

/// Numbers of rows of a run.
type Sizes = fn(&Metrics) -> [usize; 2];

/// Warnings of the runs, and a warning if the models used different numbers of rows.
fn findings(cells: &[FinishedCell]) -> Vec<String> {
    let several = cells
        .iter()
        .any(|cell| cell.cell.data != cells[0].cell.data);
    let warnings = |cell: &FinishedCell| -> Vec<String> {
        let data = several.then(|| cell.cell.data.clone());
        let words: Vec<String> = data.into_iter().chain(cell.cell.values.clone()).collect();
        let name = words.join(", ");
        let of_run = |run: &Metrics| -> Vec<String> {
            let named = |text| format!("warning: {name}, seed {}: {text}", run.seed);
            run.warnings.iter().map(named).collect()
        };
        cell.runs.iter().flat_map(of_run).collect()
    };
    let mut lines: Vec<String> = cells.iter().flat_map(warnings).collect();
    lines.extend(rows_of_validation(cells));
    for (sizes, text) in [
        (
            (|run| [run.n_test, 0]) as Sizes,
            "not comparable: the models were tested on different numbers of rows",
        ),
        (
            |run| [run.n_train, run.n_validation],
            "the models were trained on different numbers of rows",
        ),
    ] {
        let uneven = uneven_seeds(cells, sizes);
        if !uneven.is_empty() {
            lines.push(format!("{text} with seed {}", uneven.join(", ")));
            break;
        }
    }
    lines
}

/// A note if some models do not use the validation rows.
fn rows_of_validation(cells: &[FinishedCell]) -> Option<String> {
    let held_out = cells.iter().map(|cell| cell.runs[0].n_validation).max()?;
    let is_without_use = |cell: &&FinishedCell| {
        let model = ModelChoice::find(&cell.runs[0].model);
        !model.is_some_and(|model| ModelFields::new(model, &RunOptions::default()).is_mini_batch())
    };
    let mut without_use: Vec<String> = cells
        .iter()
        .filter(is_without_use)
        .map(|cell| cell.runs[0].model.clone())
        .collect();
    without_use.dedup();
    (held_out > 0 && !without_use.is_empty()).then(|| {
        format!(
            "no model trains on the {}; models that do not use them at all: {}",
            counted(held_out, "validation row"),
            without_use.join(", ")
        )
    })
}

/// The seeds whose runs on the same data differ in these numbers of rows.
fn uneven_seeds(cells: &[FinishedCell], sizes: Sizes) -> Vec<String> {
    let mut uneven = Vec::new();
    for cells in cells.chunk_by(|a, b| a.cell.data == b.cell.data) {
        let runs = || cells.iter().flat_map(|cell| &cell.runs);
        let mut seeds: Vec<u64> = runs().map(|run| run.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        uneven.extend(seeds.into_iter().filter(|&seed| {
            let own = runs().filter(|run| run.seed == seed);
            let mut sizes = own.map(sizes);
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        }));
    }
    uneven.iter().map(u64::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_have_the_scores_of_the_one_table() {
        let grid = [Swept {
            field: "inducing".into(),
            values: vec!["8".into(), "16".into()],
        }];
        let columns = columns(&grid);
        let titles: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "inducing",
                "error (%)",
                "RMSE",
                "MAE",
                "NLPD",
                "coverage (%)",
                "ECE",
                "steps (s)",
                "memory (MB)",
                "seeds"
            ]
        );
        let keys: Vec<&str> = columns.iter().map(|column| column.key).collect();
        for score in SCORES {
            let is_compared = score.shown == Shown::InComparisons;
            assert_eq!(keys.contains(&score.key), is_compared, "{}", score.key);
        }
    }
}
