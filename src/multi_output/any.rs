//! Priors and posteriors of several functions, chosen at run time.

use burn::{module::Module, tensor::Tensor};

use super::{Coregionalized, Mixture, SeparateKernels};
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{FunctionPrior, Kernel},
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, hyperparameters},
    variational::{AnyPosterior, EitherProcess, Evaluation, Posterior},
};

/// A shared kernel, or separate kernels.
#[derive(Module, Debug)]
pub enum Kernels<K: Module> {
    /// One kernel that all functions share.
    Shared(K),
    /// One kernel per function.
    Separate(SeparateKernels<K>),
}

impl<K: Kernel> FunctionPrior for Kernels<K> {
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }

    fn mean_variance(&self, x: Tensor<2>) -> Option<f64> {
        match self {
            Self::Shared(kernel) => kernel.mean_variance(x),
            Self::Separate(kernels) => kernels.mean_variance(x),
        }
    }

    fn in_larger_unit(self, decades: i64) -> Self {
        match self {
            Self::Shared(kernel) => Self::Shared(Kernel::in_larger_unit(kernel, decades)),
            Self::Separate(kernels) => Self::Separate(kernels.in_larger_unit(decades)),
        }
    }
}

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
