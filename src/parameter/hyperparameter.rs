//! Reported hyperparameters.

use super::{numbers, tree};
use crate::custom::AnyModule;

/// One reported hyperparameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameter {
    /// Its path, such as `kernel.lengthscale`.
    pub path: String,
    /// Its constrained values.
    pub values: Vec<f64>,
}

/// The [hyperparameters](super::Role::Hyperparameter) of any module, with their constrained values and
/// in the order of its fields: all parameters that are in no [`Part`](super::Part) with another role.
pub fn hyperparameters(module: &(impl AnyModule + ?Sized)) -> Vec<Hyperparameter> {
    tree::hyperparameters(|listing| module.visited(listing))
        .into_iter()
        .map(|found| {
            let values = numbers(found.value());
            Hyperparameter {
                path: found.path,
                values,
            }
        })
        .collect()
}
