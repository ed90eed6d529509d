//! The softmax likelihood.

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::{
    Likelihood, Marginals, Quadrature,
    classes::{draw_label, indicators, is_label, labels_up_to},
    likelihood::{draw, sum_outputs},
    quadrature::QUASI_MONTE_CARLO_NODES,
};

/// `p(y = c | f) = exp(f_c)/Σ_j exp(f_j)`, one latent function a class.
///
/// Expectations are taken by quasi-Monte Carlo, except that of `f_c` itself. With the default of
/// 128 nodes, ten classes and unit variances, expected log densities are within 0.005 and
/// probabilities within 0.003; sixteen times the nodes bring that below a third.
#[derive(Module, Debug)]
pub struct Softmax {
    #[module(skip)]
    classes: usize,
    #[module(skip)]
    quadrature: Quadrature,
}

/// Configuration of a [`Softmax`] likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftmaxConfig {
    /// How many classes there are, C.
    pub classes: usize,
    /// Quasi-Monte-Carlo nodes, an even number.
    pub nodes: usize,
}

impl SoftmaxConfig {
    /// A softmax over `classes` classes with 128 quasi-Monte-Carlo nodes.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            nodes: QUASI_MONTE_CARLO_NODES,
        }
    }

    /// The likelihood.
    ///
    /// # Panics
    ///
    /// If there are fewer than two classes, or the number of nodes is odd.
    #[track_caller]
    pub fn init(&self) -> Softmax {
        let Self { classes, nodes } = *self;
        assert!(classes >= 2, "a softmax over {classes} classes");
        Softmax {
            classes,
            quadrature: Quadrature::quasi_monte_carlo(nodes, classes),
        }
    }
}

impl Softmax {
    /// `[S, N, C·P]` as `[S, N, C, P]`.
    fn by_class(&self, function: Tensor<3>) -> Tensor<4> {
        let [samples, rows, functions] = function.dims();
        function.reshape([samples, rows, self.classes, functions / self.classes])
    }

    /// `log Σ_j exp(f_j)`, `[S, N, 1, P]`.
    fn log_sum(function: Tensor<4>) -> Tensor<4> {
        // The shift cancels, and so does its gradient.
        let largest = function.clone().detach().max_dim(2);
        (function - largest.clone()).exp().sum_dim(2).log() + largest
    }
}

/// `f_y`, the functions of the labels: `[S, N, C·P]` to `[S, N, P]`.
pub(super) fn function_of_label(
    targets: Tensor<2>,
    function: Tensor<3>,
    classes: usize,
) -> Tensor<3> {
    let [samples, rows, functions] = function.dims();
    let outputs = functions / classes;
    let own = function * indicators(targets, classes).unsqueeze::<3>();
    own.reshape([samples, rows, classes, outputs])
        .sum_dim(2)
        .reshape([samples, rows, outputs])
}

impl Likelihood for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn takes(&self) -> String {
        labels_up_to(self.classes)
    }

    fn is_possible(&self, _column: usize, value: f64) -> bool {
        is_label(value, self.classes)
    }

    fn latents_per_output(&self) -> usize {
        self.classes
    }

    fn classes(&self) -> Option<usize> {
        Some(self.classes)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.require_sizes_of_values(&targets, &function);
        let [samples, rows, functions] = function.dims();
        let log_sum = Self::log_sum(self.by_class(function.clone()));
        function_of_label(targets, function, self.classes)
            - log_sum.reshape([samples, rows, functions / self.classes])
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let shape = function.dims();
        let function = self.by_class(function);
        let log_sum = Self::log_sum(function.clone());
        let probability = (function - log_sum).exp().reshape(shape);
        let variance = probability.clone() * (1.0 - probability.clone());
        (probability, variance)
    }

    fn sample<R: Rng>(&self, function: Tensor<3>, random: &mut R) -> Tensor<3> {
        draw(function, self.classes, |f| {
            let largest = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = f.iter().map(|f| (f - largest).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let probabilities: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
            draw_label(&probabilities, random)
        })
    }

    fn quadrature(&self) -> Quadrature {
        self.quadrature.clone()
    }

    /// `μ_y − E[log Σ_j exp(f_j)]`, the first term in closed form.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.require_sizes(&targets, &marginals);
        let own = function_of_label(targets, marginals.mean.clone().unsqueeze(), self.classes);
        let log_sum = self.quadrature.expectation(marginals, |function| {
            let [samples, rows, functions] = function.dims();
            let shape = [samples, rows, functions / self.classes];
            Self::log_sum(self.by_class(function)).reshape(shape)
        });
        let [rows, outputs] = log_sum.dims();
        sum_outputs(own.reshape([rows, outputs]) - log_sum)
    }

    fn class_probabilities(&self, marginals: Marginals) -> Option<Tensor<2>> {
        Some(self.predict(marginals).mean)
    }
}
