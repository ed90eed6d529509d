//! The Bernoulli likelihood with the logit link.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::{Rng, RngExt};

use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, Likelihood, LikelihoodConfig, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetKind, bernoulli::signs, likelihood::draw,
};
use crate::{
    ops::{sigmoid, softplus},
    register,
};

/// `p(y = 1 | f) = 1/(1 + e^{−f})`, `p(y = 0 | f) = 1/(1 + e^f)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, BernoulliLogit};
///
/// let device = Device::default();
/// let likelihood = BernoulliLogit::default();
/// let (y, f) = (Tensor::<2>::from_data([[1.0], [0.0]], &device), Tensor::<3>::from_data([[[2.0], [2.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // log σ(2) + log σ(−2)
/// assert!((density + 2.0 * (1.0 + 2.0_f64.exp()).ln() - 2.0).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug, Default)]
pub struct BernoulliLogit {}

/// `1/(1 + e^{−f})`.
pub(super) fn logistic(f: f64) -> f64 {
    1.0 / (1.0 + (-f).exp())
}

/// Configuration of a [`BernoulliLogit`] likelihood.
///
/// ```
/// use burn_gp_core::likelihoods::{BernoulliLogitConfig, LikelihoodConfig};
///
/// assert_eq!(LikelihoodConfig::from(BernoulliLogitConfig {}), LikelihoodConfig::bernoulli_logit());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BernoulliLogitConfig {}

register!(
    Likelihood,
    "bernoulli-logit",
    BernoulliLogitConfig,
    "Two classes, logit link"
);

impl LikelihoodDefinition for BernoulliLogitConfig {
    fn init(&self, _options: TensorCreationOptions) -> AnyLikelihood {
        BernoulliLogit {}.into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::TwoClasses
    }
}

impl LikelihoodConfig {
    /// A [`BernoulliLogit`] likelihood.
    pub fn bernoulli_logit() -> Self {
        BernoulliLogitConfig {}.into()
    }
}

impl Likelihood for BernoulliLogit {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("bernoulli-logit").with_classes(2)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        softplus(signs(targets).neg().unsqueeze::<3>() * function).neg()
    }

    /// The probability of a label has no peak, but it kinks at zero.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        Some(QuadratureCenter {
            center: targets.zeros_like(),
            width: targets.ones_like(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let probability = sigmoid(function.clone());
        let variance = probability.clone() * sigmoid(function.neg());
        (probability, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        draw(function, 1, |f, _| {
            let uniform: f64 = random.random();
            f64::from(u8::from(uniform < logistic(f[0])))
        })
    }
}
