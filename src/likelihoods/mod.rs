//! Likelihoods `p(y | f)`.
//!
//! A likelihood is a product over P outputs. Each output has one or several latent functions and one
//! or several target columns, as its [`LikelihoodDescription`] says:
//!
//! | likelihood | latent functions per output | columns per output | link |
//! |---|---|---|---|
//! | [`Gaussian`], [`StudentT`] | 1 | 1 | mean `f` |
//! | [`Censored`] | 1 | 1 | mean `f` before the limits |
//! | [`IntervalCensored`] | 1 | 2: lower limit, upper limit | mean `f` |
//! | [`FixedNoise`] | 1 | 2: value, noise variance | mean `f` |
//! | [`AsymmetricLaplace`] | 1 | 1 | quantile τ `f` |
//! | [`Heteroskedastic`] | 2: mean, log noise | 1 | mean `f`, noise variance `s·exp(g)` |
//! | [`Bernoulli`] | 1 | 1: label 0 or 1 | probability `Φ(f)` |
//! | [`BernoulliLogit`] | 1 | 1: label 0 or 1 | probability `1/(1 + e^{−f})` |
//! | [`Softmax`], [`RobustMax`], [`Dirichlet`] | C classes | 1: label 0 … C − 1 | softmax, arg max |
//! | [`Ordinal`] | 1 | 1: label 0 … C − 1 | cut points |
//! | [`Poisson`], [`NegativeBinomial`], [`Gamma`], [`Weibull`], [`Exponential`], [`Tweedie`] | 1 | 1 | mean `exp(f)` |
//! | [`ZeroInflatedPoisson`] | 1 | 1 | mean `(1 − π)·exp(f)` |
//! | [`HurdlePoisson`] | 1 | 1 | rate `exp(f)` of counts above zero |
//! | [`LogNormal`] | 1 | 1 | median `exp(f)` |
//! | [`Beta`] | 1 | 1 | mean `1/(1 + e^{−f})` |
//! | [`Binomial`], [`BetaBinomial`] | 1 | 2: successes, trials | share `1/(1 + e^{−f})` |
//!
//! Several functions or columns per output are arranged in blocks: function `l` of output `p` is
//! column `l·P + p`. Target columns and class probabilities follow the same order.
//!
//! All targets except unordered labels have predictive distributions with quantiles
//! (`predictive_distribution` of [`AnyLikelihood`]).
//!
//! A likelihood must provide its description, [`log_density`](Likelihood::log_density), the moments
//! of `y` given `f` and a way to draw `y`. [`Quadrature`] derives everything else that models need;
//! likelihoods override methods that have a closed form. If a density can be narrow, the likelihood
//! reports where ([`Likelihood::peak`]), and [`GradedNodes`] resolve it.
//!
//! A likelihood can be chosen at run time:
//!
//! ```
//! use burn::tensor::Device;
//! use burn_gp_core::likelihoods::{AnyLikelihood, Likelihood, LikelihoodConfig, SoftmaxConfig};
//!
//! let config = LikelihoodConfig::from(SoftmaxConfig::new(3));
//! let likelihood: AnyLikelihood = config.init(&Device::default());
//! let description = likelihood.description();
//! assert_eq!((description.classes, description.latents), (Some(3), 3));
//! ```

mod asymmetric_laplace;
mod bernoulli;
mod bernoulli_logit;
mod beta;
mod beta_binomial;
mod beyond_limit;
mod binomial;
mod censored;
mod censored_limits;
mod censored_moments;
mod classes;
mod config;
mod description;
mod dirichlet;
mod distributions;
mod exponential;
mod fixed_noise;
mod gamma;
mod gauss_hermite;
mod gauss_legendre;
mod gaussian;
mod graded_nodes;
mod gumbel_convolution;
mod heteroskedastic;
mod hurdle_poisson;
mod interval_censored;
mod likelihood;
mod log_link;
mod log_normal;
mod mode;
mod negative_binomial;
mod noisy_maximum;
mod one_parameter;
mod ordinal;
mod poisson;
mod quadrature;
mod quasi_monte_carlo;
mod robust_max;
mod softmax;
mod student_t;
mod successes;
mod target_interval;
mod target_kind;
mod targets;
mod tweedie;
mod weibull;
mod zero_inflated_poisson;

pub(crate) use gauss_legendre::nodes_and_weights as legendre_nodes_and_weights;
pub(crate) use quasi_monte_carlo::scrambled_normal_points;

pub use asymmetric_laplace::{AsymmetricLaplace, AsymmetricLaplaceConfig};
pub use bernoulli::{Bernoulli, BernoulliConfig};
pub use bernoulli_logit::{BernoulliLogit, BernoulliLogitConfig};
pub use beta::{Beta, BetaConfig};
pub use beta_binomial::{BetaBinomial, BetaBinomialConfig};
pub use binomial::{Binomial, BinomialConfig};
pub use censored::{Censored, CensoredConfig};
pub use config::{AnyLikelihood, LikelihoodConfig, LikelihoodDefinition, LikelihoodName};
pub use description::LikelihoodDescription;
pub use dirichlet::{Dirichlet, DirichletConfig};
pub use distributions::{
    Interval, PredictiveDistribution, Recalibration, RecalibrationError, Support,
    TargetDistribution,
};
pub use exponential::{Exponential, ExponentialConfig};
pub use fixed_noise::{FixedNoise, FixedNoiseConfig};
pub use gamma::{Gamma, GammaConfig};
pub use gaussian::{Gaussian, GaussianConfig};
pub use graded_nodes::{GradedNodes, QuadratureCenter};
pub use heteroskedastic::{Heteroskedastic, HeteroskedasticConfig};
pub use hurdle_poisson::{HurdlePoisson, HurdlePoissonConfig};
pub use interval_censored::{IntervalCensored, IntervalCensoredConfig};
pub use likelihood::Likelihood;
pub use log_normal::{LogNormal, LogNormalConfig};
pub use negative_binomial::{NegativeBinomial, NegativeBinomialConfig};
pub use ordinal::{Ordinal, OrdinalConfig};
pub use poisson::{Poisson, PoissonConfig};
pub use quadrature::Quadrature;
pub use robust_max::{RobustMax, RobustMaxConfig};
pub use softmax::{Softmax, SoftmaxConfig};
pub use student_t::{StudentT, StudentTConfig};
pub use target_interval::middle_of_interval;
pub use target_kind::TargetKind;
pub use targets::{ImpossibleTarget, check_finite};
pub use tweedie::{Tweedie, TweedieConfig};
pub use weibull::{Weibull, WeibullConfig};
pub use zero_inflated_poisson::{ZeroInflatedPoisson, ZeroInflatedPoissonConfig};
