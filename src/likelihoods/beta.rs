//! The beta likelihood.

use core::f64::consts::PI;
use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    Likelihood, LikelihoodDescription, QuadratureCenter, TargetDistribution,
    bernoulli_logit::logistic,
    distributions::BetaTarget,
    likelihood::{draw, of_all_outputs, of_output},
    one_parameter::one_parameter,
};
use crate::{
    ops::{sigmoid, softplus, stirling_remainder},
    parameter::{Positive, defaults},
    register,
};

/// Parameters of the beta distribution below this count as zero, where the density vanishes.
const SMALLEST_PARAMETER: f64 = 1e-30;

/// Number of bisection steps in the search for the peak of the density.
const HALVINGS: usize = 12;

/// Fractions with mean `m = 1/(1 + e^{−f})` and a trained precision s: a beta distribution with
/// parameters `s·m` and `s·(1 − m)` and variance `m(1 − m)/(1 + s)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Beta, BetaConfig, Likelihood};
///
/// let device = Device::default();
/// let likelihood: Beta = BetaConfig { precision: 2.0 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[0.3]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // A mean of one half with precision 2 is the uniform distribution.
/// assert!(density.abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct Beta {
    precision: Positive,
}

defaults! {
    /// Configuration of a [`Beta`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct BetaConfig {
        /// The initial value of the precision s.
        pub precision: f64 = 5.0,
    }
}

register!(Likelihood, "beta", BetaConfig, "Numbers between 0 and 1");

one_parameter!(BetaConfig, Fractions => Beta {
    /// The precision s, `[1]`.
    precision: Positive
});

impl Likelihood for Beta {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("beta")
            .with_targets("numbers between 0 and 1, both excluded", |_, value| {
                value > 0.0 && value < 1.0
            })
    }

    /// With `m' = 1 − m`, `y' = 1 − y` and R the remainder of Stirling's formula, `s·m·log(y/m) +
    /// s·m'·log(y'/m') + ½·log(m·m'·s/2π) − log(y·y') + R(s) − R(s·m) − R(s·m')`. For a large s the
    /// log-gamma functions have large parts that cancel; this form omits them.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let precision = self.precision();
        let part = |log_target: Tensor<3>, log_mean: Tensor<3>| {
            let scaled = log_mean.clone().exp() * precision.clone().unsqueeze::<3>();
            let remainder = stirling_remainder(scaled.clone().clamp_min(SMALLEST_PARAMETER));
            scaled * (log_target.clone() - log_mean.clone()) + log_mean * 0.5
                - log_target
                - remainder
        };
        let log = targets.clone().log().unsqueeze::<3>();
        let log_rest = targets.neg().log1p().unsqueeze::<3>();
        let constant = (precision.clone().log() - (2.0 * PI).ln()) * 0.5
            + stirling_remainder(precision.clone());
        part(log, softplus(function.clone().neg()).neg())
            + part(log_rest, softplus(function).neg())
            + constant.unsqueeze::<3>()
    }

    /// The derivative `s·m·m'·[log(y/y') − ψ(s·m) + ψ(s·m')]` vanishes between 0 and `log(y/y')`.
    /// The zero is found by bisection, with `log(x + ½) − 1/x` for the digamma function.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let precision = self.precision().detach().unsqueeze::<2>();
        let digamma = |x: Tensor<2>| (x.clone() + 0.5).log() - x.recip();
        let parts = |f: &Tensor<2>| (sigmoid(f.clone()), sigmoid(f.clone().neg()));
        let logit = targets.clone().log() - targets.clone().neg().log1p();
        let sign = logit.clone().sign();
        let size = logit.abs();
        let (mut center, mut step) = (size.clone() * 0.5, size.clone() * 0.25);
        for _ in 0..HALVINGS {
            let (mean, rest) = parts(&center);
            // By symmetry, the peak for 1 − y is minus the peak for y.
            let slope = size.clone() - digamma(mean * precision.clone())
                + digamma(rest * precision.clone());
            center = center + slope.sign() * step.clone();
            step = step * 0.5;
        }
        let (mean, rest) = parts(&center);
        let information = rest.clone().square() * (mean.clone() * precision.clone() + 1.0)
            + mean.square() * (rest * precision + 1.0);
        Some(QuadratureCenter {
            center: center * sign,
            width: information.sqrt().recip(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = sigmoid(function.clone());
        let variance = mean.clone() * sigmoid(function.neg());
        let scale = (self.precision() + 1.0).unsqueeze::<3>();
        (mean, variance / scale)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let precision = self.precision.to_vec();
        draw(function, 1, |f, output| {
            let precision = of_output(&precision, output);
            let mean = logistic(f[0]);
            let values = rand_distr::Beta::new(precision * mean, precision * logistic(-f[0]));
            values.map_or(mean, |values| values.sample(random))
        })
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let precision = of_all_outputs(&self.precision.to_vec())?;
        Some(Arc::new(BetaTarget { precision }))
    }
}
