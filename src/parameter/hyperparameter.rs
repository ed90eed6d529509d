//! Reported hyperparameters.

use burn::module::Module;

use super::{numbers, tree};
use crate::custom::BoxedModule;

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
pub fn hyperparameters(module: &impl Module) -> Vec<Hyperparameter> {
    tree::hyperparameters(module)
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

impl<View: ?Sized> BoxedModule<View> {
    /// The hyperparameters with their constrained values.
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }
}
