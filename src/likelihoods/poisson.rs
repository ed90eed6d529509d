//! The Poisson likelihood.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    Likelihood, Marginals, TargetDistribution,
    distributions::PoissonTarget,
    likelihood::{draw, sum_outputs},
    log_link,
};
use crate::ops::log_gamma;

/// Counts with the rate `exp(f)`: `p(y | f) = exp(y·f − e^f)/y!`.
#[derive(Module, Debug, Default)]
pub struct Poisson {}

impl Poisson {
    /// The likelihood; it has no parameters.
    pub fn new() -> Self {
        Self {}
    }
}

/// A count with the given rate; the rate itself where it is zero or too large to draw from.
pub(super) fn draw_count<R: Rng>(rate: f64, random: &mut R) -> f64 {
    rand_distr::Poisson::new(rate).map_or(rate, |counts| counts.sample(random))
}

/// Whether a number is a count.
pub(super) fn is_count(value: f64) -> bool {
    value >= 0.0 && value.fract() == 0.0
}

impl Likelihood for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn takes(&self) -> String {
        "counts: 0, 1, 2, ...".into()
    }

    fn is_possible(&self, _column: usize, value: f64) -> bool {
        is_count(value)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.require_sizes_of_values(&targets, &function);
        let constant = log_gamma(targets.clone() + 1.0).unsqueeze::<3>();
        targets.unsqueeze::<3>() * function.clone() - function.exp() - constant
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let rate = function.exp();
        (rate.clone(), rate)
    }

    fn sample<R: Rng>(&self, function: Tensor<3>, random: &mut R) -> Tensor<3> {
        draw(function, 1, |f| draw_count(f[0].exp(), random))
    }

    /// `y·μ − exp(μ + σ²/2) − log y!`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.require_sizes(&targets, &marginals);
        let constant = log_gamma(targets.clone() + 1.0);
        let linear = targets * marginals.mean.clone();
        let (rate, _) = log_link::moments_of_exponential(marginals);
        sum_outputs(linear - rate - constant)
    }

    /// The mean is `exp(μ + σ²/2)`; the variance adds that of the rate to it.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let none = marginals.mean.zeros_like();
        log_link::predict(marginals, 1.0, none)
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(PoissonTarget))
    }
}
