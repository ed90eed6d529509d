//! Draws of functions with separate kernels.

use burn::tensor::Tensor;

use super::{ConditionedPaths, PathOptions, Paths, SamplePaths};
use crate::{
    inducing::{FunctionVariables, SeparateInducing},
    kernels::{Kernel, NoSpectrum},
    process::SeparateProcess,
};

/// Draws of P functions, each from its own process.
#[derive(Clone, Debug)]
pub struct SeparatePaths<K, I> {
    functions: Vec<ConditionedPaths<K, I>>,
}

impl<K, I> SeparatePaths<K, I> {
    /// Collects the draws of the separate functions.
    pub(super) fn new(functions: Vec<ConditionedPaths<K, I>>) -> Self {
        Self { functions }
    }
}

impl<K: Kernel, I: SeparateInducing<K>> SamplePaths for SeparateProcess<K, I>
where
    I::Member: FunctionVariables,
{
    type Paths = SeparatePaths<K, I::Member>;

    fn paths(&self, options: PathOptions) -> Result<Self::Paths, NoSpectrum> {
        let functions = self.functions().into_iter().zip(0..);
        let functions = functions
            // Each function uses its own random stream.
            .map(|(function, stream)| function.paths_in_stream(options, stream));
        Ok(SeparatePaths::new(functions.collect::<Result<_, _>>()?))
    }
}

impl<K, I> Paths for SeparatePaths<K, I>
where
    ConditionedPaths<K, I>: Paths,
{
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let draws = self.functions.iter().map(|paths| paths.evaluate(x.clone()));
        Tensor::cat(draws.collect(), 1)
    }
}
