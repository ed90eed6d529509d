//! Parameters close to their lower bound.

use burn::module::Module;

use super::{numbers, tree};

/// A positive hyperparameter, or degrees of freedom, that training drove close to the lower bound.
#[derive(Clone, Debug, PartialEq)]
pub struct AtFloor {
    /// Its path, such as `likelihood.noise`.
    pub path: String,
    /// Its smallest value.
    pub value: f64,
    /// Its lower bound.
    pub floor: f64,
}

/// The positive hyperparameters of a module whose smallest value is less than twice the lower
/// bound, and degrees of freedom whose excess over 2 is less than twice the smallest.
pub fn at_floor(module: &impl Module) -> Vec<AtFloor> {
    let found = tree::hyperparameters(|listing| module.visit(listing)).into_iter();
    let reached = found.filter_map(|found| {
        let (floor, origin) = found.floor()?;
        let values = numbers(found.value());
        let value = values.into_iter().fold(f64::INFINITY, f64::min);
        (value - origin < 2.0 * (floor - origin)).then_some(AtFloor {
            path: found.path,
            value,
            floor,
        })
    });
    reached.collect()
}
