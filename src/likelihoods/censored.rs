//! The censored Gaussian likelihood.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Bool, Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{
    AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription, QuadratureCenter,
    TargetDistribution,
    beyond_limit::expected_log_probability_beyond,
    censored_limits::Limits,
    censored_moments::moments,
    distributions::CensoredTarget,
    gaussian::log_normal,
    likelihood::{draw, of_all_outputs, of_output, row, sum_outputs},
};
use crate::{
    ops::log_normal_cdf,
    parameter::{ParameterError, Positive, defaults},
    process::Marginals,
    register,
};

/// Real numbers of which only a limit is known beyond it, such as concentrations below a detection limit or a full
/// scale: `y = min(max(f + ε, lower), upper)` with noise `ε ~ N(0, σ²)` and a trained noise variance σ²
/// (J. Tobin, *Estimation of relationships for limited dependent variables*, 1958).
///
/// Between the limits, `p(y | f) = N(y | f, σ²)`. A target at a limit is censored: its probability is
/// `Φ((lower − f)/σ)` or `Φ((f − upper)/σ)`.
///
/// Predictions are those of targets, which are within the limits: their mean, their variance, and quantiles that
/// may be a limit. The marginals of the function are those of the uncensored quantity without noise.
///
/// Limits are in the units of the data. Models standardize targets and tell the likelihood so
/// ([`LikelihoodDefinition::set_units`]). The log density of a standardized target at a limit is then its log probability
/// plus `log s`, with the scale s of the targets, so that the conversion of densities to the units of the data, which
/// subtracts `log s`, gives the probability.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{likelihoods::{Censored, CensoredConfig, Likelihood}, process::Marginals};
///
/// let device = Device::default();
/// let likelihood: Censored = CensoredConfig { lower: Some(1.0), noise: 0.25, ..Default::default() }.init(&device);
/// let column = |value| Tensor::<2>::full([1, 1], value, &device);
/// let function = Marginals { mean: column(1.0), variance: column(0.75) };
/// // A function at the limit: targets are censored with probability ½.
/// let density = likelihood.log_predictive_density(column(1.0), function.clone());
/// assert!((density.into_scalar::<f64>() - 0.5_f64.ln()).abs() < 1e-4);
/// // The mean of a target is above the limit by E[max(ε, 0)] = 1/√(2π).
/// let mean = likelihood.predict(function).mean.into_scalar::<f64>();
/// assert!((mean - 1.3989).abs() < 1e-4, "{mean}");
/// ```
#[derive(Module, Debug)]
pub struct Censored {
    noise: Positive,
    #[module(skip)]
    limits: Limits,
}

defaults! {
    /// Configuration of a [`Censored`] likelihood. At least one limit is needed.
    #[serde(deny_unknown_fields)]
    pub struct CensoredConfig {
        /// The initial value of the noise variance, in squared units of the targets that the model gets.
        pub noise: f64 = 0.1,
        /// The limit below which targets are censored, in the units of the data.
        pub lower: Option<f64> = Some(0.0),
        /// The limit above which targets are censored, in the units of the data.
        pub upper: Option<f64> = None,
        /// The shift of each standardized output, or of all: models get `(y − shift)/scale`. Empty if targets are
        /// not standardized. Training sets it.
        pub shifts: Vec<f64> = Vec::new(),
        /// The scale of each standardized output, or of all.
        pub scales: Vec<f64> = Vec::new(),
    }
}

register!(
    Likelihood,
    "censored",
    CensoredConfig,
    "Real numbers that are cut off at a lower or an upper limit"
);

impl LikelihoodDefinition for CensoredConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.noise = noise;
    }

    fn set_units(&mut self, shifts: &[f64], scales: &[f64]) {
        (self.shifts, self.scales) = (shifts.to_vec(), scales.to_vec());
    }

    fn noise(&self) -> Option<(&'static str, i64)> {
        Some(("noise", 2))
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::check_positive("likelihood.noise", self.noise)?;
        self.check_limits()
    }
}

impl CensoredConfig {
    fn check_limits(&self) -> Result<(), ParameterError> {
        Limits::check((self.lower, self.upper), (&self.shifts, &self.scales))
    }

    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If the noise variance is not positive, there is no limit, the limits are not finite or not in order, or shifts
    /// and scales are not finite, not positive scales or not of the same number.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Censored {
        if let Err(error) = self.check_limits() {
            panic!("a censored likelihood: {error}");
        }
        Censored {
            noise: Positive::new(&[self.noise], options),
            limits: Limits::new((self.lower, self.upper), (&self.shifts, &self.scales)),
        }
    }
}

/// A limit of all outputs, `[…, P]`, and the targets at it.
struct AtLimit<const D: usize> {
    limit: Tensor<D>,
    is_there: Tensor<D, Bool>,
    /// `log s`
    log_scale: Tensor<D>,
    /// One for the upper limit, −1 for the lower one.
    side: f64,
}

impl<const D: usize> AtLimit<D> {
    /// `log Φ` of the distance of the function beyond the limit in standard deviations.
    fn log_probability(&self, function: Tensor<D>, deviation: Tensor<D>) -> Tensor<D> {
        let beyond = (function - self.limit.clone()) * self.side;
        log_normal_cdf(beyond / deviation) + self.log_scale.clone()
    }
}

impl Censored {
    /// The noise variance σ², `[1]`, or `[P]` if each output has its own.
    pub fn noise(&self) -> Tensor<1> {
        self.noise.value()
    }

    /// The limits that exist, with the targets at them.
    fn at_limits<const D: usize>(&self, targets: &Tensor<2>) -> Vec<AtLimit<D>> {
        let tolerance = Limits::tolerance(targets.dtype());
        let values: Tensor<D> = targets.clone().unsqueeze();
        let sides = [(&self.limits.lower, -1.0), (&self.limits.upper, 1.0)];
        let existing = sides
            .into_iter()
            .filter_map(|(limits, side)| Some((limits.as_ref()?, side)));
        let at_limit = |(limits, side): (&Vec<f64>, f64)| {
            // Rounding may put a target on either side.
            let almost: Vec<f64> = (limits.iter())
                .map(|limit| limit - side * tolerance * limit.abs())
                .collect();
            let beyond = (values.clone() - row(&almost, targets)) * side;
            AtLimit {
                limit: row(limits, targets),
                is_there: beyond.greater_equal_elem(0.0),
                log_scale: row(&self.limits.log_scales, targets),
                side,
            }
        };
        existing.map(at_limit).collect()
    }

    /// `inside` for targets between the limits, and `at_limit` for those at a limit.
    fn combined<const D: usize>(
        &self,
        targets: &Tensor<2>,
        inside: Tensor<D>,
        at_limit: impl Fn(&AtLimit<D>) -> Tensor<D>,
    ) -> Tensor<D> {
        let limits = self.at_limits::<D>(targets);
        limits.into_iter().fold(inside, |density, limit| {
            let shape = density.dims();
            let own = at_limit(&limit).expand(shape);
            density.mask_where(limit.is_there.expand(shape), own)
        })
    }

    /// The mean and variance of targets whose uncensored values are normal.
    fn moments<const D: usize>(
        &self,
        mean: Tensor<D>,
        variance: Tensor<D>,
    ) -> (Tensor<D>, Tensor<D>) {
        let tensor = |limits: &Option<Vec<f64>>| Some(row(limits.as_ref()?, &mean));
        let limits = (tensor(&self.limits.lower), tensor(&self.limits.upper));
        moments(mean, variance.sqrt(), limits)
    }
}

impl Likelihood for Censored {
    fn description(&self) -> LikelihoodDescription {
        let (range, stated) = (self.limits.range(), self.limits.stated);
        LikelihoodDescription::new("censored").with_range(range, stated)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let noise = self.noise().unsqueeze::<3>();
        let error = targets.clone().unsqueeze::<3>() - function.clone();
        let inside = log_normal(error, noise.clone());
        self.combined(&targets, inside, |limit| {
            limit.log_probability(function.clone(), noise.clone().sqrt())
        })
    }

    /// In closed form between the limits, and by quadrature with nodes around the limit for targets at one.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let noise = self.noise().unsqueeze::<2>();
        let error = targets.clone() - marginals.mean.clone();
        let relative = marginals.variance.clone() / noise.clone();
        let inside = log_normal(error, noise.clone()) - relative * 0.5;
        sum_outputs(self.combined(&targets, inside, |limit| {
            let place = limit.limit.clone();
            let expected =
                expected_log_probability_beyond(&marginals, place, limit.side, noise.clone());
            expected + limit.log_scale.clone()
        }))
    }

    /// In closed form, with the variance `σ_n² + σ²`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        let variance = variance + self.noise().unsqueeze::<2>();
        let inside = log_normal(targets.clone() - mean.clone(), variance.clone());
        sum_outputs(self.combined(&targets, inside, |limit| {
            limit.log_probability(mean.clone(), variance.clone().sqrt())
        }))
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        Some(QuadratureCenter {
            center: targets.clone(),
            width: targets.zeros_like() + self.noise().sqrt().unsqueeze::<2>(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let noise = self.noise().unsqueeze::<3>().expand(function.dims());
        self.moments(function, noise)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let noise = self.noise.to_vec();
        draw(function, 1, |f, output| {
            let standard: f64 = StandardNormal.sample(random);
            let value = f[0] + of_output(&noise, output).sqrt() * standard;
            let (lower, upper) = self.limits.of_output(output);
            value.max(lower).min(upper)
        })
    }

    /// In closed form.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let variance = marginals.variance + self.noise().unsqueeze::<2>();
        let (mean, variance) = self.moments(marginals.mean, variance);
        Marginals { mean, variance }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(CensoredTarget {
            noise: of_all_outputs(&self.noise.to_vec())?,
            limits: self.limits.of_all_outputs()?,
        }))
    }
}
