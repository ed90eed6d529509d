//! Priors and posteriors of several functions, chosen at run time.

use burn::{module::Module, tensor::Tensor};

use super::Coregionalized;
use crate::{
    inducing::{InducingVariables, SeparateInducing},
    kernels::{FunctionPrior, KernelModule, Kernels},
    ops::NotPositiveDefinite,
    process::DrawableProcess,
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

impl<K, Q> Posterior<K> for Functions<Q>
where
    K: FunctionPrior,
    Q: Posterior<K, Process: DrawableProcess + 'static>,
{
    type Process = Box<dyn DrawableProcess>;

    fn evaluate(&self, prior: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        match self {
            Self::Independent(posterior) => posterior.evaluate(prior, x),
            Self::Coregionalized(posterior) => posterior.evaluate(prior, x),
        }
    }

    fn condition(&self, prior: &K) -> Result<Self::Process, NotPositiveDefinite> {
        Ok(match self {
            Self::Independent(posterior) => Box::new(posterior.condition(prior)?),
            Self::Coregionalized(posterior) => Box::new(posterior.condition(prior)?),
        })
    }

    fn after_step(self, prior: &K) -> Self {
        match self {
            Self::Independent(posterior) => Self::Independent(posterior.after_step(prior)),
            Self::Coregionalized(posterior) => Self::Coregionalized(posterior.after_step(prior)),
        }
    }

    fn synchronized(self, prior: &K) -> Self {
        match self {
            Self::Independent(posterior) => Self::Independent(posterior.synchronized(prior)),
            Self::Coregionalized(posterior) => Self::Coregionalized(posterior.synchronized(prior)),
        }
    }
}

impl<K: KernelModule, I: InducingVariables<K> + SeparateInducing<K>> Posterior<Kernels<K>>
    for AnyPosterior<I>
{
    type Process = Box<dyn DrawableProcess>;

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
        match kernels {
            Kernels::Shared(kernel) => self.condition(kernel),
            Kernels::Separate(kernels) => self.condition(kernels),
        }
    }

    fn after_step(self, kernels: &Kernels<K>) -> Self {
        match kernels {
            Kernels::Shared(kernel) => self.after_step(kernel),
            Kernels::Separate(kernels) => self.after_step(kernels),
        }
    }

    fn synchronized(self, kernels: &Kernels<K>) -> Self {
        match kernels {
            Kernels::Shared(kernel) => self.synchronized(kernel),
            Kernels::Separate(kernels) => self.synchronized(kernels),
        }
    }
}
