//! Draws from functions of Gaussian weights.

use burn::tensor::Tensor;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{PathOptions, Paths, SamplePaths, prior::combine};
use crate::{
    kernels::{FeatureMap, NoFunctionDraws, White},
    process::LowRankProcess,
    random::normals,
};

/// Draws of `wᵀφ(x)`.
struct WeightedPaths<F> {
    map: F,
    /// w, [S, P, R]
    weights: Tensor<3>,
}

/// Functions whose values at different inputs have independent parts cannot be drawn.
impl<F: FeatureMap> SamplePaths for LowRankProcess<F> {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        if self.level().is_some() {
            return Err(NoFunctionDraws::of::<White>());
        }
        let mean = self.weights(); // [P, R]
        let [outputs, rank] = mean.dims();
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        let shape = [options.samples, outputs, rank];
        let noise = normals(shape, &mut random, (&mean.device(), mean.dtype()));
        Ok(Box::new(WeightedPaths {
            map: self.map().clone(),
            weights: self.spread().draw(&mean, noise),
        }))
    }
}

impl<F: FeatureMap> Paths for WeightedPaths<F> {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let dtype = x.dtype();
        let features = self.map.features(x).cast(self.weights.dtype());
        combine(self.weights.clone(), features.transpose()).cast(dtype)
    }
}
