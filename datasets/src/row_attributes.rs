//! What a source says about its rows besides their inputs and targets.

use crate::columns::Companion;

/// The values of columns with a role of their own, `[N]` each; `None` if the source has no such column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowAttributes {
    /// The standard deviation of each target's noise.
    pub noise: Option<Vec<f64>>,
    /// The number of trials of each target, which counts the successes.
    pub trials: Option<Vec<f64>>,
    /// The upper limit of each target, which is the lower limit: infinite if there is none, NaN where the target is
    /// missing.
    pub upper: Option<Vec<f64>>,
    /// The weights of the rows in training, not negative.
    pub weights: Option<Vec<f64>>,
    /// The times, in days if they are dates.
    pub times: Option<Vec<f64>>,
    /// The names of the rows.
    pub ids: Option<Vec<String>>,
    /// The groups of the rows, which a split keeps together.
    pub groups: Option<Vec<String>>,
}

impl RowAttributes {
    /// The values of the column that says more about each target.
    pub fn companion(&self, kind: Companion) -> Option<&[f64]> {
        match kind {
            Companion::Noise => self.noise.as_deref(),
            Companion::Trials => self.trials.as_deref(),
            Companion::Upper => self.upper.as_deref(),
        }
    }

    /// The attributes of the rows with the given `indices`, in that order.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn select(&self, indices: &[usize]) -> Self {
        Self {
            noise: selected(&self.noise, indices),
            trials: selected(&self.trials, indices),
            upper: selected(&self.upper, indices),
            weights: selected(&self.weights, indices),
            times: selected(&self.times, indices),
            ids: selected(&self.ids, indices),
            groups: selected(&self.groups, indices),
        }
    }
}

fn selected<T: Clone>(values: &Option<Vec<T>>, indices: &[usize]) -> Option<Vec<T>> {
    let values = values.as_ref()?;
    Some(indices.iter().map(|&row| values[row].clone()).collect())
}
