//! Draws from conditioned processes by Matheron's rule.

use burn::tensor::Tensor;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{PathOptions, Paths, PriorPaths, SamplePaths, fourier_features::combine};
use crate::{
    inducing::{FunctionVariables, InducingVariables},
    kernels::{Kernel, NoSpectrum},
    process::ConditionedProcess,
    random::normals,
};

/// Draws from a conditioned process by Matheron's rule: a draw from the prior is updated to agree
/// with a draw of the inducing variables, `f(x) = g(x) + k(x, u)·(LLᵀ)⁻¹·(u − g(Z) − ε)`. Random
/// Fourier features approximate g, and the update is exact (J. Wilson, V. Borovitskiy, A. Terenin,
/// P. Mostowsky and M. Deisenroth, *Efficiently Sampling Functions from Gaussian Process
/// Posteriors*, arXiv:2002.09309, eq. 13). ε has the variance that was added to `Cov[u, u]` before
/// the factorization: the jitter, or the noise in exact regression.
#[derive(Clone, Debug)]
pub struct ConditionedPaths<K, I> {
    kernel: K,
    inducing: I,
    prior: PriorPaths,
    /// The weights of the update, `(LLᵀ)⁻¹·(u − g(Z) − ε)`, [S, P, M]
    weights: Tensor<3>,
}

impl<K: Kernel, I: InducingVariables<K> + FunctionVariables> SamplePaths
    for ConditionedProcess<K, I>
{
    type Paths = ConditionedPaths<K, I>;

    fn paths(&self, options: PathOptions) -> Result<Self::Paths, NoSpectrum> {
        self.paths_in_stream(options, 0)
    }
}

impl<K: Kernel, I: InducingVariables<K> + FunctionVariables> ConditionedProcess<K, I> {
    /// [`paths`](SamplePaths::paths), using one of the seed's random streams.
    pub(super) fn paths_in_stream(
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
        let (kernel, inducing, factor) = (self.kernel(), self.inducing(), self.factor());
        let mean = self.whitened_mean(); // [P, M]
        let [outputs, size] = mean.dims();
        let tensors = (&mean.device(), mean.dtype());
        let dimensions = inducing.input_dimensions();
        let shape = (samples, outputs);
        let prior = PriorPaths::new(kernel, dimensions, shape, frequencies, &mut random, tensors)?;

        let lower = factor.lower(); // [M, M]
        let variances = inducing
            .kuu(kernel)
            .mul(Tensor::<2>::eye(size, tensors.0).cast(tensors.1));
        let added = lower.square().sum_dim(1) - variances.sum_dim(1); // [M, 1]
        let deviation = added.clamp_min(0.0).sqrt().reshape([1, 1, size]);
        let noise = normals([samples, outputs, size], &mut random, tensors);
        let drawn = inducing.of(|x| prior.evaluate(x)) + noise * deviation; // g(Z) + ε
        // Whitened, with one column per draw and output.
        let columns = |rows: Tensor<3>| rows.reshape([samples * outputs, size]).transpose();
        let noise = normals([samples, outputs, size], &mut random, tensors);
        let inducing_draw = columns(self.spread().draw(&mean, noise));
        let update = factor.solve_transposed(inducing_draw - factor.solve(columns(drawn)));
        let weights = update.transpose().reshape([samples, outputs, size]);
        Ok(ConditionedPaths::new(
            kernel.clone(),
            inducing.clone(),
            prior,
            weights,
        ))
    }
}

impl<K, I> ConditionedPaths<K, I> {
    /// Adds an update to prior draws: the covariances with the inducing variables times `weights`,
    /// `[S, P, M]`.
    pub(super) fn new(kernel: K, inducing: I, prior: PriorPaths, weights: Tensor<3>) -> Self {
        Self {
            kernel,
            inducing,
            prior,
            weights,
        }
    }
}

impl<K: Kernel, I: InducingVariables<K>> Paths for ConditionedPaths<K, I> {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let prior = self.prior.evaluate(x.clone());
        let (basis, weights) = if x.is_autodiff() {
            let kernel = self.kernel.clone().train();
            let basis = self.inducing.clone().train().kuf(&kernel, x);
            (basis, self.weights.clone().autodiff())
        } else {
            (self.inducing.kuf(&self.kernel, x), self.weights.clone())
        };
        prior + combine(weights, basis)
    }
}
