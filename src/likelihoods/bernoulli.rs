//! The Bernoulli likelihood with the probit link.

use burn::{module::Module, tensor::Tensor};

use super::{ImpossibleTarget, Likelihood, Marginals, sum_outputs};
use crate::ops::log_normal_cdf;

/// `p(y = 1 | f) = Φ(f)`, `p(y = 0 | f) = Φ(−f)`, Φ the standard normal distribution function.
#[derive(Module, Debug, Default)]
pub struct Bernoulli {}

/// `2y − 1`: labels 0 and 1 as signs.
fn signs<const D: usize>(targets: Tensor<D>) -> Tensor<D> {
    targets * 2.0 - 1.0
}

/// `Φ(x)`, elementwise.
fn normal_cdf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    log_normal_cdf(x).exp()
}

impl Bernoulli {
    /// The likelihood; it has no parameters.
    pub fn new() -> Self {
        Self {}
    }

    /// `μ/√(1 + σ²)`: `E_{f ~ N(μ, σ²)}[Φ(f)] = Φ(μ/√(1 + σ²))`.
    fn effective_mean(marginals: Marginals) -> Tensor<2> {
        marginals.mean / (marginals.variance + 1.0).sqrt()
    }
}

impl Likelihood for Bernoulli {
    fn log_density<const D: usize>(&self, targets: Tensor<D>, function: Tensor<D>) -> Tensor<D> {
        log_normal_cdf(signs(targets) * function)
    }

    fn conditional_moments<const D: usize>(&self, function: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
        let probability = normal_cdf(function.clone());
        (
            probability.clone(),
            probability * normal_cdf(function.neg()),
        )
    }

    fn check_targets(&self, targets: &[f64]) -> Result<(), ImpossibleTarget> {
        match targets
            .iter()
            .position(|&value| value != 0.0 && value != 1.0)
        {
            Some(row) => Err(ImpossibleTarget {
                row,
                value: targets[row],
                likelihood: "bernoulli",
                expected: "labels 0 and 1",
            }),
            None => Ok(()),
        }
    }

    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        sum_outputs(log_normal_cdf(
            signs(targets) * Self::effective_mean(marginals),
        ))
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        let effective = Self::effective_mean(marginals);
        let mean = normal_cdf(effective.clone());
        Marginals {
            variance: mean.clone() * normal_cdf(effective.neg()),
            mean,
        }
    }
}
