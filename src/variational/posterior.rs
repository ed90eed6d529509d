//! The interface of posteriors, and posteriors of any type.

use burn::tensor::Tensor;

use super::{Evaluation, WeightSpace};
use crate::{
    custom::{AnyModule, BoxedModule, of_type, of_type_mut},
    inducing::AnyInducing,
    kernels::{Kernels, LowRankKernel},
    ops::NotPositiveDefinite,
    process::{SamplePaths, VariationalGaussian},
};

/// A variational posterior over P functions with zero prior mean.
///
/// The prior consists of the [kernels](Kernels) of the functions, shared or separate. The posterior over the
/// weights of a low-rank kernel has such a kernel for its prior.
pub trait Posterior<K = Kernels>: AnyModule {
    /// The marginals of `q(f)` at `x`, `[N, D]`, and the KL divergence from the prior.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn evaluate(&self, prior: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite>;

    /// The process conditioned on `q(u)`, with everything that does not depend on new inputs
    /// precomputed. It lives on the device without autodiff and shares nothing with `self`.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn condition(&self, prior: &K) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite>;

    /// Updates the state that the posterior keeps between optimizer steps. Training loops call it
    /// after every step; most posteriors have no such state.
    fn after_step(&mut self, _prior: &K) {}

    /// Recomputes the state that the posterior keeps between optimizer steps. Call it before the
    /// first step and after changing parameters from outside; most posteriors have no such state.
    fn synchronize(&mut self, _prior: &K) {}

    /// The sets of inducing variables.
    fn inducing(&self) -> Vec<&AnyInducing> {
        Vec::new()
    }

    /// The Gaussians over the sets of inducing variables. An orthogonally decoupled posterior has
    /// one for its first set only; L-SVGP and the inverse-free posterior have none.
    fn distributions(&self) -> Vec<&VariationalGaussian> {
        Vec::new()
    }
}

/// A posterior of any type.
pub type AnyPosterior<K = Kernels> = BoxedModule<dyn Posterior<K>>;

impl<P: Posterior> From<P> for AnyPosterior {
    fn from(posterior: P) -> Self {
        boxed(posterior)
    }
}

impl<K: LowRankKernel> From<WeightSpace> for AnyPosterior<K> {
    fn from(posterior: WeightSpace) -> Self {
        boxed(posterior)
    }
}

fn boxed<K: 'static, P: Posterior<K>>(posterior: P) -> AnyPosterior<K> {
    BoxedModule::new(
        posterior,
        |module| of_type::<P>(module),
        |module| of_type_mut::<P>(module),
    )
}
