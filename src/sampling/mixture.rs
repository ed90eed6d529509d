//! Draws from mixtures of latent functions.

use burn::tensor::Tensor;

use super::{PathOptions, Paths, SamplePaths};
use crate::{
    kernels::NoFunctionDraws,
    parameter::both_tracked,
    process::{Mixture, mix_draws},
};

/// Draws of `W·g` from draws of g. Draws of different outputs are correlated like the outputs.
struct MixedPaths {
    latent: Box<dyn Paths>,
    /// W, [P, Q]
    mixing: Tensor<2>,
}

impl<G: SamplePaths> SamplePaths for Mixture<G> {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        Ok(Box::new(MixedPaths {
            latent: self.latent().paths(options)?,
            mixing: self.mixing(),
        }))
    }
}

impl Paths for MixedPaths {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let (latent, mixing) = both_tracked(self.latent.evaluate(x), self.mixing.clone());
        mix_draws(latent, mixing)
    }
}
