//! Columns that cannot be used as they are, or as an option asks.

use super::phrases::{listed, suggestion, works};
use crate::{
    class_order::ClassOrder,
    column_label::ColumnLabel,
    counted::{agreeing, counted},
};

/// Columns that cannot be used as they are, or as an option asks. The message is one sentence that says where
/// the problem is and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// No column has the name of the target.
    #[error(
        "{source_name}: there is no {purpose} column {name:?}{}; the columns are {}",
        suggestion(nearest),
        listed(columns)
    )]
    TargetMissing {
        /// The file or set.
        source_name: String,
        /// `target`, `noise` or `trials`.
        purpose: &'static str,
        /// The given name.
        name: String,
        /// The existing columns.
        columns: Box<[String]>,
        /// A column with a similar name.
        nearest: Option<String>,
    },
    /// The target is given by name, but the source has no column names.
    #[error(
        "{source_name}: there is no {purpose} column {name:?}, because the file has no header line; give its number, 1 to {count}"
    )]
    TargetUnnamed {
        /// The file or set.
        source_name: String,
        /// `target`, `noise` or `trials`.
        purpose: &'static str,
        /// The given name.
        name: String,
        /// The number of columns.
        count: usize,
    },
    /// No column has the number of the target.
    #[error(
        "{source_name}: column number {number} cannot be the {purpose}, because there {} {}; give 1 to {count}, or -1 for the last",
        agreeing(*.count, ["is", "are"]),
        counted(*.count, "column")
    )]
    TargetNumber {
        /// The file or set.
        source_name: String,
        /// `target`, `noise` or `trials`.
        purpose: &'static str,
        /// The given number.
        number: i64,
        /// The number of columns.
        count: usize,
    },
    /// Two columns have the same name.
    #[error(
        "{source_name}: columns {first} and {second} are both named {name:?}; rename one of them"
    )]
    DuplicateColumn {
        /// The file or set.
        source_name: String,
        /// The shared name.
        name: String,
        /// The number of the first column, from 1.
        first: usize,
        /// The number of the second column, from 1.
        second: usize,
    },
    /// There is no column other than the target.
    #[error(
        "{0}: there is only one column, so there is no input besides the target; separate columns by commas, semicolons or tabs"
    )]
    NoInputs(String),
    /// All targets are equal.
    #[error(
        "{source_name}: the target, {column}, is {value} in every row, so there is nothing to learn; choose another target"
    )]
    ConstantTarget {
        /// The file or set.
        source_name: String,
        /// The target.
        column: ColumnLabel,
        /// The only value of the target.
        value: String,
    },
    /// The test or validation rows have no targets.
    #[error("{source_name}: no row has a value in the target {target:?}, so nothing can be scored")]
    NoTargets {
        /// The file or set.
        source_name: String,
        /// The name of the target.
        target: String,
    },
    /// One column was given for two purposes.
    #[error("{source_name}: {column} cannot be both the target and its {kind}; give two columns")]
    CompanionIsTarget {
        /// The file or set.
        source_name: String,
        /// The column.
        column: ColumnLabel,
        /// `noise`, `trials` or `upper limit`.
        kind: &'static str,
    },
    /// The target was given for a second purpose.
    #[error(
        "{source_name}: {column} cannot be both the target and the {purpose}; give two columns"
    )]
    TargetIsTaken {
        /// The file or set.
        source_name: String,
        /// The column.
        column: ColumnLabel,
        /// `id` or `group`.
        purpose: &'static str,
    },
    /// A column that is added to the function was given for a second purpose.
    #[error(
        "{source_name}: {column} cannot be both the {purpose} and the target, its noise, trials or upper limit, the id, the group or the weights; give two columns"
    )]
    TermIsTaken {
        /// The file or set.
        source_name: String,
        /// The column.
        column: ColumnLabel,
        /// `offset` or `exposure`.
        purpose: &'static str,
    },
    /// An input column that the model needs is missing from the source.
    #[error(
        "{source_name}: the input {} {} that the model was trained on {} missing{}; add {} or use the data the model was made for",
        if names.len() == 1 { "column" } else { "columns" },
        listed(names),
        if names.len() == 1 { "is" } else { "are" },
        suggestion(nearest),
        if names.len() == 1 { "it" } else { "them" }
    )]
    InputMissing {
        /// The file or set.
        source_name: String,
        /// The missing columns.
        names: Vec<String>,
        /// A column with a name similar to the first.
        nearest: Option<String>,
    },
    /// The number of columns matches neither the inputs nor all columns of the training data.
    #[error(
        "{source_name}: found {} where the model needs {}, or all {whole} columns it was trained on; give one or the other",
        counted(*.found, "column"),
        counted(*.inputs, "input")
    )]
    InputCount {
        /// The file or set.
        source_name: String,
        /// The number of columns.
        found: usize,
        /// The number of columns that are inputs of the model.
        inputs: usize,
        /// The number of columns of the training data.
        whole: usize,
    },
    /// Columns cannot be used as they are.
    #[error("{source_name}: {}; {}", problems.join(", and "), works(options))]
    Columns {
        /// The file or set.
        source_name: String,
        /// The problem of each column.
        problems: Vec<String>,
        /// The options with which the columns can be used.
        options: Vec<String>,
    },
    /// The file has no header, but the model's inputs have names.
    #[error(
        "{0}: there is no header line, so the columns cannot be matched by name; add one, or use --no-header if the columns are in the order of training"
    )]
    HeaderMissing(String),
    /// An option names a column that does not exist.
    #[error(
        "{source_name}: {option} names the column {name:?}, which does not exist{}; the columns are {}",
        suggestion(nearest),
        listed(columns)
    )]
    NoSuchColumn {
        /// The file or set.
        source_name: String,
        /// The option.
        option: &'static str,
        /// The given name.
        name: String,
        /// The existing columns.
        columns: Box<[String]>,
        /// A column with a similar name.
        nearest: Option<String>,
    },
    /// A column contains nested or binary values.
    #[error(
        "{source_name}: {column} has the type {kind}, which cannot be read; convert or remove the column"
    )]
    ColumnType {
        /// The file or set.
        source_name: String,
        /// The column.
        column: ColumnLabel,
        /// The type of the column.
        kind: String,
    },
    /// No row has a value in a column.
    #[error(
        "{source_name}: no row has {value:?} in the column {column:?}; its values are {}",
        listed(values)
    )]
    NoSuchValue {
        /// The file or set.
        source_name: String,
        /// The name of the column.
        column: String,
        /// The value.
        value: String,
        /// The values of the column.
        values: Box<[String]>,
    },
    /// Options for columns were given for a set of images.
    #[error(
        "{0} is a set of images, whose pixels are all inputs; remove --inputs, --drop, --kind, --missing, --time, --id, --group, --time-split, --rows and --by"
    )]
    PixelsAreInputs(String),
    /// No column is left as an input.
    #[error("{source_name}: no column is left as an input: {}; keep one with --kind COLUMN=KIND", left_out.join(", "))]
    NothingLeft {
        /// The file or set.
        source_name: String,
        /// Every column that was left out, with the reason.
        left_out: Vec<String>,
    },
    /// All rows have gaps.
    #[error(
        "{0}: every row lacks the target or an input; use --missing indicator, which keeps rows with gaps, or choose another target"
    )]
    NoCompleteRows(String),
    /// All weights are zero.
    #[error(
        "{source_name}: all weights in {column} are zero; give some rows a positive weight, or remove --weights"
    )]
    NoWeight {
        /// The source.
        source_name: String,
        /// The column.
        column: ColumnLabel,
    },
    /// The order of the labels matters but cannot be determined.
    #[error(
        "{source_name}: the order of the labels of {column} is unknown; give it, lowest first, or start from this guess: {}",
        guess.as_option()
    )]
    OrderUnknown {
        /// The file or set.
        source_name: String,
        /// The target.
        column: ColumnLabel,
        /// The labels in alphabetical order.
        guess: ClassOrder,
    },
    /// A label of the class order does not occur in the data.
    #[error(
        "{source_name}: {label:?} in the order {order} is not one of the labels, {}; remove it from --class-order",
        listed(labels)
    )]
    OrderedLabelMissing {
        /// The file or set.
        source_name: String,
        /// The label.
        label: String,
        /// The order.
        order: ClassOrder,
        /// The labels of the data.
        labels: Vec<String>,
    },
}
