//! Errors in data, each described by one sentence.

mod phrases;

use std::io;
use std::path::PathBuf;

use crate::class_order::ClassOrder;
use crate::column_label::ColumnLabel;
use crate::origin::Location;
use crate::split_error::SplitError;
use phrases::{listed, looked_for, suggestion, suggestions, works};

/// An error in a data source, a split or a target.
///
/// Every message is one sentence that says where the problem is and how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The path does not exist.
    #[error("there is no file {}; check the path", path.display())]
    FileMissing {
        /// The given path.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("{} is a directory, not a data file; name the file inside it", path.display())]
    IsDirectory {
        /// The given path.
        path: PathBuf,
    },
    /// The operating system refused to open or read the file.
    #[error("{} cannot be read ({source}); check the file and its permissions", path.display())]
    Unreadable {
        /// The given path.
        path: PathBuf,
        /// The reason given by the operating system.
        source: io::Error,
    },
    /// The name ends in `.gz`, but the contents are not gzip data.
    #[error("{} is not a gzip file although its name ends in .gz; rename it or compress it again", path.display())]
    NotGzip {
        /// The file.
        path: PathBuf,
    },
    /// The compressed data are truncated or their checksum is wrong.
    #[error(
        "{location}: the {format} data are cut off or damaged here; copy or download the file again"
    )]
    Damaged {
        /// The first line that could not be read.
        location: Location,
        /// The compression.
        format: &'static str,
    },
    /// The file is not a complete file of an image format.
    #[error("{} is not a whole {format} file: {reason}; {advice}", path.display())]
    ImageFile {
        /// The file.
        path: PathBuf,
        /// The format: `idx` or `CIFAR-10`.
        format: &'static str,
        /// The problem.
        reason: String,
        /// Advice for the user.
        advice: &'static str,
    },
    /// The file is empty.
    #[error("{} is empty; it must hold rows of numbers, with or without a header line", path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// There is a header, or a schema, but no data.
    #[error("{}: there is a header but no row of data; add rows of numbers", path.display())]
    HeaderOnly {
        /// The file.
        path: PathBuf,
    },
    /// There is only one row, which cannot be split or fitted.
    #[error("{location}: this is the only row of data; at least two rows are needed")]
    OneRow {
        /// The only row.
        location: Location,
    },
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
    /// Rows to test or to validate on have no targets.
    #[error("{source_name}: no row has a value in the target {target:?}, so nothing can be scored")]
    NoTargets {
        /// The file or set.
        source_name: String,
        /// The name of the target.
        target: String,
    },
    /// A field is empty, null, or one of the usual words for a missing value.
    #[error("{location}: {column} has no value; fill it in or remove the row")]
    MissingValue {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
    },
    /// A byte sequence is not UTF-8.
    #[error("{location}: {column} is not UTF-8 text; save the file as UTF-8")]
    NotUtf8 {
        /// The row.
        location: Location,
        /// The column.
        column: ColumnLabel,
    },
    /// No column has the name of the target.
    #[error(
        "{source_name}: there is no column {name:?} to be the {purpose}{}; the columns are {}",
        suggestion(nearest),
        listed(columns)
    )]
    TargetMissing {
        /// The file or set.
        source_name: String,
        /// `target` or `noise`.
        purpose: &'static str,
        /// The given name.
        name: String,
        /// The existing columns.
        columns: Vec<String>,
        /// A column with a similar name.
        nearest: Option<String>,
    },
    /// The target is given by name, but the source has no column names.
    #[error(
        "{source_name}: there is no column {name:?} to be the {purpose}, because the file has no header line; give the {purpose}'s number, 1 to {count}"
    )]
    TargetUnnamed {
        /// The file or set.
        source_name: String,
        /// `target` or `noise`.
        purpose: &'static str,
        /// The given name.
        name: String,
        /// The number of columns.
        count: usize,
    },
    /// No column has the number of the target.
    #[error(
        "{source_name}: column number {number} cannot be the {purpose}, because there are {count} columns; give 1 to {count}, or -1 for the last"
    )]
    TargetNumber {
        /// The file or set.
        source_name: String,
        /// `target` or `noise`.
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
        "{source_name}: there is only one column, which leaves no input beside the target; separate columns by commas, semicolons or tabs"
    )]
    NoInputs {
        /// The file or set.
        source_name: String,
    },
    /// All targets are equal.
    #[error(
        "{source_name}: the target, {column}, is {value} in every row, which leaves nothing to learn; choose another target"
    )]
    ConstantTarget {
        /// The file or set.
        source_name: String,
        /// The target.
        column: ColumnLabel,
        /// The only value of the target.
        value: String,
    },
    /// One column was given for two purposes.
    #[error("{source_name}: {column} cannot be both the target and its noise; give two columns")]
    NoiseIsTarget {
        /// The file or set.
        source_name: String,
        /// The column.
        column: ColumnLabel,
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
    /// A noise value is not a valid standard deviation.
    #[error(
        "{location}: {column} is {value}, but the noise of a target is a positive standard deviation; correct it"
    )]
    NoiseNotPositive {
        /// The row.
        location: Location,
        /// The noise column.
        column: ColumnLabel,
        /// The value.
        value: f64,
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
        "{source_name}: found {found} columns where the model needs {inputs} inputs, or all {whole} columns it was trained on; give one or the other"
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
    /// A file without a header for a model whose inputs have names.
    #[error(
        "{source_name}: there is no header line, so it is unknown which column is which; add a line of names, or use --no-header if the columns are in the order of training"
    )]
    HeaderMissing {
        /// The file.
        source_name: String,
    },
    /// Training data on the standard input.
    #[error(
        "training reads its data more than once, so it cannot take the standard input; write the data to a file"
    )]
    StandardInput,
    /// An option names a column that does not exist.
    #[error(
        "{source_name}: {option} names the column {name:?}, which is not there{}; the columns are {}",
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
        columns: Vec<String>,
        /// A column with a similar name.
        nearest: Option<String>,
    },
    /// A choice of columns for a set of images.
    #[error(
        "{name} holds images, whose pixels are all inputs; leave out --inputs, --drop, --kind, --missing, --time, --id, --group and --time-split"
    )]
    PixelsAreInputs {
        /// The set.
        name: String,
    },
    /// No column is left that could be an input.
    #[error("{source_name}: no column is left as an input: {}; keep one with --kind COLUMN=KIND", left_out.join(", "))]
    NothingLeft {
        /// The file or set.
        source_name: String,
        /// Every column that was left out, with the reason.
        left_out: Vec<String>,
    },
    /// All rows have gaps.
    #[error(
        "{source_name}: every row lacks the target or an input; use --missing indicator, which keeps rows with gaps, or choose another target"
    )]
    NoCompleteRows {
        /// The file or set.
        source_name: String,
    },
    /// A cell is not of the kind that its column had in training.
    #[error("{location}: {column} holds {text:?}, but training had {expected} there; correct it")]
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
    /// The file is not a Parquet file.
    #[error("{} is not a readable Parquet file ({reason}); write it again or give a CSV file", path.display())]
    NotParquet {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The weight of a row is missing or negative.
    #[error(
        "{location}: the weight in {column} is {text:?}, but must be a number that is not negative; correct it or leave the row out"
    )]
    NotAWeight {
        /// The location of the row.
        location: Location,
        /// The column.
        column: ColumnLabel,
        /// The text of the cell.
        text: String,
    },
    /// All weights are zero.
    #[error(
        "{source_name}: all weights in {column} are zero; give some rows a weight, or leave --weights out"
    )]
    NoWeight {
        /// The source.
        source_name: String,
        /// The column.
        column: ColumnLabel,
    },
    /// Only Parquet files are read in blocks.
    #[error(
        "{} is no Parquet file, and only Parquet files are read in blocks while training; convert it, or leave out --stream",
        path.display()
    )]
    NotInBlocks {
        /// The file.
        path: PathBuf,
    },
    /// A column contains nested or binary values.
    #[error(
        "{source_name}: {column} has the type {kind}, which is not read; convert or remove the column"
    )]
    ColumnType {
        /// The file or set.
        source_name: String,
        /// The column.
        column: ColumnLabel,
        /// The type of the column.
        kind: String,
    },
    /// The file is not an Arrow file.
    #[error("{} is not a readable Arrow file ({reason}); write it again or give a CSV file", path.display())]
    NotArrow {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The file is not a workbook.
    #[error("{} is not a readable workbook ({reason}); save it again or give a CSV file", path.display())]
    NotWorkbook {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The file does not hold records in JSON.
    #[error("{} does not hold records in JSON ({reason}); write one record on each line, such as {{\"x\": 1, \"y\": 2}}, or one list of them", path.display())]
    NotRecords {
        /// The file.
        path: PathBuf,
        /// The reason given by the reader.
        reason: String,
    },
    /// The program was compiled without a format.
    #[error("{} cannot be read, because this program was built without the feature `{feature}`; build it with that or give a CSV file", path.display())]
    FormatNotBuilt {
        /// The file.
        path: PathBuf,
        /// The missing feature.
        feature: &'static str,
    },
    /// The test mask belongs to another data set.
    #[error("{}: the test mask has {found} rows where the data have {expected}; use the mask that belongs to the data", path.display())]
    MaskRows {
        /// The mask's file.
        path: PathBuf,
        /// The number of rows of the mask.
        found: usize,
        /// The number of rows of the data.
        expected: usize,
    },
    /// A mask entry is neither 0 nor 1.
    #[error(
        "{location}: column {column} holds {text:?}, but a test mask holds 0 and 1 only; correct it or use --test-fraction instead of --split"
    )]
    MaskValue {
        /// The row.
        location: Location,
        /// The column, from 1.
        column: usize,
        /// The offending text.
        text: String,
    },
    /// The collection does not have the requested split.
    #[error("{source_name}: there is no split {index}; the splits are numbered 0 to {}", count.saturating_sub(1))]
    SplitIndex {
        /// The mask's file.
        source_name: String,
        /// The requested split, from 0.
        index: usize,
        /// The number of splits.
        count: usize,
    },
    /// The data do not come with splits.
    #[error("the data set {name} has no splits of its own; use a test fraction and a seed")]
    NoMask {
        /// The data set.
        name: String,
    },
    /// The test or training part of a split is empty.
    #[error("{source_name}: split {index} leaves no {part} rows; use another split")]
    EmptySplit {
        /// The mask's file.
        source_name: String,
        /// The split, from 0.
        index: usize,
        /// `test` or `training`.
        part: &'static str,
    },
    /// The rows cannot be divided.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A label does not occur in the training data.
    #[error(
        "{location}: the label {label:?} is none of those the model was trained on, {}; correct it",
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
    /// The order of the labels matters but cannot be determined.
    #[error(
        "{source_name}: the labels of {column} do not tell their order; give it, the lowest first, or start from this guess: {}",
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
    /// A label of the data is missing from the order of classes.
    #[error("{location}: the label {label:?} is not in the order {order}; add it to --class-order")]
    LabelNotInOrder {
        /// The row.
        location: Location,
        /// The label.
        label: String,
        /// The order.
        order: ClassOrder,
    },
    /// A label of the order of classes does not occur in the data.
    #[error(
        "{source_name}: {label:?} in the order {order} is none of the labels, {}; take it out of --class-order",
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
    /// There is no data set with this name.
    #[error(
        "there is no data set and no file named {name:?}{}; `datasets list` shows the names that are known",
        suggestions(near)
    )]
    UnknownName {
        /// The given name.
        name: String,
        /// Similar names.
        near: Vec<String>,
    },
    /// The files of a registered set are missing.
    #[error("the data set {name} is not on disk: {}; {how}", looked_for(paths))]
    NotOnDisk {
        /// The set.
        name: String,
        /// The files that were searched for.
        paths: Vec<PathBuf>,
        /// Instructions for getting the files.
        how: String,
    },
    /// The program was compiled without the feature `embedded`.
    #[error("the data set {name} is not in this program; build it with the feature `embedded`")]
    NotEmbedded {
        /// The set.
        name: String,
    },
    /// The description of a synthetic set is invalid.
    #[error(
        "{text:?} does not describe a synthetic set: {reason}; write for example synthetic:sines?n=1000&noise=0.1&seed=1"
    )]
    Synthetic {
        /// The description.
        text: String,
        /// The problem.
        reason: String,
    },
    /// There is not enough memory for a synthetic set.
    #[error("there is no memory for the {rows} rows of {columns} inputs of {name}; ask for fewer")]
    SyntheticSize {
        /// The description.
        name: String,
        /// The number of rows.
        rows: usize,
        /// The number of inputs.
        columns: usize,
    },
}
