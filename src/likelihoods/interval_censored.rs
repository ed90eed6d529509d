//! The interval-censored Gaussian likelihood.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;

use super::{
    AnyLikelihood, GradedNodes, Likelihood, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetDistribution, TargetKind,
    beyond_limit::expected_log_probability_beyond,
    gaussian::{draw_normal, log_normal, noise_of_each, normal_target},
    graded_nodes::NODES,
    likelihood::{row, sum_outputs},
    target_interval::TargetIntervals,
};
use crate::{
    ops::log_normal_cdf,
    parameter::{ParameterError, Positive, defaults},
    process::Marginals,
    register,
};

/// Real numbers `y = f + ε` with noise `ε ~ N(0, σ²)` and a trained noise variance σ², of which each row tells the
/// interval [l, u] that holds them: `p(l ≤ y ≤ u | f) = Φ((u − f)/σ) − Φ((l − f)/σ)`. Examples are times between two
/// inspections, rounded or binned numbers, and concentrations below a detection limit that differs from row to row.
///
/// The targets are the lower limits of all outputs, followed by their upper limits: `[N, 2P]`. An infinite upper limit
/// means a right-censored target, which is l or more, and an infinite lower limit a left-censored one. Equal limits mean
/// an exact one, with the density `N(y | f, σ²)` (W. Nelson, *Applied Life Data Analysis*, 1982). An interval that
/// rounding to the precision of the model makes a point is exact.
///
/// Predictions and draws are those of y, not of limits. For limits that are the same in all rows, such that
/// predictions are cut off at them, see [`Censored`](super::Censored).
///
/// Models standardize targets and tell the likelihood so ([`LikelihoodDefinition::set_units`]). The log density of a
/// standardized interval is then its log probability plus `log s`, with the scale s of the targets, so that the conversion
/// of densities to the units of the data, which subtracts `log s`, gives the probability.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{IntervalCensored, IntervalCensoredConfig, Likelihood};
///
/// let device = Device::default();
/// let likelihood: IntervalCensored = IntervalCensoredConfig { noise: 0.25, ..Default::default() }.init(&device);
/// // A number between 1 and 2, and one that is 1 or more.
/// let targets = Tensor::<2>::from_data([[1.0, 2.0], [1.0, f64::INFINITY]], &device);
/// let function = Tensor::<3>::from_data([[[1.0], [1.0]]], &device);
/// let densities: Vec<f64> = likelihood.log_density(targets, function).into_data().iter().collect();
/// // Φ(2) − Φ(0) = 0.4772, and 1 − Φ(0) = 0.5.
/// assert!((densities[0].exp() - 0.4772).abs() < 1e-4, "{densities:?}");
/// assert!((densities[1].exp() - 0.5).abs() < 1e-4, "{densities:?}");
/// ```
#[derive(Module, Debug)]
pub struct IntervalCensored {
    noise: Positive,
    /// The logarithms of the scales of the targets, of all outputs or of each.
    #[module(skip)]
    log_scales: Vec<f64>,
}

defaults! {
    /// Configuration of an [`IntervalCensored`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct IntervalCensoredConfig {
        /// The initial value of the noise variance, in squared units of the targets that the model gets.
        pub noise: f64 = 0.1,
        /// The scale of each standardized output, or of all. Empty if targets are not standardized. Training sets it.
        pub scales: Vec<f64> = Vec::new(),
    }
}

register!(
    Likelihood,
    "interval-censored",
    IntervalCensoredConfig,
    "Real numbers between a lower and an upper limit for each row, from --upper-column"
);

impl LikelihoodDefinition for IntervalCensoredConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::Intervals
    }

    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.noise = noise;
    }

    fn set_units(&mut self, _shifts: &[f64], scales: &[f64]) {
        self.scales = scales.to_vec();
    }

    fn noise(&self) -> Option<(&'static str, i64)> {
        Some(("noise", 2))
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::check_positive("likelihood.noise", self.noise)?;
        self.check_scales()
    }
}

impl IntervalCensoredConfig {
    fn check_scales(&self) -> Result<(), ParameterError> {
        let mut each = self.scales.iter();
        each.try_for_each(|scale| ParameterError::check_positive("likelihood.scales", *scale))
    }

    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If the noise variance or a scale is not positive.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> IntervalCensored {
        if let Err(error) = self.check_scales() {
            panic!("an interval-censored likelihood: {error}");
        }
        IntervalCensored {
            noise: Positive::new(&[self.noise], options),
            log_scales: match self.scales.is_empty() {
                true => vec![0.0],
                false => self.scales.iter().map(|scale| scale.ln()).collect(),
            },
        }
    }
}

impl IntervalCensored {
    /// The noise variance σ², `[1]`, or `[P]` if each output has its own.
    pub fn noise(&self) -> Tensor<1> {
        self.noise.value()
    }

    /// The log densities of intervals that hold normal variables.
    fn of_normal<const D: usize>(
        &self,
        intervals: &TargetIntervals<D>,
        mean: Tensor<D>,
        variance: Tensor<D>,
    ) -> Tensor<D> {
        let error = intervals.lower.clone() - mean.clone();
        let density = log_normal(error, variance.clone());
        let shape = density.dims();
        let log_scales: Tensor<D> = row(&self.log_scales, &density);
        let probability = intervals.log_probability(mean, variance.sqrt()) + log_scales;
        probability.mask_where(intervals.is_point.clone().expand(shape), density)
    }
}

impl Likelihood for IntervalCensored {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("interval-censored")
            .with_columns(2)
            .with_infinite(true)
            .with_targets(
                "a lower limit and an upper limit that is not below it, one of which may be infinite",
                |column, limit| limit.is_finite() || (limit > 0.0) == (column == 1),
            )
            .with_pairs(|lower, upper| {
                lower <= upper && (lower.is_finite() || upper.is_finite())
            })
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let intervals = TargetIntervals::of(targets).of_samples();
        self.of_normal(&intervals, function, self.noise().unsqueeze::<3>())
    }

    /// In closed form for exact targets. For others, the log probability is the sum of the log probabilities of being
    /// above the lower and below the upper limit, whose expectations are those of censored targets, and of a rest that is
    /// smooth and grows like the logarithm of the function's distance. Its expectation is found by quadrature with nodes
    /// around the middle of the interval.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let intervals = TargetIntervals::of(targets);
        let noise = self.noise().unsqueeze::<2>();
        let deviation = noise.clone().sqrt();
        let relative = marginals.variance.clone() / noise.clone();
        let error = intervals.lower.clone() - marginals.mean.clone();
        let exact = log_normal(error, noise.clone()) - relative * 0.5;
        let beyond = |limit: &Tensor<2>, side: f64| {
            expected_log_probability_beyond(&marginals, limit.clone(), side, noise.clone())
        };
        let above = beyond(&intervals.lower, 1.0).mask_fill(intervals.is_open_below.clone(), 0.0);
        let below = beyond(&intervals.upper, -1.0).mask_fill(intervals.is_open_above.clone(), 0.0);
        let kink = QuadratureCenter {
            center: intervals.middle(),
            width: marginals.mean.zeros_like() + deviation.clone(),
        };
        let nodes = GradedNodes::around(&marginals, kink, NODES);
        let has_no_rest = intervals.is_open().bool_or(intervals.is_point.clone());
        let each = intervals.clone().of_samples();
        let rest = nodes.expectation(marginals.clone(), |function| {
            let deviation = deviation.unsqueeze::<3>();
            let above = (function.clone() - each.lower.clone()) / deviation.clone();
            let below = (each.upper.clone() - function.clone()) / deviation.clone();
            let both = log_normal_cdf(above) + log_normal_cdf(below);
            each.log_probability(function, deviation) - both
        });
        let log_scales: Tensor<2> = row(&self.log_scales, &rest);
        let probability = above + below + rest.mask_fill(has_no_rest, 0.0) + log_scales;
        sum_outputs(probability.mask_where(intervals.is_point, exact))
    }

    /// In closed form, with the variance `σ_n² + σ²`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = self.predict(marginals);
        sum_outputs(self.of_normal(&TargetIntervals::of(targets), mean, variance))
    }

    /// At the middle of the interval or at the only limit, over the standard deviation of the noise.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let center = TargetIntervals::of(targets.clone()).middle();
        Some(QuadratureCenter {
            width: center.zeros_like() + self.noise().sqrt().unsqueeze::<2>(),
            center,
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let variance = self.noise().unsqueeze::<3>().expand(function.dims());
        (function, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        draw_normal(function, &self.noise.to_vec(), random)
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        Marginals {
            variance: marginals.variance + self.noise().unsqueeze::<2>(),
            mean: marginals.mean,
        }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(normal_target(&self.noise.to_vec()))
    }

    fn noise_of_outputs(&self) -> Option<Vec<f64>> {
        noise_of_each(self.noise.to_vec())
    }
}
