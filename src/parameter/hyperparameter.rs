//! Hyperparameters as they are reported.

use burn::module::Module;

use super::{numbers, tree};

/// One reported hyperparameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameter {
    /// Its path, such as `kernel.lengthscale`.
    pub path: String,
    /// Its constrained values.
    pub values: Vec<f64>,
}

/// Fields whose parameters nobody reads one by one: inducing points, actions, what the posterior is made
/// of, the weights of networks and of patches, Fourier features.
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

/// The hyperparameters of any module, in the units people read and in the order of its fields: all
/// its parameters but those in fields named `inducing`, `policy`, `posterior`, `network`, `patch_weights`
/// or `spectrum`.
pub fn hyperparameters(module: &impl Module) -> Vec<Hyperparameter> {
    tree::parameters(module, &is_reported)
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
