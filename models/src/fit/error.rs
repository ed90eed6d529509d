//! Errors of fitting, predicting, saving and loading.

use burn_gp_core::{
    inference::ConditionError, likelihoods::ImpossibleTarget, ops::NotPositiveDefinite,
    transforms::TransformName,
};

use crate::{ImpossibleCode, InitError, PredictionError, SavedModelError, training::TrainingError};

/// The reason why a model cannot be fitted, predict, or be saved and loaded.
///
/// An impossible target is always [`Target`](Self::Target), and a covariance that cannot be factored
/// outside training is always [`Factorization`](Self::Factorization), no matter which call finds it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no rows or no columns.
    #[error("the {what} are empty")]
    Empty {
        /// `inputs` or `targets`.
        what: &'static str,
    },
    /// The rows on the CPU differ in length.
    #[error(
        "the rows of the {what} differ in length: row {row} has length {found}, the first row {expected}"
    )]
    Ragged {
        /// `inputs` or `targets`.
        what: &'static str,
        /// The zero-based row.
        row: usize,
        /// Its length.
        found: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// The numbers of rows differ.
    #[error("the number of rows is {inputs} for inputs, but {targets} for targets")]
    Rows {
        /// The number of rows of inputs.
        inputs: usize,
        /// The number of rows of targets.
        targets: usize,
    },
    /// An input is NaN or infinite.
    #[error("input {value} in row {row}, column {column} is not a finite number")]
    NotFinite {
        /// The zero-based row.
        row: usize,
        /// The zero-based column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// An input is no code of a level of the kernel.
    #[error(transparent)]
    Code(#[from] ImpossibleCode),
    /// The model was trained on inputs with another number of columns.
    #[error("the number of input columns is {found}; the model was trained with {expected}")]
    InputColumns {
        /// The number of columns found.
        found: usize,
        /// The number of columns of the training inputs, D.
        expected: usize,
    },
    /// The standard deviations of the errors of inputs match neither the inputs nor the rows.
    #[error(
        "the standard deviations of the errors of inputs have the shape {found:?}; expected one for each of {dimensions} \
         inputs, or the shape [{rows}, {dimensions}]"
    )]
    InputErrorShape {
        /// The shape found.
        found: [usize; 2],
        /// The number of training rows, N.
        rows: usize,
        /// The number of inputs, D.
        dimensions: usize,
    },
    /// There is not one weight for each row.
    #[error(
        "the number of weights of rows is {found}; expected one for each of {rows} training rows"
    )]
    RowWeights {
        /// The number of weights found.
        found: usize,
        /// The number of training rows, N.
        rows: usize,
    },
    /// There is not one noise variance for each row.
    #[error(
        "the number of noise variances of rows is {found}; expected one for each of {rows} training rows"
    )]
    RowNoise {
        /// The number of variances found.
        found: usize,
        /// The number of training rows, N.
        rows: usize,
    },
    /// The model takes another number of target columns.
    #[error("the number of target columns is {found}; this model takes {expected}")]
    TargetColumns {
        /// The number of columns found.
        found: usize,
        /// The possible numbers of columns.
        expected: String,
    },
    /// All targets of an output are missing.
    #[error("target column {column}, counted from zero, has no values")]
    NoTargets {
        /// The zero-based column.
        column: usize,
    },
    /// The model neither keeps its data, nor has a posterior that further data update.
    #[error("this model takes no further rows after training; train it again on all rows")]
    NoFurtherData,
    /// The model has no closed form of predictions without a row.
    #[error(
        "jackknife+ intervals need exact regression with one output; use conformal::split_quantile on rows that the \
         model has not seen"
    )]
    NoJackknife,
    /// The model does not keep its rows, or cannot be without one of them.
    #[error("rows cannot be removed from this model; train it again on those that remain")]
    NoRows,
    /// All rows would be removed.
    #[error("no training row would remain")]
    NoRowsLeft,
    /// The likelihood does not accept a target.
    #[error(transparent)]
    Target(ImpossibleTarget),
    /// A target has no transformed value.
    #[error(
        "target {value} in row {row}, column {column} cannot be transformed by {transform}, {}",
        reason_of(*.transform, *.value)
    )]
    Untransformable {
        /// The zero-based row.
        row: usize,
        /// The zero-based column.
        column: usize,
        /// The value found.
        value: f64,
        /// The transformation.
        transform: TransformName,
    },
    /// [`Fit::transform_targets`](crate::Fit::transform_targets) does not apply to the likelihood.
    #[error("transform_targets({transform}) does not apply: {reason}")]
    TransformOption {
        /// The transformation.
        transform: TransformName,
        /// The reason.
        reason: &'static str,
    },
    /// An option of [`Fit`](crate::Fit) does not apply to the model or the likelihood.
    #[error("{option} has no effect: {reason}")]
    Unused {
        /// The method of `Fit`.
        option: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// A number is out of its range.
    #[error("{name} is {value}; it must {range}")]
    OutOfRange {
        /// The name of the number.
        name: &'static str,
        /// The value.
        value: f64,
        /// The possible values.
        range: &'static str,
    },
    /// A value of the configuration is out of range.
    #[error("invalid configuration: {0}")]
    Config(String),
    /// The model cannot be initialized from the data.
    #[error(transparent)]
    Init(InitError),
    /// Training stopped.
    #[error(transparent)]
    Training(TrainingError),
    /// A covariance matrix cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
    /// Unordered labels have no quantiles.
    #[error("unordered labels have no quantiles; use their probabilities")]
    NoQuantiles,
    /// A file cannot be written or read.
    #[error(transparent)]
    Files(#[from] SavedModelError),
}

/// Why a transformation does not take a value.
fn reason_of(transform: TransformName, value: f64) -> &'static str {
    match transform.takes(value) {
        true => "because the result is not a finite number",
        false => "which takes positive numbers; try yeo-johnson",
    }
}

impl From<ImpossibleTarget> for Error {
    fn from(impossible: ImpossibleTarget) -> Self {
        Self::Target(impossible)
    }
}

impl From<InitError> for Error {
    fn from(error: InitError) -> Self {
        match error {
            InitError::Target(impossible) => Self::Target(impossible),
            InitError::Factorization(error) => Self::Factorization(error),
            other => Self::Init(other),
        }
    }
}

impl From<TrainingError> for Error {
    fn from(error: TrainingError) -> Self {
        match error {
            TrainingError::Target(impossible) => Self::Target(impossible),
            other => Self::Training(other),
        }
    }
}

impl From<ConditionError> for Error {
    fn from(error: ConditionError) -> Self {
        match error {
            ConditionError::Input { row, column, value } => Self::NotFinite { row, column, value },
            ConditionError::Target(impossible) => Self::Target(impossible),
            ConditionError::Factorization(error) => Self::Factorization(error),
        }
    }
}

impl From<PredictionError> for Error {
    fn from(error: PredictionError) -> Self {
        match error {
            PredictionError::Target(impossible) => Self::Target(impossible),
            PredictionError::Input { row, column, value } => Self::NotFinite { row, column, value },
            PredictionError::Factorization(error) => Self::Factorization(error),
        }
    }
}
