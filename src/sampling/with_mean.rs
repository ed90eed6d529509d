//! Draws from processes with a mean function.

use burn::tensor::Tensor;

use super::{PathOptions, Paths, SamplePaths};
use crate::{
    kernels::NoFunctionDraws,
    means::Mean,
    parameter::tracked_like,
    process::{Process, WithMean},
};

/// Draws shifted by a mean function.
struct ShiftedPaths<M> {
    paths: Box<dyn Paths>,
    mean: M,
}

impl<P: Process + SamplePaths, M: Mean> SamplePaths for WithMean<P, M> {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        Ok(Box::new(ShiftedPaths {
            paths: self.process().paths(options)?,
            mean: self.mean().clone(),
        }))
    }
}

impl<M: Mean> Paths for ShiftedPaths<M> {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let draws = self.paths.evaluate(x.clone());
        let mean = tracked_like(&x, self.mean.clone());
        mean.add_to_draws(draws, x)
    }
}
