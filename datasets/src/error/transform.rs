//! Transformations that cannot be applied.

use super::phrases::suggestion;
use crate::{origin::Location, transform::TransformName};

/// A reason why a column cannot be transformed. The message is one sentence that says how to fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// There is no input and no target of this name.
    #[error(
        "--transform {column}={transform}: no number among the inputs, and no target, has this name{}; correct it",
        suggestion(nearest)
    )]
    NoColumn {
        /// The name.
        column: String,
        /// The transformation.
        transform: TransformName,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// A column has two transformations.
    #[error("--transform gives two transformations of {column:?}; keep one")]
    Twice {
        /// The name.
        column: String,
    },
    /// A quantile transformation of the target.
    #[error(
        "--transform {column}=quantile is for inputs, because the density of a target would follow the gaps between \
         rows; for the target, use log, box-cox or yeo-johnson"
    )]
    QuantilesOfTarget {
        /// The name of the target.
        column: String,
    },
    /// Another likelihood than the Gaussian.
    #[error(
        "--transform {column}={transform} of the target needs the likelihood gaussian, but it is {likelihood}; remove one of them"
    )]
    Likelihood {
        /// The name of the target.
        column: String,
        /// The transformation.
        transform: TransformName,
        /// The likelihood.
        likelihood: &'static str,
    },
    /// The rows are read during training, or all inputs have one scale.
    #[error("--transform does not apply to {what}; transform the columns in the file")]
    Unsuitable {
        /// What it does not apply to.
        what: &'static str,
    },
    /// A value without a transformed value.
    #[error(
        "{location}: {column:?} is {value}, but {transform} takes positive numbers; correct it, or use --transform {column}=yeo-johnson"
    )]
    Value {
        /// The row.
        location: Location,
        /// The name of the column.
        column: String,
        /// The value.
        value: f64,
        /// The transformation.
        transform: TransformName,
    },
}
