//! What a source says about its rows besides their inputs and targets.

use std::collections::BTreeMap;

use crate::row_role::RowRole;

/// The values of columns with a role of their own, `[N]` each.
///
/// ```
/// use burn_gp_datasets::{Companion, RowAttributes, RowRole};
///
/// let mut attributes = RowAttributes::default();
/// attributes.insert(Companion::Noise, vec![0.5, 0.25]);
/// assert_eq!(attributes.select(&[1]).numbers(Companion::Noise), Some(&[0.25][..]));
/// assert_eq!(attributes.numbers(RowRole::Weights), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowAttributes {
    numbers: BTreeMap<RowRole, Vec<f64>>,
    texts: BTreeMap<RowRole, Vec<String>>,
}

impl RowAttributes {
    /// The numbers of a role; `None` if the source has no such column.
    ///
    /// An upper limit that is not there is infinite, and NaN where the target is missing.
    pub fn numbers(&self, role: impl Into<RowRole>) -> Option<&[f64]> {
        self.numbers.get(&role.into()).map(Vec::as_slice)
    }

    /// The texts of a role; `None` if the source has no such column.
    pub fn texts(&self, role: RowRole) -> Option<&[String]> {
        self.texts.get(&role).map(Vec::as_slice)
    }

    /// Adds the numbers of a role.
    pub fn insert(&mut self, role: impl Into<RowRole>, numbers: Vec<f64>) {
        self.numbers.insert(role.into(), numbers);
    }

    /// Adds the texts of a role.
    pub fn insert_texts(&mut self, role: RowRole, texts: Vec<String>) {
        self.texts.insert(role, texts);
    }

    /// The attributes of the rows with the given `indices`, in that order.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn select(&self, indices: &[usize]) -> Self {
        Self {
            numbers: selected(&self.numbers, indices),
            texts: selected(&self.texts, indices),
        }
    }
}

fn selected<T: Clone>(
    all: &BTreeMap<RowRole, Vec<T>>,
    indices: &[usize],
) -> BTreeMap<RowRole, Vec<T>> {
    let own = |values: &Vec<T>| indices.iter().map(|&row| values[row].clone()).collect();
    all.iter()
        .map(|(&role, values)| (role, own(values)))
        .collect()
}
