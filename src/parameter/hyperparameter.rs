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

/// Fields whose parameters are not reported individually: inducing points, actions, the contents of
/// posteriors, the weights of networks and patches, and Fourier features.
const UNREPORTED: [&str; 6] = [
    "inducing",
    "policy",
    "posterior",
    "network",
    "patch_weights",
    "spectrum",
];

/// Whether a parameter is a hyperparameter.
pub(super) fn is_reported(path: &str) -> bool {
    !path.split('.').any(|name| UNREPORTED.contains(&name))
}

/// The hyperparameters of any module, with their constrained values and in the order of its fields.
/// They are all parameters except those in fields named `inducing`, `policy`, `posterior`,
/// `network`, `patch_weights` or `spectrum`.
pub fn hyperparameters(module: &(impl AnyModule + ?Sized)) -> Vec<Hyperparameter> {
    tree::parameters(|listing| module.visited(listing), &is_reported)
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
