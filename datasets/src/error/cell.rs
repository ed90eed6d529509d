//! A row, or one value of it, that cannot be used.

use super::phrases::listed;
use crate::{
    class_order::ClassOrder, column_label::ColumnLabel, counted::counted, origin::Location,
};

/// A row, or one value of it, that cannot be used. The message is one sentence that says where the problem is
/// and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CellError {
    /// A row has more or fewer fields than the first line.
    #[error(
        "{location}: found {found} fields where the first line has {expected}; give every line {expected} fields"
    )]
    Ragged {
        /// The row.
        location: Location,
        /// The number of fields in the first line.
        expected: usize,
        /// The number of fields in this row.
        found: usize,
    },
    /// A field contains text instead of a number.
    #[error("{location}: {column} holds {text:?}, which is not a number; {advice}")]
    NotANumber {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
        /// The offending text, shortened if it is long.
        text: String,
        /// Advice for the user.
        advice: &'static str,
    },
    /// A value is NaN, infinite, or too large for 64 bits.
    #[error(
        "{location}: {column} holds {text:?}, which is not a finite number; correct it or remove the row"
    )]
    NotFinite {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
        /// The offending text.
        text: String,
    },
    /// A field is empty, null, or one of the common markers of a missing value.
    #[error("{location}: {column} has no value; fill it in or remove the row")]
    MissingValue {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
    },
    /// A number is none of the codes of levels that a kernel reads from the column.
    #[error(
        "{location}: {name:?} holds {value}, but the kernel has {} there, with the codes 0 to {}; correct it, or give the kernel another number of levels",
        counted(*.levels, "level"),
        levels - 1
    )]
    NotALevel {
        /// The row.
        location: Location,
        /// The name of the column.
        name: String,
        /// The number.
        value: f64,
        /// The number of levels of the kernel.
        levels: usize,
    },
    /// A number is so large that sums of squares would be infinite.
    #[error(
        "{location}: the column {name:?} is {value:e}, which is too large to compute with; use another unit, or correct it"
    )]
    TooLarge {
        /// The row.
        location: Location,
        /// The name of the column.
        name: String,
        /// The value.
        value: f64,
    },
    /// A byte sequence is not UTF-8.
    #[error("{location}: {column} is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
    },
    /// A noise value is not a valid standard deviation.
    #[error(
        "{location}: {column} is {value}, but the noise of a target must be a positive standard deviation; correct it"
    )]
    NoiseNotPositive {
        /// The row.
        location: Location,
        /// The noise column.
        column: ColumnLabel,
        /// The value.
        value: f64,
    },
    /// Known noise besides trained noise is not a standard deviation.
    #[error(
        "{location}: {column} is {value}, but known noise must be a nonnegative standard deviation; correct it or \
         remove the row"
    )]
    NoiseNegative {
        /// The row.
        location: Location,
        /// The noise column.
        column: ColumnLabel,
        /// The value.
        value: f64,
    },
    /// A number of trials is not a positive whole number.
    #[error(
        "{location}: {column} is {value}, but the number of trials must be a whole number of at least 1; correct it or remove the row"
    )]
    TrialsNotCounted {
        /// The row.
        location: Location,
        /// The column of the trials.
        column: ColumnLabel,
        /// The value.
        value: f64,
    },
    /// A number of successes is not a whole number, or there are fewer trials.
    #[error(
        "{location}: {column} is {value}, but {trials} trials have a whole number of successes from 0 to {trials}; correct it or remove the row"
    )]
    SuccessesBeyondTrials {
        /// The row.
        location: Location,
        /// The target column.
        column: ColumnLabel,
        /// The value.
        value: f64,
        /// The number of trials.
        trials: f64,
    },
    /// An upper limit is below the lower one.
    #[error(
        "{location}: {column} is {value}, but the lower limit of the target is {lower}; correct it or remove the row"
    )]
    LimitsReversed {
        /// The row.
        location: Location,
        /// The column of the upper limits.
        column: ColumnLabel,
        /// The upper limit.
        value: f64,
        /// The lower limit.
        lower: f64,
    },
    /// The times of a split are neither numbers nor dates.
    #[error(
        "{source_name}: {column} holds {text:?}, but a split by time needs a number or a date in every row; choose another column"
    )]
    NotATime {
        /// The file or set.
        source_name: String,
        /// The column.
        column: ColumnLabel,
        /// The text of the cell; empty if it has none.
        text: String,
    },
    /// A latitude is not between the poles.
    #[error(
        "{location}: {column} holds {text:?}, but a latitude is between -90 and 90 degrees; correct it or remove the row"
    )]
    NotALatitude {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
        /// The text of the cell.
        text: String,
    },
    /// An exposure is not positive.
    #[error(
        "{location}: {column} holds {text:?}, but an exposure must be a positive number; correct it or remove the row"
    )]
    NotAnExposure {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
        /// The text of the cell.
        text: String,
    },
    /// The kind of a cell differs from that of its column in training.
    #[error("{location}: {column} holds {text:?}, but held {expected} in training; correct it")]
    NotOfKind {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
        /// The text of the cell.
        text: String,
        /// The values that the column takes.
        expected: String,
    },
    /// The weight of a row is missing or negative.
    #[error(
        "{location}: the weight in {column} is {text:?}, but must be a nonnegative number; correct it or remove the row"
    )]
    NotAWeight {
        /// The location of the row.
        location: Location,
        /// The column.
        column: ColumnLabel,
        /// The text of the cell.
        text: String,
    },
    /// A label does not occur in the training data.
    #[error(
        "{location}: the label {label:?} is not one of the labels the model was trained on, {}; correct it",
        listed(classes)
    )]
    UnknownLabel {
        /// The row.
        location: Location,
        /// The label.
        label: String,
        /// The labels of the training data.
        classes: Vec<String>,
    },
    /// A label of the data is missing from the class order.
    #[error("{location}: the label {label:?} is not in the order {order}; add it to --class-order")]
    LabelNotInOrder {
        /// The row.
        location: Location,
        /// The label.
        label: String,
        /// The order.
        order: ClassOrder,
    },
}
