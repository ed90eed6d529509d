//! Draws from inverse-free processes.

use burn::tensor::Tensor;

use super::{
    PathOptions, Paths, SamplePaths,
    pathwise::{ConditionedPaths, Draw},
    separate::separate_paths,
};
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{KernelModule, NoFunctionDraws, SeparateKernels},
    variational::InverseFreeProcess,
};

impl<K: KernelModule, I: InducingVariables<K>> SamplePaths for InverseFreeProcess<K, I> {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        Ok(Box::new(self.paths_in_stream(options, 0)?))
    }
}

impl<K: KernelModule, I: InducingVariables<K>> InverseFreeProcess<K, I> {
    /// `f(x) = g(x) + k(x, u)·(v − T(g(Z) + ε))` with `ε ~ N(0, S̃)`, using one of the seed's
    /// random streams. The covariance is `K − K_fu(2T − T(K_uu + S̃)T)K_uf` for every T.
    fn paths_in_stream(
        &self,
        options: PathOptions,
        stream: u64,
    ) -> Result<ConditionedPaths<K, I>, NoFunctionDraws> {
        let mean = self.weights(); // v, [P, M]
        let [_, size] = mean.dims();
        let update = |draw: &mut Draw, values: Tensor<3>| {
            let deviation = self.variances().sqrt().reshape([1, 1, size]);
            let drawn = values + draw.noise() * deviation; // g(Z) + ε, [S, P, M]
            let explained = self.inverse(draw.columns(drawn)).transpose();
            draw.rows(explained).neg() + mean.clone().unsqueeze()
        };
        ConditionedPaths::draw(
            self.prior(),
            self.inducing(),
            &mean,
            (options, stream),
            update,
        )
    }
}

impl<K: KernelModule, I: SeparateInducing<K>> SamplePaths
    for InverseFreeProcess<SeparateKernels<K>, I>
{
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        separate_paths(self.functions(), |function, stream| {
            function.paths_in_stream(options, stream)
        })
    }
}
