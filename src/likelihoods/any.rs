//! Likelihoods chosen at run time.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::{
    Bernoulli, BernoulliLogit, Beta, BetaConfig, Exponential, FixedNoise, Focus, Gamma,
    GammaConfig, Gaussian, GaussianConfig, Heteroskedastic, HeteroskedasticConfig,
    ImpossibleTarget, Likelihood, NegativeBinomial, NegativeBinomialConfig, Ordinal, OrdinalConfig,
    Poisson, Quadrature, RobustMax, RobustMaxConfig, Softmax, SoftmaxConfig, StudentT,
    StudentTConfig, TargetDistribution,
};
use crate::{parameter::ParameterError, process::Marginals};

/// Configuration of any likelihood, as stored in a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "likelihood", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LikelihoodConfig {
    /// See [`Gaussian`].
    Gaussian(GaussianConfig),
    /// See [`FixedNoise`].
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    FixedNoise,
    /// See [`Heteroskedastic`].
    Heteroskedastic(HeteroskedasticConfig),
    /// See [`StudentT`].
    StudentT(StudentTConfig),
    /// See [`Bernoulli`].
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    Bernoulli,
    /// See [`BernoulliLogit`].
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    BernoulliLogit,
    /// See [`Softmax`].
    Softmax(SoftmaxConfig),
    /// See [`RobustMax`].
    RobustMax(RobustMaxConfig),
    /// See [`Ordinal`].
    Ordinal(OrdinalConfig),
    /// See [`Poisson`].
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    Poisson,
    /// See [`NegativeBinomial`].
    NegativeBinomial(NegativeBinomialConfig),
    /// See [`Exponential`].
    #[serde(deserialize_with = "crate::parameter::no_fields")]
    Exponential,
    /// See [`Gamma`].
    Gamma(GammaConfig),
    /// See [`Beta`].
    Beta(BetaConfig),
}

impl From<GaussianConfig> for LikelihoodConfig {
    fn from(config: GaussianConfig) -> Self {
        Self::Gaussian(config)
    }
}

impl From<HeteroskedasticConfig> for LikelihoodConfig {
    fn from(config: HeteroskedasticConfig) -> Self {
        Self::Heteroskedastic(config)
    }
}

impl From<StudentTConfig> for LikelihoodConfig {
    fn from(config: StudentTConfig) -> Self {
        Self::StudentT(config)
    }
}

impl From<SoftmaxConfig> for LikelihoodConfig {
    fn from(config: SoftmaxConfig) -> Self {
        Self::Softmax(config)
    }
}

impl From<RobustMaxConfig> for LikelihoodConfig {
    fn from(config: RobustMaxConfig) -> Self {
        Self::RobustMax(config)
    }
}

impl From<OrdinalConfig> for LikelihoodConfig {
    fn from(config: OrdinalConfig) -> Self {
        Self::Ordinal(config)
    }
}

impl From<NegativeBinomialConfig> for LikelihoodConfig {
    fn from(config: NegativeBinomialConfig) -> Self {
        Self::NegativeBinomial(config)
    }
}

impl From<GammaConfig> for LikelihoodConfig {
    fn from(config: GammaConfig) -> Self {
        Self::Gamma(config)
    }
}

impl From<BetaConfig> for LikelihoodConfig {
    fn from(config: BetaConfig) -> Self {
        Self::Beta(config)
    }
}

impl LikelihoodConfig {
    /// Checks that the noise variance, if the likelihood has one, is positive and finite.
    ///
    /// # Errors
    ///
    /// [`ParameterError::OutOfBounds`].
    pub fn check(&self) -> Result<(), ParameterError> {
        match self {
            Self::Gaussian(config) => config.check(),
            _ => Ok(()),
        }
    }

    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If a value of the configuration is out of range.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> AnyLikelihood {
        match self {
            Self::Gaussian(config) => AnyLikelihood::Gaussian(config.init(options)),
            Self::FixedNoise => AnyLikelihood::FixedNoise(FixedNoise::new()),
            Self::Heteroskedastic(config) => AnyLikelihood::Heteroskedastic(config.init(options)),
            Self::StudentT(config) => AnyLikelihood::StudentT(config.init(options)),
            Self::Bernoulli => AnyLikelihood::Bernoulli(Bernoulli::new()),
            Self::BernoulliLogit => AnyLikelihood::BernoulliLogit(BernoulliLogit::new()),
            Self::Softmax(config) => AnyLikelihood::Softmax(config.init()),
            Self::RobustMax(config) => AnyLikelihood::RobustMax(config.init(options)),
            Self::Ordinal(config) => AnyLikelihood::Ordinal(config.init(options)),
            Self::Poisson => AnyLikelihood::Poisson(Poisson::new()),
            Self::NegativeBinomial(config) => AnyLikelihood::NegativeBinomial(config.init(options)),
            Self::Exponential => AnyLikelihood::Exponential(Exponential::new()),
            Self::Gamma(config) => AnyLikelihood::Gamma(config.init(options)),
            Self::Beta(config) => AnyLikelihood::Beta(config.init(options)),
        }
    }

    /// Checks the targets of a model with this likelihood, `[N, T]`.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If a value of the configuration is out of range, or the number of columns is not a multiple
    /// of the columns per output.
    #[track_caller]
    pub fn check_targets(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        let options = (&targets.device(), targets.dtype());
        self.init(options).check_tensor(targets)
    }
}

/// A likelihood chosen at run time.
#[derive(Module, Debug)]
pub enum AnyLikelihood {
    /// See [`Gaussian`].
    Gaussian(Gaussian),
    /// See [`FixedNoise`].
    FixedNoise(FixedNoise),
    /// See [`Heteroskedastic`].
    Heteroskedastic(Heteroskedastic),
    /// See [`StudentT`].
    StudentT(StudentT),
    /// See [`Bernoulli`].
    Bernoulli(Bernoulli),
    /// See [`BernoulliLogit`].
    BernoulliLogit(BernoulliLogit),
    /// See [`Softmax`].
    Softmax(Softmax),
    /// See [`RobustMax`].
    RobustMax(RobustMax),
    /// See [`Ordinal`].
    Ordinal(Ordinal),
    /// See [`Poisson`].
    Poisson(Poisson),
    /// See [`NegativeBinomial`].
    NegativeBinomial(NegativeBinomial),
    /// See [`Exponential`].
    Exponential(Exponential),
    /// See [`Gamma`].
    Gamma(Gamma),
    /// See [`Beta`].
    Beta(Beta),
}

/// Forwards to the variant's likelihood.
macro_rules! forward {
    ($self:ident, $likelihood:ident => $call:expr) => {
        match $self {
            AnyLikelihood::Gaussian($likelihood) => $call,
            AnyLikelihood::FixedNoise($likelihood) => $call,
            AnyLikelihood::Heteroskedastic($likelihood) => $call,
            AnyLikelihood::StudentT($likelihood) => $call,
            AnyLikelihood::Bernoulli($likelihood) => $call,
            AnyLikelihood::BernoulliLogit($likelihood) => $call,
            AnyLikelihood::Softmax($likelihood) => $call,
            AnyLikelihood::RobustMax($likelihood) => $call,
            AnyLikelihood::Ordinal($likelihood) => $call,
            AnyLikelihood::Poisson($likelihood) => $call,
            AnyLikelihood::NegativeBinomial($likelihood) => $call,
            AnyLikelihood::Exponential($likelihood) => $call,
            AnyLikelihood::Gamma($likelihood) => $call,
            AnyLikelihood::Beta($likelihood) => $call,
        }
    };
}

impl Likelihood for AnyLikelihood {
    fn name(&self) -> &'static str {
        forward!(self, likelihood => likelihood.name())
    }

    fn takes(&self) -> String {
        forward!(self, likelihood => likelihood.takes())
    }

    fn is_possible(&self, column: usize, value: f64) -> bool {
        forward!(self, likelihood => likelihood.is_possible(column, value))
    }

    fn latents_per_output(&self) -> usize {
        forward!(self, likelihood => likelihood.latents_per_output())
    }

    fn columns_per_output(&self) -> usize {
        forward!(self, likelihood => likelihood.columns_per_output())
    }

    fn noise_variance(&self) -> Option<f64> {
        forward!(self, likelihood => likelihood.noise_variance())
    }

    fn in_larger_unit(self, decades: i64) -> Self {
        match self {
            Self::Gaussian(likelihood) => Self::Gaussian(likelihood.in_larger_unit(decades)),
            Self::StudentT(likelihood) => Self::StudentT(likelihood.in_larger_unit(decades)),
            likelihood => likelihood,
        }
    }

    fn classes(&self) -> Option<usize> {
        forward!(self, likelihood => likelihood.classes())
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        forward!(self, likelihood => likelihood.log_density(targets, function))
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        forward!(self, likelihood => likelihood.conditional_moments(function))
    }

    fn sample<R: Rng>(&self, function: Tensor<3>, random: &mut R) -> Tensor<3> {
        forward!(self, likelihood => likelihood.sample(function, random))
    }

    fn check_targets(&self, targets: &[f64], columns: usize) -> Result<(), ImpossibleTarget> {
        forward!(self, likelihood => likelihood.check_targets(targets, columns))
    }

    fn quadrature(&self) -> Quadrature {
        forward!(self, likelihood => likelihood.quadrature())
    }

    fn bend(&self, targets: &Tensor<2>) -> Option<Focus> {
        forward!(self, likelihood => likelihood.bend(targets))
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<Focus> {
        forward!(self, likelihood => likelihood.peak(targets))
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

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        forward!(self, likelihood => likelihood.target_distribution())
    }

    fn class_probabilities(&self, marginals: Marginals) -> Option<Tensor<2>> {
        forward!(self, likelihood => likelihood.class_probabilities(marginals))
    }
}
