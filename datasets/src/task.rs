//! The type of a target.

use serde::Serialize;

/// The type of the target of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// A real number.
    Regression,
    /// One of two classes.
    BinaryClassification,
    /// One of several classes.
    Classification,
}
