//! The kind and the use of every column of a table, as shown to the user.

use serde::{Deserialize, Serialize};

use super::kind::ColumnKind;
use crate::companion::Companion;
use crate::counted::counted;

/// A column of a table, its contents, and its use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnReport {
    /// The name of the column; `x1`, `x2`, … if the source has no names.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
    /// A summary of the values.
    pub values: String,
    /// The number of rows without a value.
    pub missing: usize,
    /// The distinct texts that were treated as missing values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<String>,
    /// The labels that usually mark a missing value but were treated as classes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unusual_labels: Vec<String>,
    /// The use of the column.
    #[serde(rename = "use")]
    pub purpose: Purpose,
}

/// The use of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// The column to predict.
    Target,
    /// The noise of the target.
    Noise,
    /// The number of trials, of which the target counts the successes.
    Trials,
    /// The upper limit of the target, which is the lower one.
    Upper,
    /// The names, the groups or the weights of the rows.
    Kept,
    /// This many inputs of the model.
    Inputs(usize),
    /// This many inputs of the model, some of which describe a place together with another column.
    Place {
        /// The number of inputs. Those of the place belong to the longitude.
        inputs: usize,
        /// The name of the other column.
        with: String,
    },
    /// The user left it out.
    Dropped,
    /// It carries no information about the target, for this reason.
    LeftOut(String),
}

impl From<Companion> for Purpose {
    fn from(companion: Companion) -> Self {
        match companion {
            Companion::Noise | Companion::RowNoise => Self::Noise,
            Companion::Trials => Self::Trials,
            Companion::Upper => Self::Upper,
        }
    }
}

impl std::fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Target => formatter.write_str("target"),
            Self::Noise => formatter.write_str("noise of the target"),
            Self::Trials => formatter.write_str("trials of the target"),
            Self::Upper => formatter.write_str("upper limit of the target"),
            Self::Kept => formatter.write_str("names, groups or weighs the rows"),
            Self::Inputs(count) => formatter.write_str(&counted(*count, "input")),
            Self::Place { inputs: 0, with } => write!(formatter, "a place with {with}"),
            Self::Place { inputs, with } => {
                write!(formatter, "{}, a place with {with}", Self::Inputs(*inputs))
            }
            Self::Dropped => formatter.write_str("left out as requested"),
            Self::LeftOut(reason) => write!(formatter, "left out: {reason}"),
        }
    }
}
