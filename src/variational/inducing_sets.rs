//! The inducing variables of a posterior.

use super::InducingGaussians;
use crate::process::VariationalGaussian;

/// A posterior over sets of inducing variables. Every [`InducingGaussians`] posterior is one.
pub trait InducingSets {
    /// The type of the inducing variables of a set.
    type Inducing;

    /// The sets of inducing variables.
    fn inducing(&self) -> Vec<&Self::Inducing>;

    /// The Gaussians over the sets of inducing variables. An orthogonally decoupled posterior has
    /// one for its first set only; L-SVGP and the inverse-free posterior have none.
    fn distributions(&self) -> Vec<&VariationalGaussian>;
}

impl<P: InducingGaussians> InducingSets for P {
    type Inducing = P::Inducing;

    fn inducing(&self) -> Vec<&P::Inducing> {
        self.sets().into_iter().map(|(set, _)| set).collect()
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        let sets = self.sets().into_iter();
        sets.map(|(_, gaussian)| gaussian).collect()
    }
}
