//! Likelihoods `p(y | f)`.
//!
//! A likelihood needs only [`log_density`](Likelihood::log_density) and the moments of `y` given
//! `f`; everything a model asks for then follows by Gauss–Hermite quadrature, and a likelihood
//! with a closed form overrides it.

mod any;
mod bernoulli;
mod gaussian;
mod quadrature;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

pub use any::{AnyLikelihood, LikelihoodConfig};
pub use bernoulli::Bernoulli;
pub use gaussian::{Gaussian, GaussianConfig};
pub use quadrature::GaussHermite;

use crate::parameter::{Hyperparameter, hyperparameters};

/// Mean and variance of independent Gaussians, each `[N, P]`.
#[derive(Clone, Debug)]
pub struct Marginals {
    /// The means, `[N, P]`.
    pub mean: Tensor<2>,
    /// The variances, `[N, P]`.
    pub variance: Tensor<2>,
}

/// A target value that the likelihood gives no probability.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "target {value} in row {row} is not possible under the {likelihood} likelihood, which takes {expected}"
)]
pub struct ImpossibleTarget {
    /// The row, counted from zero.
    pub row: usize,
    /// The value found.
    pub value: f64,
    /// The likelihood's name.
    pub likelihood: &'static str,
    /// What it takes.
    pub expected: &'static str,
}

/// A factorised likelihood `p(y | f) = Π_n p(y_n | f_n)`.
pub trait Likelihood: Module + ModuleDisplay {
    /// `log p(y | f)`, elementwise; the two shapes broadcast.
    ///
    /// # Shapes
    ///
    /// - `targets`, `function`: `[…]`, broadcast against each other
    fn log_density<const D: usize>(&self, targets: Tensor<D>, function: Tensor<D>) -> Tensor<D>;

    /// `E[y | f]` and `Var[y | f]`, elementwise.
    fn conditional_moments<const D: usize>(&self, function: Tensor<D>) -> (Tensor<D>, Tensor<D>);

    /// The first row whose target has no probability, if there is one.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`], naming the row.
    fn check_targets(&self, targets: &[f64]) -> Result<(), ImpossibleTarget>;

    /// The quadrature behind the defaults of the methods below.
    fn quadrature(&self) -> GaussHermite {
        GaussHermite::default()
    }

    /// `Σ_p E_{f ~ N(μ_np, σ²_np)}[log p(y_np | f)]`, the expected log density of the evidence
    /// lower bound.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, P]`
    /// - result: `[N]`
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        let expected = self.quadrature().expectation(marginals, |function| {
            self.log_density(targets.clone().unsqueeze_dim(2), function)
        });
        sum_outputs(expected)
    }

    /// `Σ_p log E_{f ~ N(μ_np, σ²_np)}[p(y_np | f)]`, the log density of new targets.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, P]`
    /// - result: `[N]`
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        let log_density = self.quadrature().log_expectation(marginals, |function| {
            self.log_density(targets.clone().unsqueeze_dim(2), function)
        });
        sum_outputs(log_density)
    }

    /// Mean and variance of a new target `y`, from those of `f`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let quadrature = self.quadrature();
        let mean = quadrature.expectation(marginals.clone(), |function| {
            self.conditional_moments(function).0
        });
        let second_moment = quadrature.expectation(marginals, |function| {
            let (mean, variance) = self.conditional_moments(function);
            mean.square() + variance
        });
        Marginals {
            variance: (second_moment - mean.clone().square()).clamp_min(0.0),
            mean,
        }
    }

    /// The hyperparameters, in the units people read.
    fn hyperparameters(&self) -> Vec<Hyperparameter> {
        hyperparameters(self)
    }
}

/// Sums `[N, P]` over the outputs.
fn sum_outputs(values: Tensor<2>) -> Tensor<1> {
    let [rows, outputs] = values.dims();
    if outputs == 1 {
        values.reshape([rows])
    } else {
        values.sum_dim(1).reshape([rows])
    }
}
