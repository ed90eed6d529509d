//! Rows with equal inputs.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::dataset::Dataset;
use crate::matrix::Matrix;

/// Groups of rows with equal inputs, regardless of their targets.
///
/// A test row with the same inputs as a training row is not a real test. Targets are ignored: if
/// only rows with equal inputs and targets were kept together, a split could train on one of the
/// targets at some inputs and test on the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualInputs {
    /// For every row, the index of the first row with the same inputs.
    first: Vec<usize>,
}

impl EqualInputs {
    /// Groups the rows of `inputs`, `[N, D]`, by exact comparison; 0 and −0 are equal.
    pub fn among(inputs: &Matrix) -> Self {
        let mut seen = HashMap::with_capacity(inputs.rows());
        let first = (0..inputs.rows())
            .map(|row| *seen.entry(RowKey(inputs.row(row))).or_insert(row))
            .collect();
        Self { first }
    }

    /// Groups rows with equal texts, such as those of one patient.
    pub fn of_groups(groups: &[String]) -> Self {
        let mut seen = HashMap::with_capacity(groups.len());
        let first = (groups.iter().enumerate())
            .map(|(row, group)| *seen.entry(group).or_insert(row))
            .collect();
        Self { first }
    }

    /// The number of rows, N.
    pub fn rows(&self) -> usize {
        self.first.len()
    }

    /// The number of rows whose inputs occur in an earlier row.
    pub fn repeats(&self) -> usize {
        let rows = self.first.iter().enumerate();
        rows.filter(|&(row, &first)| row != first).count()
    }

    /// The number of rows in `some` whose inputs occur in one of the rows in `others`.
    pub fn shared(&self, some: &[usize], others: &[usize]) -> usize {
        let groups = self.groups(others);
        let shared = (some.iter()).filter(|&&row| groups[self.first[row]].count > 0);
        shared.count()
    }

    /// The first row with the same inputs as `row`.
    pub(crate) fn first(&self, row: usize) -> usize {
        self.first[row]
    }

    /// For each first row, the group of the rows among `rows` that share its inputs, `[N]`.
    pub(crate) fn groups(&self, rows: &[usize]) -> Vec<Group> {
        let mut groups = vec![Group::default(); self.rows()];
        for &row in rows {
            let group = &mut groups[self.first[row]];
            let lowest = if group.count == 0 { row } else { group.lowest };
            group.lowest = lowest.min(row);
            group.count += 1;
        }
        groups
    }
}

/// A group of rows with equal inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    /// The number of rows.
    pub count: usize,
    /// The lowest row index; zero if there are no rows.
    pub lowest: usize,
}

/// Rows that are all distinct.
impl From<usize> for EqualInputs {
    fn from(rows: usize) -> Self {
        Self {
            first: (0..rows).collect(),
        }
    }
}

/// The rows of a data set.
impl From<&Dataset> for EqualInputs {
    fn from(data: &Dataset) -> Self {
        Self::among(&data.inputs)
    }
}

impl From<&EqualInputs> for EqualInputs {
    fn from(rows: &EqualInputs) -> Self {
        rows.clone()
    }
}

/// A row compared bitwise. Adding zero turns −0 into +0.
struct RowKey<'a>(&'a [f64]);

impl RowKey<'_> {
    fn bits(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|value| (value + 0.0).to_bits())
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
