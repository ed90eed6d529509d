//! Likelihoods chosen at run time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use serde::{Deserialize, Serialize};

use super::{
    Bernoulli, GaussHermite, Gaussian, GaussianConfig, ImpossibleTarget, Likelihood, Marginals,
};

/// Configuration of any likelihood, as it is written to a model's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "likelihood", rename_all = "kebab-case")]
pub enum LikelihoodConfig {
    /// See [`Gaussian`].
    Gaussian(GaussianConfig),
    /// See [`Bernoulli`].
    Bernoulli,
}

impl From<GaussianConfig> for LikelihoodConfig {
    fn from(config: GaussianConfig) -> Self {
        Self::Gaussian(config)
    }
}

impl LikelihoodConfig {
    /// The likelihood.
    ///
    /// # Panics
    ///
    /// If a positive value is not positive.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> AnyLikelihood {
        match self {
            Self::Gaussian(config) => AnyLikelihood::Gaussian(config.init(options)),
            Self::Bernoulli => AnyLikelihood::Bernoulli(Bernoulli::new()),
        }
    }
}

/// A likelihood chosen at run time.
#[derive(Module, Debug)]
pub enum AnyLikelihood {
    /// See [`Gaussian`].
    Gaussian(Gaussian),
    /// See [`Bernoulli`].
    Bernoulli(Bernoulli),
}

/// Forwards to the likelihood within.
macro_rules! forward {
    ($self:ident, $likelihood:ident => $call:expr) => {
        match $self {
            AnyLikelihood::Gaussian($likelihood) => $call,
            AnyLikelihood::Bernoulli($likelihood) => $call,
        }
    };
}

impl Likelihood for AnyLikelihood {
    fn log_density<const D: usize>(&self, targets: Tensor<D>, function: Tensor<D>) -> Tensor<D> {
        forward!(self, likelihood => likelihood.log_density(targets, function))
    }

    fn conditional_moments<const D: usize>(&self, function: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
        forward!(self, likelihood => likelihood.conditional_moments(function))
    }

    fn check_targets(&self, targets: &[f64]) -> Result<(), ImpossibleTarget> {
        forward!(self, likelihood => likelihood.check_targets(targets))
    }

    fn quadrature(&self) -> GaussHermite {
        forward!(self, likelihood => likelihood.quadrature())
    }

    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        forward!(self, likelihood => likelihood.expected_log_density(targets, marginals))
    }

    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        forward!(self, likelihood => likelihood.log_predictive_density(targets, marginals))
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        forward!(self, likelihood => likelihood.predict(marginals))
    }
}
