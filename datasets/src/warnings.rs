//! What is allowed in data and still worth a word.

use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
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
    /// Rows that repeat an earlier row, inputs and target.
    DuplicateRows {
        /// How many repeat.
        count: usize,
        /// Rows in all.
        rows: usize,
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
            Self::DuplicateRows { count, rows } => write!(
                formatter,
                "{count} of {rows} rows repeat an earlier row, so that training and test rows may overlap"
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

/// Constant input columns, repeated rows, and an extreme scale of the target.
pub fn warnings(data: &Dataset) -> Vec<DataWarning> {
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
    let count = duplicates(data);
    if count > 0 {
        found.push(DataWarning::DuplicateRows {
            count,
            rows: data.rows(),
        });
    }
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

/// A row compared by its bits; adding 0 makes the two zeros one.
struct RowKey<'a>(&'a [f64], f64);

impl RowKey<'_> {
    fn bits(&self) -> impl Iterator<Item = u64> + '_ {
        let values = self.0.iter().chain([&self.1]);
        values.map(|value| (value + 0.0).to_bits())
    }
}

impl PartialEq for RowKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bits().eq(other.bits())
    }
}

impl Eq for RowKey<'_> {}

impl Hash for RowKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().for_each(|bits| state.write_u64(bits));
    }
}

fn duplicates(data: &Dataset) -> usize {
    let mut seen = HashSet::with_capacity(data.rows());
    (0..data.rows())
        .filter(|&row| !seen.insert(RowKey(data.inputs.row(row), data.targets[row])))
        .count()
}
