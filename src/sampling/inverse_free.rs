//! Draws from inverse-free processes.

use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{ConditionedPaths, PathOptions, Paths, PriorPaths, SamplePaths, SeparatePaths};
use crate::{
    inducing::{FunctionVariables, InducingVariables, SeparateInducing},
    kernels::{Kernel, NoSpectrum, SeparateKernels},
    random::normals,
    variational::InverseFreeProcess,
};

impl<K: Kernel, I: InducingVariables<K> + FunctionVariables> SamplePaths
    for InverseFreeProcess<K, I>
{
    type Paths = ConditionedPaths<K, I>;

    fn paths(&self, options: PathOptions) -> Result<Self::Paths, NoSpectrum> {
        self.paths_in_stream(options, 0)
    }
}

impl<K: Kernel, I: InducingVariables<K> + FunctionVariables> InverseFreeProcess<K, I> {
    /// `f(x) = g(x) + k(x, u)·(v − T(g(Z) + ε))` with `ε ~ N(0, S̃)`, using one of the seed's
    /// random streams. The covariance is `K − K_fu(2T − T(K_uu + S̃)T)K_uf` for every T.
    fn paths_in_stream(
        &self,
        options: PathOptions,
        stream: u64,
    ) -> Result<ConditionedPaths<K, I>, NoSpectrum> {
        let PathOptions {
            samples,
            frequencies,
            seed,
        } = options;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        let (kernel, inducing, weights) = (self.prior(), self.inducing(), self.weights());
        let [outputs, size] = weights.dims();
        let tensors = (&weights.device(), weights.dtype());
        let shape = (samples, outputs);
        let dimensions = inducing.input_dimensions();
        let prior = PriorPaths::new(kernel, dimensions, shape, frequencies, &mut random, tensors)?;

        let deviation = self.variances().sqrt().reshape([1, 1, size]);
        let noise = normals([samples, outputs, size], &mut random, tensors) * deviation;
        let drawn = inducing.of(|x| prior.evaluate(x)) + noise; // g(Z) + ε, [S, P, M]
        let columns = drawn.reshape([samples * outputs, size]).transpose();
        let explained = self.inverse(columns).transpose();
        let explained = explained.reshape([samples, outputs, size]);
        let weights = explained.neg() + weights.unsqueeze();
        Ok(ConditionedPaths::new(
            kernel.clone(),
            inducing.clone(),
            prior,
            weights,
        ))
    }
}

impl<K: Kernel, I: SeparateInducing<K>> SamplePaths for InverseFreeProcess<SeparateKernels<K>, I>
where
    I::Member: FunctionVariables,
{
    type Paths = SeparatePaths<K, I::Member>;

    fn paths(&self, options: PathOptions) -> Result<Self::Paths, NoSpectrum> {
        let functions = self.functions().into_iter().zip(0..);
        let functions =
            functions.map(|(function, stream)| function.paths_in_stream(options, stream));
        Ok(SeparatePaths::new(functions.collect::<Result<_, _>>()?))
    }
}
