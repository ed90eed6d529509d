//! Draws from processes with a mean function.

use burn::tensor::Tensor;

use super::{PathOptions, Paths, SamplePaths};
use crate::{kernels::NoFunctionDraws, means::AnyMean, parameter::tracked_like, process::WithMean};

/// Draws shifted by a mean function.
struct ShiftedPaths {
    paths: Box<dyn Paths>,
    mean: AnyMean,
}

impl<P: SamplePaths> SamplePaths for WithMean<P> {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        Ok(Box::new(ShiftedPaths {
            paths: self.process().paths(options)?,
            mean: self.mean().clone(),
        }))
    }
}

impl Paths for ShiftedPaths {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let draws = self.paths.evaluate(x.clone());
        let mean = tracked_like(&x, self.mean.clone());
        mean.add_to_draws(draws, x)
    }
}
