//! Draws of functions with separate kernels.

use burn::tensor::Tensor;

use super::{PathOptions, Paths, SamplePaths};
use crate::{
    inducing::SeparateInducing,
    kernels::{KernelModule, NoFunctionDraws},
    process::SeparateProcess,
};

/// Draws of P functions, each from its own process.
struct SeparatePaths<G> {
    functions: Vec<G>,
}

/// Draws each function from its own process, which uses its own random stream.
pub(super) fn separate_paths<P, G: Paths + 'static>(
    functions: Vec<P>,
    draw: impl Fn(P, u64) -> Result<G, NoFunctionDraws>,
) -> Result<Box<dyn Paths>, NoFunctionDraws> {
    let functions = functions.into_iter().zip(0..);
    let functions = functions.map(|(function, stream)| draw(function, stream));
    Ok(Box::new(SeparatePaths {
        functions: functions.collect::<Result<_, _>>()?,
    }))
}

impl<K: KernelModule, I: SeparateInducing<K>> SamplePaths for SeparateProcess<K, I> {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        separate_paths(self.functions(), |function, stream| {
            function.paths_in_stream(options, stream)
        })
    }
}

impl<G: Paths> Paths for SeparatePaths<G> {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let draws = self.functions.iter().map(|paths| paths.evaluate(x.clone()));
        Tensor::cat(draws.collect(), 1)
    }
}
