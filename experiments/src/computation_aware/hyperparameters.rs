//! Hyperparameters of a trained model by path.

use burn_gp_core::parameter::Hyperparameter;

/// The values of the hyperparameter at `path`; empty if there is none.
pub(super) fn values_at<'a>(hyperparameters: &'a [Hyperparameter], path: &str) -> &'a [f64] {
    let found = hyperparameters.iter().find(|found| found.path == path);
    found.map_or(&[], |found| &found.values)
}

/// The first value of the hyperparameter at `path`; NaN if there is none.
pub(super) fn value_at(hyperparameters: &[Hyperparameter], path: &str) -> f64 {
    let values = values_at(hyperparameters, path);
    values.first().copied().unwrap_or(f64::NAN)
}
