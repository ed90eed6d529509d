//! The beta likelihood.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::Distribution;
use serde::{Deserialize, Serialize};

use super::{
    Likelihood, TargetDistribution, bernoulli_logit::logistic, distributions::BetaTarget,
    likelihood::draw,
};
use crate::{
    ops::{log_gamma, sigmoid},
    parameter::Positive,
};

/// Below this a parameter of the beta distribution is not distinguished from zero, at which the
/// density vanishes.
const SMALLEST_PARAMETER: f64 = 1e-30;

/// Fractions with the mean `m = 1/(1 + e^{−f})` and a trained precision s: a beta distribution with
/// the parameters `s·m` and `s·(1 − m)`, whose variance is `m(1 − m)/(1 + s)`.
#[derive(Module, Debug)]
pub struct Beta {
    precision: Positive,
}

/// Configuration of a [`Beta`] likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BetaConfig {
    /// The first value of the precision s.
    pub precision: f64,
}

impl Default for BetaConfig {
    fn default() -> Self {
        Self { precision: 5.0 }
    }
}

impl BetaConfig {
    /// The likelihood.
    ///
    /// # Panics
    ///
    /// If the precision is not positive.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Beta {
        Beta {
            precision: Positive::new(&[self.precision], options),
        }
    }
}

impl Beta {
    /// The precision s, `[1]`.
    pub fn precision(&self) -> Tensor<1> {
        self.precision.value()
    }
}

impl Likelihood for Beta {
    fn name(&self) -> &'static str {
        "beta"
    }

    fn takes(&self) -> String {
        "numbers between 0 and 1, both excluded".into()
    }

    fn is_possible(&self, _column: usize, value: f64) -> bool {
        value > 0.0 && value < 1.0
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.require_sizes_of_values(&targets, &function);
        let precision = self.precision();
        let scaled = |f: Tensor<3>| {
            (sigmoid(f) * precision.clone().reshape([1; 3])).clamp_min(SMALLEST_PARAMETER)
        };
        let (first, second) = (scaled(function.clone()), scaled(function.neg()));
        let log = targets.clone().log().unsqueeze::<3>();
        let log_rest = targets.neg().log1p().unsqueeze::<3>();
        let constant = log_gamma(precision.clone()).reshape([1; 3]);
        (first.clone() - 1.0) * log + (second.clone() - 1.0) * log_rest + constant
            - log_gamma(first)
            - log_gamma(second)
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = sigmoid(function.clone());
        let variance = mean.clone() * sigmoid(function.neg());
        let scale = (self.precision() + 1.0).reshape([1; 3]);
        (mean, variance / scale)
    }

    fn sample<R: Rng>(&self, function: Tensor<3>, random: &mut R) -> Tensor<3> {
        let precision = self.precision.to_vec()[0];
        draw(function, 1, |f| {
            let mean = logistic(f[0]);
            let values = rand_distr::Beta::new(precision * mean, precision * logistic(-f[0]));
            values.map_or(mean, |values| values.sample(random))
        })
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(BetaTarget {
            precision: self.precision.to_vec()[0],
        }))
    }
}
