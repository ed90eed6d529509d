//! Priors and posteriors of several functions, chosen at run time.

use burn::{module::Module, tensor::Tensor};

use super::Coregionalized;
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{FunctionPrior, Kernel, Kernels, SeparateKernels},
    ops::NotPositiveDefinite,
    process::{EitherProcess, Mixture},
    variational::{AnyPosterior, Evaluation, Posterior},
};

/// The functions of a posterior, independent or mixed.
#[derive(Module, Debug)]
pub enum Functions<Q: Module> {
    /// The independent functions themselves.
    Independent(Q),
    /// Mixtures of the functions.
    Coregionalized(Coregionalized<Q>),
}

impl<Q: Module> Functions<Q> {
    /// The posterior of the independent functions.
    pub fn independent(&self) -> &Q {
        match self {
            Self::Independent(posterior) => posterior,
            Self::Coregionalized(posterior) => posterior.latent(),
        }
    }
}

impl<K: FunctionPrior, Q: Posterior<K>> Posterior<K> for Functions<Q> {
    type Process = EitherProcess<Q::Process, Mixture<Q::Process>>;

    fn evaluate(&self, prior: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        match self {
            Self::Independent(posterior) => posterior.evaluate(prior, x),
            Self::Coregionalized(posterior) => posterior.evaluate(prior, x),
        }
    }

    fn condition(&self, prior: &K) -> Result<Self::Process, NotPositiveDefinite> {
        Ok(match self {
            Self::Independent(posterior) => EitherProcess::First(posterior.condition(prior)?),
            Self::Coregionalized(posterior) => EitherProcess::Second(posterior.condition(prior)?),
        })
    }

    fn after_step(self, prior: &K) -> Self {
        match self {
            Self::Independent(posterior) => Self::Independent(posterior.after_step(prior)),
            Self::Coregionalized(posterior) => Self::Coregionalized(posterior.after_step(prior)),
        }
    }

    fn refreshed(self, prior: &K) -> Self {
        match self {
            Self::Independent(posterior) => Self::Independent(posterior.refreshed(prior)),
            Self::Coregionalized(posterior) => Self::Coregionalized(posterior.refreshed(prior)),
        }
    }
}

impl<K: Kernel, I: InducingVariables<K> + SeparateInducing<K>> Posterior<Kernels<K>>
    for AnyPosterior<I>
{
    type Process = EitherProcess<
        <Self as Posterior<K>>::Process,
        <Self as Posterior<SeparateKernels<K>>>::Process,
    >;

    fn evaluate(
        &self,
        kernels: &Kernels<K>,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite> {
        match kernels {
            Kernels::Shared(kernel) => self.evaluate(kernel, x),
            Kernels::Separate(kernels) => self.evaluate(kernels, x),
        }
    }

    fn condition(&self, kernels: &Kernels<K>) -> Result<Self::Process, NotPositiveDefinite> {
        Ok(match kernels {
            Kernels::Shared(kernel) => EitherProcess::First(self.condition(kernel)?),
            Kernels::Separate(kernels) => EitherProcess::Second(self.condition(kernels)?),
        })
    }

    fn after_step(self, kernels: &Kernels<K>) -> Self {
        match kernels {
            Kernels::Shared(kernel) => self.after_step(kernel),
            Kernels::Separate(kernels) => self.after_step(kernels),
        }
    }

    fn refreshed(self, kernels: &Kernels<K>) -> Self {
        match kernels {
            Kernels::Shared(kernel) => self.refreshed(kernel),
            Kernels::Separate(kernels) => self.refreshed(kernels),
        }
    }
}
