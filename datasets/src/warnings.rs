//! Warnings about data that can still be used.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::equal_inputs::EqualInputs;
use crate::split::Split;
use crate::standardizer::is_constant;

/// Something a person may want to know before fitting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum DataWarning {
    /// An input column without information.
    ConstantColumn {
        /// Its name.
        name: String,
        /// Its only value.
        value: f64,
    },
    /// More input columns without information than anybody wants to read about one by one.
    ConstantColumns {
        /// How many there are.
        count: usize,
        /// Input columns in all.
        columns: usize,
        /// The name of the first.
        first: String,
    },
    /// Rows with the inputs of an earlier row, all of them on the same side of the split.
    RepeatedInputs {
        /// How many repeat.
        count: usize,
        /// Rows in all.
        rows: usize,
    },
    /// Test rows with the inputs of a training row.
    SharedInputs {
        /// How many there are.
        count: usize,
        /// Test rows in all.
        tests: usize,
    },
    /// A set with only some of its rows on disk.
    PartOfSet {
        /// Rows there are.
        rows: usize,
        /// Rows of the whole set.
        of: usize,
    },
    /// A target whose values are very large or very small.
    ExtremeTarget {
        /// The target's name.
        name: String,
        /// The largest absolute value.
        magnitude: f64,
    },
}

impl fmt::Display for DataWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ConstantColumn { name, value } => write!(
                formatter,
                "the input {name:?} is {value} in every row and tells nothing about the target"
            ),
            Self::ConstantColumns {
                count,
                columns,
                first,
            } => write!(
                formatter,
                "{count} of {columns} inputs, the first of them {first:?}, are the same in every row and tell nothing about the target"
            ),
            Self::RepeatedInputs { count, rows } => write!(
                formatter,
                "{count} of {rows} rows have the inputs of an earlier row; rows with equal inputs are on the same side of the split"
            ),
            Self::SharedInputs { count, tests } => write!(
                formatter,
                "{count} of {tests} test rows of this split have the inputs of a training row, so that scores may be better than on new rows"
            ),
            Self::PartOfSet { rows, of } => write!(
                formatter,
                "{rows} of the set's {of} rows are on disk, so that scores are not those of the whole set"
            ),
            Self::ExtremeTarget { name, magnitude } => write!(
                formatter,
                "the target {name:?} reaches {magnitude:e}, so consider another unit or its logarithm"
            ),
        }
    }
}

/// Constant columns that are named one by one.
const NAMED: usize = 5;

/// Targets outside these bounds are more often a wrong unit than a measurement.
const LARGE: f64 = 1e8;
const SMALL: f64 = 1e-8;

/// Constant input columns, repeated inputs and what the split makes of them, and an extreme scale of
/// the target. `equal` are the rows of `data` with equal inputs.
pub fn warnings(data: &Dataset, equal: &EqualInputs, split: &Split) -> Vec<DataWarning> {
    let mut found = Vec::new();
    if data.rows() == 0 {
        return found;
    }
    let constant: Vec<usize> = (0..data.columns())
        .filter(|&column| is_constant(data.inputs.column(column)))
        .collect();
    match constant[..] {
        [first, ..] if constant.len() > NAMED => found.push(DataWarning::ConstantColumns {
            count: constant.len(),
            columns: data.columns(),
            first: data.input_names()[first].clone(),
        }),
        _ => found.extend(constant.iter().map(|&column| DataWarning::ConstantColumn {
            name: data.input_names()[column].clone(),
            value: data.inputs.get(0, column),
        })),
    }
    let shared = equal.shared(&split.test, &split.train);
    found.extend(match (shared, equal.repeats()) {
        (0, 0) => None,
        (0, count) => Some(DataWarning::RepeatedInputs {
            count,
            rows: data.rows(),
        }),
        (count, _) => Some(DataWarning::SharedInputs {
            count,
            tests: split.test.len(),
        }),
    });
    let magnitude = data
        .targets
        .iter()
        .fold(0.0f64, |largest, target| largest.max(target.abs()));
    if !(SMALL..=LARGE).contains(&magnitude) {
        found.push(DataWarning::ExtremeTarget {
            name: data.target_name().to_owned(),
            magnitude,
        });
    }
    found
}
