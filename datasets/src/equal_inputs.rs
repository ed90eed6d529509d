//! Rows that repeat the inputs of other rows.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use crate::dataset::Dataset;
use crate::matrix::Matrix;

/// Which rows have equal inputs, whatever their targets.
///
/// A model that has seen the target at some inputs is not tested by another row with the same
/// inputs. Targets do not count: if only rows that are equal in both were kept together, a split
/// could train on one of the targets at some inputs and test on the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualInputs {
    /// For every row, the first row with the same inputs.
    first: Vec<usize>,
}

impl EqualInputs {
    /// The rows of `inputs`, `[N, D]`, compared exactly; 0 and −0 are equal.
    pub fn among(inputs: &Matrix) -> Self {
        let mut seen = HashMap::with_capacity(inputs.rows());
        let first = (0..inputs.rows())
            .map(|row| *seen.entry(RowKey(inputs.row(row))).or_insert(row))
            .collect();
        Self { first }
    }

    /// Number of rows, N.
    pub fn rows(&self) -> usize {
        self.first.len()
    }

    /// How many rows have the inputs of an earlier row.
    pub fn repeats(&self) -> usize {
        let rows = self.first.iter().enumerate();
        rows.filter(|&(row, &first)| row != first).count()
    }

    /// How many of the rows `some` have the inputs of one of the rows `others`.
    pub fn shared(&self, some: &[usize], others: &[usize]) -> usize {
        let groups = self.groups(others);
        let shared = (some.iter()).filter(|&&row| groups[self.first[row]].count > 0);
        shared.count()
    }

    /// The first row with the inputs of `row`.
    pub(crate) fn first(&self, row: usize) -> usize {
        self.first[row]
    }

    /// What `rows` have of the inputs of each row that is the first with its inputs, `[N]`.
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

/// Some rows with equal inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Group {
    /// How many there are.
    pub count: usize,
    /// The lowest of their numbers; zero if there are none.
    pub lowest: usize,
}

/// Rows that are all different.
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

/// A row compared by its bits; adding 0 makes the two zeros one.
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
