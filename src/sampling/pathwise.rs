//! Draws from conditioned processes by Matheron's rule.

use burn::tensor::{Tensor, TensorCreationOptions};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{PathOptions, Paths, PriorPaths, SamplePaths, prior::combine, separate::paths_of_each};
use crate::{
    inducing::AnyInducing,
    kernels::{Kernels, NoFunctionDraws},
    parameter::tracked_like,
    process::ConditionedProcess,
    random::normals,
};

/// Draws from a conditioned process by Matheron's rule: a draw from the prior is updated to agree
/// with a draw of the inducing variables, `f(x) = g(x) + k(x, u)·(LLᵀ)⁻¹·(u − g(Z) − ε)`. Features
/// approximate g, and the update is exact (J. Wilson, V. Borovitskiy, A. Terenin, P. Mostowsky and
/// M. Deisenroth, *Efficiently Sampling Functions from Gaussian Process Posteriors*,
/// arXiv:2002.09309, eq. 13). ε has the variance that was added to `Cov[u, u]` before
/// the factorization: the jitter, or the noise in exact regression.
#[derive(Clone, Debug)]
pub(super) struct ConditionedPaths {
    kernels: Kernels,
    inducing: AnyInducing,
    prior: PriorPaths,
    /// The weights of the update, `(LLᵀ)⁻¹·(u − g(Z) − ε)`, [S, P, M]
    weights: Tensor<3>,
}

/// The random numbers of draws of inducing variables.
pub(super) struct Draw {
    random: ChaCha8Rng,
    /// S, P and M
    shape: [usize; 3],
    options: TensorCreationOptions,
}

impl Draw {
    /// Standard normals, `[S, P, M]`.
    pub fn noise(&mut self) -> Tensor<3> {
        normals(self.shape, &mut self.random, self.options.clone())
    }

    /// `[S, P, M]` with one column per draw and output.
    pub fn columns(&self, rows: Tensor<3>) -> Tensor<2> {
        let [samples, outputs, size] = self.shape;
        rows.reshape([samples * outputs, size]).transpose()
    }

    /// `[S, P, M]` from one row per draw and output.
    pub fn rows(&self, rows: Tensor<2>) -> Tensor<3> {
        rows.reshape(self.shape)
    }
}

/// Functions with kernels of their own are drawn one by one.
impl SamplePaths for ConditionedProcess {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        paths_of_each(self.functions(), options, paths_of_one)
    }
}

/// Draws from the process of functions that share a kernel and inducing variables.
fn paths_of_one(
    process: &ConditionedProcess,
    options: (PathOptions, u64),
) -> Result<ConditionedPaths, NoFunctionDraws> {
    let (kernels, inducing) = (process.kernels(), process.inducing());
    let factor = process.factor().member(0);
    let mean = process.whitened_mean(); // [P, M]
    let [_, size] = mean.dims();
    let update = |draw: &mut Draw, values: Tensor<3>| {
        let identity = Tensor::<2>::eye(size, &mean.device()).cast(mean.dtype());
        let variances = inducing.kuu(kernels).squeeze_dim::<2>(0).mul(identity);
        let added = factor.lower().square().sum_dim(1) - variances.sum_dim(1); // [M, 1]
        let deviation = added.clamp_min(0.0).sqrt().reshape([1, 1, size]);
        let drawn = values + draw.noise() * deviation; // g(Z) + ε
        let noise = draw.noise();
        // Whitened, with one column per draw and output.
        let inducing_draw = draw.columns(process.spread().draw(&mean, noise));
        let drawn = factor.solve(draw.columns(drawn));
        draw.rows(factor.solve_transposed(inducing_draw - drawn).transpose())
    };
    ConditionedPaths::draw(kernels, inducing, &mean, options, update)
}

impl ConditionedPaths {
    /// Draws functions from the prior and updates them, in one of the seed's random streams.
    /// `update` returns the weights of the covariances with the inducing variables, `[S, P, M]`, for
    /// the values of the prior draws, `g(Z)`. `mean` is `[P, M]`. All functions share a kernel.
    pub(super) fn draw(
        kernels: &Kernels,
        inducing: &AnyInducing,
        mean: &Tensor<2>,
        (options, stream): (PathOptions, u64),
        update: impl FnOnce(&mut Draw, Tensor<3>) -> Tensor<3>,
    ) -> Result<Self, NoFunctionDraws> {
        let inputs = inducing.inputs_of_draws()?;
        let ([_, dimensions], [outputs, size]) = (inputs.dims(), mean.dims());
        let mut random = ChaCha8Rng::seed_from_u64(options.seed);
        random.set_stream(stream);
        let tensors = TensorCreationOptions::from((&mean.device(), mean.dtype()));
        let prior = PriorPaths::new(
            kernels.first(),
            dimensions,
            (options.samples, outputs),
            options.frequencies,
            &mut random,
            tensors.clone(),
        )?;
        let mut draw = Draw {
            random,
            shape: [options.samples, outputs, size],
            options: tensors,
        };
        let values = prior.evaluate(inputs);
        Ok(Self {
            kernels: kernels.clone(),
            inducing: inducing.clone(),
            prior,
            weights: update(&mut draw, values),
        })
    }
}

impl Paths for ConditionedPaths {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let prior = self.prior.evaluate(x.clone());
        let kernels = tracked_like(&x, self.kernels.clone());
        let inducing = tracked_like(&x, self.inducing.clone());
        let kuf = inducing.kuf(&kernels, x).squeeze_dim::<2>(0); // [M, N]
        prior + combine(self.weights.clone(), kuf)
    }
}
