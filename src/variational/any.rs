//! Posteriors chosen at run time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::{
    ConditionedProcess, CovarianceShape, Evaluation, Posterior, Unwhitened, VariationalGaussian,
    Whitened,
};
use crate::{
    inducing::InducingVariables,
    kernels::Kernel,
    ops::{Jitter, NotPositiveDefinite},
};

/// Configuration of any posterior, as it is written to a model's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "posterior", rename_all = "kebab-case")]
pub enum PosteriorConfig {
    /// See [`Whitened`].
    Whitened {
        /// Full or diagonal covariance.
        #[serde(default)]
        covariance: CovarianceShape,
    },
    /// See [`Unwhitened`].
    Unwhitened {
        /// Full or diagonal covariance.
        #[serde(default)]
        covariance: CovarianceShape,
    },
}

impl PosteriorConfig {
    /// A posterior equal to the prior (in mean and, for full covariances, in covariance), for
    /// `outputs` functions.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn init<K: Kernel, I: InducingVariables<K>>(
        &self,
        inducing: I,
        kernel: &K,
        outputs: usize,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        let size = inducing.count();
        let standard = |shape| VariationalGaussian::standard(size, outputs, shape, options);
        Ok(match *self {
            Self::Whitened { covariance } => {
                AnyPosterior::Whitened(Whitened::new(inducing, standard(covariance), jitter))
            }
            Self::Unwhitened {
                covariance: CovarianceShape::Full,
            } => AnyPosterior::Unwhitened(Unwhitened::at_prior(inducing, kernel, outputs, jitter)?),
            Self::Unwhitened { covariance } => {
                AnyPosterior::Unwhitened(Unwhitened::new(inducing, standard(covariance), jitter))
            }
        })
    }
}

/// A posterior chosen at run time.
#[derive(Module, Debug)]
pub enum AnyPosterior<I: Module> {
    /// See [`Whitened`].
    Whitened(Whitened<I>),
    /// See [`Unwhitened`].
    Unwhitened(Unwhitened<I>),
}

impl<I: Module> AnyPosterior<I> {
    /// The inducing variables.
    pub fn inducing(&self) -> &I {
        match self {
            Self::Whitened(posterior) => posterior.inducing(),
            Self::Unwhitened(posterior) => posterior.inducing(),
        }
    }
}

impl<K: Kernel, I: InducingVariables<K>> Posterior<K> for AnyPosterior<I> {
    type Process = ConditionedProcess<K, I>;

    fn evaluate(&self, kernel: &K, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        match self {
            Self::Whitened(posterior) => posterior.evaluate(kernel, x),
            Self::Unwhitened(posterior) => posterior.evaluate(kernel, x),
        }
    }

    fn condition(&self, kernel: &K) -> Result<Self::Process, NotPositiveDefinite> {
        match self {
            Self::Whitened(posterior) => posterior.condition(kernel),
            Self::Unwhitened(posterior) => posterior.condition(kernel),
        }
    }

    fn after_step(self, kernel: &K) -> Self {
        match self {
            Self::Whitened(posterior) => Self::Whitened(posterior.after_step(kernel)),
            Self::Unwhitened(posterior) => Self::Unwhitened(posterior.after_step(kernel)),
        }
    }
}
