//! The negative-binomial likelihood.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::Distribution;
use serde::{Deserialize, Serialize};

use super::{
    Likelihood, Marginals, TargetDistribution,
    distributions::NegativeBinomialTarget,
    likelihood::draw,
    log_link,
    poisson::{draw_count, is_count},
};
use crate::{
    ops::{log_gamma, softplus},
    parameter::Positive,
};

/// Counts with the mean `m = exp(f)` and the variance `m + α·m²`, the dispersion α trained:
/// with `r = 1/α`, `p(y | f) = Γ(y + r)/(Γ(r)·y!)·(r/(r + m))^r·(m/(r + m))^y`.
///
/// Single precision loses the difference of log-gammas where α falls below 10⁻⁴, at which this is
/// a [`Poisson`](super::Poisson) likelihood in all but name.
#[derive(Module, Debug)]
pub struct NegativeBinomial {
    dispersion: Positive,
}

/// Configuration of a [`NegativeBinomial`] likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NegativeBinomialConfig {
    /// The first value of the dispersion α.
    pub dispersion: f64,
}

impl Default for NegativeBinomialConfig {
    fn default() -> Self {
        Self { dispersion: 0.5 }
    }
}

impl NegativeBinomialConfig {
    /// The likelihood.
    ///
    /// # Panics
    ///
    /// If the dispersion is not positive.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> NegativeBinomial {
        NegativeBinomial {
            dispersion: Positive::new(&[self.dispersion], options),
        }
    }
}

impl NegativeBinomial {
    /// The dispersion α, `[1]`.
    pub fn dispersion(&self) -> Tensor<1> {
        self.dispersion.value()
    }
}

impl Likelihood for NegativeBinomial {
    fn name(&self) -> &'static str {
        "negative-binomial"
    }

    fn takes(&self) -> String {
        "counts: 0, 1, 2, ...".into()
    }

    fn is_possible(&self, _column: usize, value: f64) -> bool {
        is_count(value)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.require_sizes_of_values(&targets, &function);
        let size = self.dispersion().recip(); // r
        let row = size.clone().reshape([1, 1]);
        let constant = log_gamma(targets.clone() + row) - log_gamma(targets.clone() + 1.0);
        let constant = constant.unsqueeze::<3>() - log_gamma(size.clone()).reshape([1; 3]);
        let log_size = size.clone().log().reshape([1; 3]);
        // log(m/(r + m)) and log(r/(r + m)).
        let excess = function - log_size;
        let log_success = softplus(excess.clone().neg()).neg();
        let log_failure = softplus(excess).neg();
        log_failure * size.reshape([1; 3]) + log_success * targets.unsqueeze::<3>() + constant
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = function.exp();
        let dispersion = self.dispersion().reshape([1; 3]);
        (mean.clone(), mean.clone().square() * dispersion + mean)
    }

    /// A Poisson count whose rate has a gamma distribution.
    fn sample<R: Rng>(&self, function: Tensor<3>, random: &mut R) -> Tensor<3> {
        let dispersion = self.dispersion.to_vec()[0];
        draw(function, 1, |f| {
            let mean = f[0].exp();
            let rates = rand_distr::Gamma::new(1.0 / dispersion, mean * dispersion);
            let rate = rates.map_or(mean, |rates| rates.sample(random));
            draw_count(rate, random)
        })
    }

    /// The mean is `exp(μ + σ²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        log_link::predict(marginals, 1.0, self.dispersion().reshape([1, 1]))
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(NegativeBinomialTarget {
            dispersion: self.dispersion.to_vec()[0],
        }))
    }
}
