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
    inducing::{InducingVariables, SeparateInducing},
    kernels::Kernel,
    multi_output::SeparateKernels,
    ops::{Jitter, NotPositiveDefinite, cholesky},
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
        match *self {
            Self::Unwhitened {
                covariance: CovarianceShape::Full,
            } => {
                let posterior = Unwhitened::at_prior(inducing, kernel, outputs, jitter)?;
                Ok(AnyPosterior::Unwhitened(posterior))
            }
            _ => Ok(self.standard(inducing, size, outputs, jitter, options)),
        }
    }

    /// As [`init`](Self::init), for functions with kernels of their own.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn init_separate<K: Kernel, I: SeparateInducing<K>>(
        &self,
        inducing: I,
        kernels: &SeparateKernels<K>,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyPosterior<I>, NotPositiveDefinite> {
        let (size, outputs) = (inducing.count(), kernels.outputs());
        match *self {
            Self::Unwhitened {
                covariance: CovarianceShape::Full,
            } => {
                let scale = cholesky(inducing.kuu(kernels).detach(), jitter)?.lower();
                let mean = Tensor::zeros([outputs, size], (&scale.device(), scale.dtype()));
                let distribution = VariationalGaussian::full(mean, scale);
                let posterior = Unwhitened::new(inducing, distribution, jitter);
                Ok(AnyPosterior::Unwhitened(posterior))
            }
            _ => Ok(self.standard(inducing, size, outputs, jitter, options)),
        }
    }

    /// A posterior with standard normals.
    fn standard<I: Module>(
        &self,
        inducing: I,
        size: usize,
        outputs: usize,
        jitter: Jitter,
        options: impl Into<TensorCreationOptions>,
    ) -> AnyPosterior<I> {
        let normals = |shape| VariationalGaussian::standard(size, outputs, shape, options);
        match *self {
            Self::Whitened { covariance } => {
                AnyPosterior::Whitened(Whitened::new(inducing, normals(covariance), jitter))
            }
            Self::Unwhitened { covariance } => {
                AnyPosterior::Unwhitened(Unwhitened::new(inducing, normals(covariance), jitter))
            }
        }
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
