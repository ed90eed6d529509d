//! The robust-max likelihood.

use burn::{module::Module, tensor::Tensor};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{
    Likelihood, Marginals, Quadrature,
    classes::{indicators, is_label, labels_up_to},
    likelihood::{block, draw, sum_outputs},
    quadrature::SMALLEST_VARIANCE,
    softmax::function_of_label,
};
use crate::ops::log_normal_cdf;

/// `p(y = c | f) = 1 − ε` if `f_c` is the largest of the C functions, else `ε/(C − 1)`
/// (D. Hernández-Lobato, J. M. Hernández-Lobato, P. Dupont, *Robust Multi-Class Gaussian Process
/// Classification*, 2011).
///
/// Everything follows from the probability that a function is the largest,
/// `π_c = E_{t ~ N(μ_c, σ_c²)}[Π_{j≠c} Φ((t − μ_j)/σ_j)]`, a one-dimensional integral that
/// Gauss–Hermite quadrature takes: within 10⁻³ with the default of 20 nodes where the deviations of
/// the functions differ by less than a factor of three.
#[derive(Module, Debug)]
pub struct RobustMax {
    #[module(skip)]
    classes: usize,
    #[module(skip)]
    epsilon: f64,
    #[module(skip)]
    quadrature: Quadrature,
}

/// Configuration of a [`RobustMax`] likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RobustMaxConfig {
    /// How many classes there are, C.
    pub classes: usize,
    /// The probability of all other labels together, ε.
    pub epsilon: f64,
    /// Gauss–Hermite nodes.
    pub nodes: usize,
}

impl RobustMaxConfig {
    /// A robust arg max over `classes` classes with ε = 10⁻³ and 20 nodes.
    pub fn new(classes: usize) -> Self {
        Self {
            classes,
            epsilon: 1e-3,
            nodes: 20,
        }
    }

    /// The likelihood.
    ///
    /// # Panics
    ///
    /// If there are fewer than two classes, or ε is not between 0 and 1.
    #[track_caller]
    pub fn init(&self) -> RobustMax {
        let Self {
            classes,
            epsilon,
            nodes,
        } = *self;
        assert!(
            classes >= 2 && epsilon > 0.0 && epsilon < 1.0,
            "a robust arg max over {classes} classes with epsilon {epsilon}"
        );
        RobustMax {
            classes,
            epsilon,
            quadrature: Quadrature::gauss_hermite(nodes, 1),
        }
    }
}

impl RobustMax {
    /// ε, the probability of all other labels together.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The probability of each other label.
    fn other(&self) -> f64 {
        self.epsilon / (self.classes - 1) as f64
    }

    /// `value(1 − ε)·π + value(ε/(C − 1))·(1 − π)`.
    fn mix<const D: usize>(&self, largest: Tensor<D>, value: impl Fn(f64) -> f64) -> Tensor<D> {
        let (own, other) = (value(1.0 - self.epsilon), value(self.other()));
        largest * (own - other) + other
    }

    /// `π_y`, the probability that the label's function is the largest, `[N, P]`.
    fn label_is_largest(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<2> {
        let Self { classes, .. } = *self;
        let [rows, functions] = marginals.mean.dims();
        let outputs = functions / classes;
        let own = |values: &Tensor<2>| {
            function_of_label(targets.clone(), values.clone().unsqueeze(), classes)
                .reshape([rows, outputs])
        };
        let label = Marginals {
            mean: own(&marginals.mean),
            variance: own(&marginals.variance),
        };
        let others: Tensor<2> = 1.0 - indicators(targets.clone(), classes); // [N, C·P]
        let deviation = marginals.variance.clamp_min(SMALLEST_VARIANCE).sqrt();
        self.quadrature.expectation(label, |threshold| {
            let [nodes, ..] = threshold.dims(); // [S, N, P]
            let threshold = threshold.repeat_dim(2, classes);
            let distance = threshold - marginals.mean.unsqueeze::<3>();
            let log_below = log_normal_cdf(distance / deviation.unsqueeze::<3>());
            (log_below * others.unsqueeze::<3>())
                .reshape([nodes, rows, classes, outputs])
                .sum_dim(2)
                .reshape([nodes, rows, outputs])
                .exp()
        })
    }

    /// Whether each function is the largest of its output, as one and zero: `[S, N, C·P]`.
    fn is_largest(&self, function: Tensor<3>) -> Tensor<3> {
        let [samples, rows, functions] = function.dims();
        let outputs = functions / self.classes;
        let by_class = function.reshape([samples * rows, self.classes, outputs]);
        let largest = by_class
            .clone()
            .argmax(1)
            .reshape([samples * rows, outputs]);
        let largest = largest.float().cast(by_class.dtype());
        indicators(largest, self.classes).reshape([samples, rows, functions])
    }
}

impl Likelihood for RobustMax {
    fn name(&self) -> &'static str {
        "robust-max"
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
        let is_largest = self.is_largest(function);
        self.mix(
            function_of_label(targets, is_largest, self.classes),
            f64::ln,
        )
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = self.mix(self.is_largest(function), |probability| probability);
        let variance = mean.clone() * (1.0 - mean.clone());
        (mean, variance)
    }

    fn sample<R: Rng>(&self, function: Tensor<3>, random: &mut R) -> Tensor<3> {
        draw(function, self.classes, |f| {
            let (mut largest, mut label) = (f64::NEG_INFINITY, 0);
            for (class, &value) in f.iter().enumerate() {
                if value > largest {
                    (largest, label) = (value, class);
                }
            }
            let uniform: f64 = random.random();
            if uniform < self.epsilon {
                let other = random.random_range(0..self.classes - 1);
                label = if other < label { other } else { other + 1 };
            }
            label as f64
        })
    }

    /// `π_y·log(1 − ε) + (1 − π_y)·log(ε/(C − 1))`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.require_sizes(&targets, &marginals);
        sum_outputs(self.mix(self.label_is_largest(targets, marginals), f64::ln))
    }

    /// `log[π_y·(1 − ε) + (1 − π_y)·ε/(C − 1)]`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.require_sizes(&targets, &marginals);
        let largest = self.label_is_largest(targets, marginals);
        sum_outputs(self.mix(largest, |probability| probability).log())
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        let columns = (0..self.classes).map(|class| {
            let labels = block(marginals.mean.zeros_like(), class, self.classes) + class as f64;
            self.label_is_largest(labels, marginals.clone())
        });
        let largest = Tensor::cat(columns.collect(), 1); // [N, C·P]
        let mean = self.mix(largest, |probability| probability);
        Marginals {
            variance: mean.clone() * (1.0 - mean.clone()),
            mean,
        }
    }

    fn class_probabilities(&self, marginals: Marginals) -> Option<Tensor<2>> {
        Some(self.predict(marginals).mean)
    }
}
