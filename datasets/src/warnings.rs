//! Warnings about data that can still be used.

use serde::{Deserialize, Serialize};

use crate::companion::Companion;
use crate::counted::{agreeing, counted, part_has};
use crate::dataset::{Dataset, Features};
use crate::encoding::{ColumnReport, InputScale, Purpose};
use crate::equal_inputs::EqualInputs;
use crate::error::listed;
use crate::levels::unseen_levels;
use crate::split::Split;
use crate::standardizer::is_constant;

/// A potential problem that the user should know about before fitting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DataWarning {
    /// An input column is constant.
    #[error("the input {name:?} is {value} in every row, so it says nothing about the target")]
    ConstantColumn {
        /// The name of the column.
        name: String,
        /// Its only value.
        value: f64,
    },
    /// More input columns are constant than should be listed individually.
    #[error(
        "{count} of {columns} inputs, the first of them {first:?}, are the same in every row, so they say nothing about the target"
    )]
    ConstantColumns {
        /// The number of constant columns.
        count: usize,
        /// The number of input columns.
        columns: usize,
        /// The name of the first constant column.
        first: String,
    },
    /// Rows repeat the inputs of earlier rows, all on the same side of the split.
    #[error(
        "{} the inputs of an earlier row; rows with equal inputs are on the same side of the split",
        part_has(*.count, *.rows, "row")
    )]
    RepeatedInputs {
        /// The number of such rows.
        count: usize,
        /// The number of rows.
        rows: usize,
    },
    /// Test rows have the same inputs as training rows.
    #[error(
        "{count} of {} of this split {} the inputs of a training row, so scores may be better than on new rows",
        counted(*.tests, "test row"),
        agreeing(*.count, ["has", "have"])
    )]
    SharedInputs {
        /// The number of such test rows.
        count: usize,
        /// The number of test rows.
        tests: usize,
    },
    /// Only some rows of a set are on disk.
    #[error(
        "{rows} of the set's {of} rows {} on disk, so scores are not those of the whole set",
        agreeing(*.rows, ["is", "are"])
    )]
    PartOfSet {
        /// The number of rows on disk.
        rows: usize,
        /// The number of rows of the whole set.
        of: usize,
    },
    /// Rows are left out because they have no target.
    #[error(
        "{} {} left out because the target {name:?} is missing{}",
        counted(*.count, "row"),
        agreeing(*.count, ["is", "are"]),
        stand_for_missing(.markers)
    )]
    RowsWithoutTarget {
        /// The number of such rows.
        count: usize,
        /// The name of the target.
        name: String,
        /// The distinct texts that mark a missing value there, besides empty cells.
        markers: Vec<String>,
    },
    /// Labels of the target usually mark a missing value, but are treated as classes.
    #[error(
        "the target {name:?} has the class {}; if it stands for a missing value, use --missing-values {}",
        listed(.labels),
        .labels.join(",")
    )]
    UnusualLabels {
        /// The name of the target.
        name: String,
        /// The labels.
        labels: Vec<String>,
    },
    /// No training row has a level of a category, or a class.
    #[error(
        "no training row has the value {level:?} of {name:?}, which {} {}; the model does not know it",
        counted(*.count, "held-out row"),
        agreeing(*.count, ["has", "have"])
    )]
    UnseenLevel {
        /// The name of the column.
        name: String,
        /// The level.
        level: String,
        /// The number of rows that have it.
        count: usize,
    },
    /// Rows of a separate file have gaps in a column that had none in training.
    #[error(
        "{} no value in {name:?}, which every training row has: their numbers are replaced by the training mean, and categories by an unknown level; intervals do not include what is not known",
        part_has(*.count, *.rows, "row")
    )]
    FilledGaps {
        /// The name of the column.
        name: String,
        /// The number of such rows.
        count: usize,
        /// The number of rows of the file.
        rows: usize,
    },
    /// Rows to predict have labels that the model does not know.
    #[error(
        "{} {} a label that the model does not know: {}; {} not scored",
        counted(*.rows, "row"),
        agreeing(*.rows, ["has", "have"]),
        listed(labels),
        agreeing(*.rows, ["it is", "they are"])
    )]
    UnknownLabels {
        /// The labels.
        labels: Vec<String>,
        /// The number of such rows.
        rows: usize,
    },
    /// Rows to predict have gaps in a column that had none in training.
    #[error(
        "{} no value in {name:?}, which every training row has: the predictions are averages over numbers like those of training, and a category is an unknown level",
        part_has(*.count, *.rows, "row")
    )]
    AveragedGaps {
        /// The name of the column.
        name: String,
        /// The number of such rows.
        count: usize,
        /// The number of rows of the file.
        rows: usize,
    },
    /// Rows of a separate file have gaps in a column of codes of levels.
    #[error(
        "{} no value in {name:?}; {} an unknown level",
        part_has(*.count, *.rows, "row"),
        agreeing(*.count, ["it gets", "they get"])
    )]
    UnknownLevels {
        /// The name of the column.
        name: String,
        /// The number of such rows.
        count: usize,
        /// The number of rows of the file.
        rows: usize,
    },
    /// Rows of a separate file have values that did not occur in training.
    #[error(
        "{} a value of {name:?} that did not occur in training; it is treated as an unknown category",
        part_has(*.count, *.rows, "row")
    )]
    UnseenValues {
        /// The name of the column.
        name: String,
        /// The number of such rows.
        count: usize,
        /// The number of rows of the file.
        rows: usize,
    },
    /// Rows have gaps in a column that has none in the sample that decides what the columns are.
    #[error(
        "{} no value in {name:?}, which every row of the sample has that decides what the columns are: their numbers are replaced by the mean, and categories by an unknown level",
        part_has(*.count, *.rows, "row")
    )]
    GapsBeyondSample {
        /// The name of the column.
        name: String,
        /// The number of such rows.
        count: usize,
        /// The number of rows of the file.
        rows: usize,
    },
    /// Rows have values that do not occur in the sample that decides what the columns are.
    #[error(
        "{} a value of {name:?} that does not occur in the sample that decides what the columns are; it is treated as an unknown category",
        part_has(*.count, *.rows, "row")
    )]
    ValuesBeyondSample {
        /// The name of the column.
        name: String,
        /// The number of such rows.
        count: usize,
        /// The number of rows of the file.
        rows: usize,
    },
    /// The first line has only numbers and is read as data, but the numbers look like column names.
    #[error(
        "the first line, {line}, is read as a row of data; if it holds the column names, use --no-header=false"
    )]
    NumbersLikeNames {
        /// The line, without the rest if it is long.
        line: String,
    },
    /// The target has very large or very small values.
    #[error("the target {name:?} reaches {magnitude:e}, so consider another unit or its logarithm")]
    ExtremeTarget {
        /// The name of the target.
        name: String,
        /// The largest absolute value.
        magnitude: f64,
    },
}

/// Words about the texts that mark a missing target; empty without any.
fn stand_for_missing(markers: &[String]) -> String {
    match markers {
        [] => String::new(),
        markers => format!(
            "; {} stands for a missing value there, unless --missing-values says otherwise",
            listed(markers)
        ),
    }
}

/// Warnings about a file whose rows are held out or predicted. `levels` are the names of columns in which a missing
/// value is an unknown level.
pub fn warnings_of_new_rows(rows: &Features, levels: &[String]) -> Vec<DataWarning> {
    let total = rows.inputs.rows();
    let filled = rows.filled.iter().map(|(name, count)| {
        let (is_level, name, count, rows) = (levels.contains(name), name.clone(), *count, total);
        match is_level {
            true => DataWarning::UnknownLevels { name, count, rows },
            false => DataWarning::FilledGaps { name, count, rows },
        }
    });
    let unseen = rows
        .unseen
        .iter()
        .map(|(name, count)| DataWarning::UnseenValues {
            name: name.clone(),
            count: *count,
            rows: total,
        });
    let unknown = (!rows.unknown_labels.is_empty()).then(|| DataWarning::UnknownLabels {
        labels: (rows.unknown_labels.iter())
            .map(|(label, _)| label.clone())
            .collect(),
        rows: rows.unknown_labels.iter().map(|(_, count)| count).sum(),
    });
    filled.chain(unseen).chain(unknown).collect()
}

fn target_of(data: &Dataset) -> Option<&ColumnReport> {
    let is_target = |column: &&ColumnReport| column.purpose == Purpose::Target;
    data.columns.iter().find(is_target)
}

/// Warnings about `missing` rows without a target, and about classes that look like missing values.
pub(crate) fn about_targets(data: &Dataset, missing: usize) -> Vec<DataWarning> {
    let mut found = Vec::new();
    let Some(target) = target_of(data) else {
        return found;
    };
    if missing > 0 {
        found.push(DataWarning::RowsWithoutTarget {
            count: missing,
            name: target.name.clone(),
            markers: target.markers.clone(),
        });
    }
    if !target.unusual_labels.is_empty() {
        found.push(DataWarning::UnusualLabels {
            name: target.name.clone(),
            labels: target.unusual_labels.clone(),
        });
    }
    found
}

/// The number of rows that were left out because they lack the target. An interval may lack a lower limit.
fn missing_targets(data: &Dataset) -> usize {
    let missing = target_of(data).map_or(0, |target| target.missing);
    match data.attributes.numbers(Companion::Upper) {
        None => missing,
        Some(_) => {
            let lower = data.targets.iter();
            missing.saturating_sub(lower.filter(|lower| lower.is_infinite()).count())
        }
    }
}

/// The maximum number of constant columns listed individually.
const NAMED: usize = 5;

/// Targets outside these bounds are more likely in the wrong unit than real measurements.
const LARGE: f64 = 1e8;
const SMALL: f64 = 1e-8;

/// Warns if a file has no header and the numbers of its first row count up from column to column, as years or
/// column numbers do, but those of the second row do not.
fn numbers_like_names(data: &Dataset) -> Option<DataWarning> {
    let scales = data.schema.input_scales();
    let numbers_alone = scales.iter().all(|scale| *scale == InputScale::Deviation);
    let is_first = data
        .kept
        .as_ref()
        .is_none_or(|kept| kept.first() == Some(&0));
    if data.schema.named || !numbers_alone || !is_first || data.image.is_some() || data.rows() < 2 {
        return None;
    }
    let row = |row: usize| -> Vec<f64> {
        let inputs = (0..data.columns()).map(|column| data.inputs.get(row, column));
        inputs.chain([data.targets[row]]).collect()
    };
    let counts_up = |row: &[f64]| {
        let is_next = |pair: &[f64]| pair[1] == pair[0] + 1.0;
        row.len() > 2 && row[0].fract() == 0.0 && row.windows(2).all(is_next)
    };
    let (first, second) = (row(0), row(1));
    (counts_up(&first) && !counts_up(&second)).then(|| {
        let shown: Vec<String> = first.iter().take(NAMED).map(f64::to_string).collect();
        let rest = if first.len() > NAMED { ",…" } else { "" };
        DataWarning::NumbersLikeNames {
            line: format!("{}{rest}", shown.join(",")),
        }
    })
}

/// Warns about constant input columns, repeated inputs and how the split treats them, and an
/// extreme scale of the target. `equal` groups the rows of `data` with equal inputs.
pub fn warnings(data: &Dataset, equal: &EqualInputs, split: &Split) -> Vec<DataWarning> {
    let mut found = about_targets(data, missing_targets(data));
    if data.rows() == 0 {
        return found;
    }
    found.extend(numbers_like_names(data));
    let constant: Vec<(usize, f64)> = (0..data.columns())
        .filter(|&column| is_constant(data.inputs.column(column)))
        .map(|column| (column, data.inputs.get(0, column)))
        .collect();
    found.extend(constant_inputs(data, &constant));
    let shared = equal.shared(&split.test, &split.train);
    found.extend(match (shared, equal.repeats()) {
        (0, 0) => None,
        _ if split.test.is_empty() && split.validation.is_empty() => None,
        (0, count) => Some(DataWarning::RepeatedInputs {
            count,
            rows: data.rows(),
        }),
        (count, _) => Some(DataWarning::SharedInputs {
            count,
            tests: split.test.len(),
        }),
    });
    let unseen = unseen_levels(data, &split.train).into_iter();
    found.extend(unseen.filter(|_| !split.train.is_empty()).map(|unseen| {
        DataWarning::UnseenLevel {
            name: unseen.column,
            level: unseen.level,
            count: unseen.rows.len(),
        }
    }));
    let upper = (data.attributes.numbers(Companion::Upper))
        .into_iter()
        .flatten();
    // The limit that an interval lacks is infinite.
    let finite = data
        .targets
        .iter()
        .chain(upper)
        .filter(|own| own.is_finite());
    let magnitude = finite.fold(0.0f64, |largest, target| largest.max(target.abs()));
    found.extend(extreme_target(data.target_name(), magnitude));
    found
}

/// Warnings about inputs that are constant, which are given with their values. Those of categories are not
/// counted.
pub(crate) fn constant_inputs(data: &Dataset, constant: &[(usize, f64)]) -> Vec<DataWarning> {
    let scales = data.schema.input_scales();
    let is_number = |&&(column, _): &&(usize, f64)| scales[column] == InputScale::Deviation;
    let numbers: Vec<&(usize, f64)> = constant.iter().filter(is_number).collect();
    let name = |column: usize| data.input_names()[column].clone();
    match numbers[..] {
        [&(first, _), ..] if numbers.len() > NAMED => vec![DataWarning::ConstantColumns {
            count: numbers.len(),
            columns: data.columns(),
            first: name(first),
        }],
        _ => (numbers.iter())
            .map(|&&(column, value)| DataWarning::ConstantColumn {
                name: name(column),
                value,
            })
            .collect(),
    }
}

/// A warning if the largest absolute value of the target is very large or very small.
pub(crate) fn extreme_target(name: &str, magnitude: f64) -> Option<DataWarning> {
    (!(SMALL..=LARGE).contains(&magnitude)).then(|| DataWarning::ExtremeTarget {
        name: name.to_owned(),
        magnitude,
    })
}
