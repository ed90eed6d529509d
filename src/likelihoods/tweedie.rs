//! The Tweedie likelihood.

use std::sync::Arc;

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions, TensorData},
};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription, QuadratureCenter,
    TargetDistribution, TargetKind,
    distributions::TweedieTarget,
    likelihood::{draw, log_of_expected_density, of_all_outputs, of_output, sum_outputs},
    log_link,
    poisson::draw_count,
};
use crate::{
    ops::{log_ratio, stirling_remainder},
    parameter::{Fraction, ParameterError, Positive, defaults},
    process::Marginals,
    register,
};

/// Terms of the series on either side of the largest one.
const TERMS: usize = 64;

/// The terms reach this many standard deviations on either side, where they are below 10⁻¹⁵ of the largest.
const REACH: f64 = 10.0;

/// The logarithm of a term that is left out.
const NONE: f64 = -1e4;

/// The peak of a density is not wider than this: beyond, the density only changes with the exponential link.
const WIDEST_PEAK: f64 = 2.0;

/// Non-negative numbers that may be exactly zero, such as rainfall and insurance claims: with mean `m = exp(f)`,
/// variance `φ·m^p`, a trained dispersion φ and a trained power p between 1 and 2.
///
/// A target is the sum of a Poisson number of gamma variables. The number has the rate `λ = m^{2−p}/(φ(2 − p))`, and
/// each variable the shape `a = (2 − p)/(p − 1)` and the scale `θ = φ(p − 1)·m^{p−1}`. Therefore
/// `p(0 | f) = e^{−λ}`, and above zero
/// `p(y | f) = Σ_{n≥1} e^{−λ}·λⁿ/n!·Gamma(y; n·a, θ)`
/// (P. K. Dunn, G. K. Smyth, *Series evaluation of Tweedie exponential dispersion model densities*, 2005).
///
/// As p approaches 1, targets are φ times Poisson counts, and as it approaches 2, gamma variables. For p near 1 the
/// density has a peak for each number of gamma variables.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, Tweedie, TweedieConfig};
///
/// let device = Device::default();
/// let likelihood: Tweedie = TweedieConfig { dispersion: 0.5, power: 1.5 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[0.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // No event at a rate of 4.
/// assert!((density + 4.0).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct Tweedie {
    dispersion: Positive,
    /// p − 1.
    power_above_one: Fraction,
}

defaults! {
    /// Configuration of a [`Tweedie`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct TweedieConfig {
        /// The initial dispersion φ.
        pub dispersion: f64 = 1.0,
        /// The initial power p, between 1 and 2. The trained parameter `power_above_one` is p − 1.
        pub power: f64 = 1.5,
    }
}

register!(
    Likelihood,
    "tweedie",
    TweedieConfig,
    "Non-negative numbers with exact zeros: amounts of rain, claims"
);

impl LikelihoodDefinition for TweedieConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::PositiveNumbers
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::check_positive("likelihood.dispersion", self.dispersion)?;
        ParameterError::check_between("likelihood.power", self.power, (1.0, 2.0))
    }
}

impl TweedieConfig {
    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If the dispersion is not positive, or the power does not lie between 1 and 2.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> Tweedie {
        let options = options.into();
        Tweedie {
            dispersion: Positive::new(&[self.dispersion], options.clone()),
            power_above_one: Fraction::new(&[self.power - 1.0], options),
        }
    }
}

/// The parameters, `[…, P]`.
struct Parts<const D: usize> {
    log_dispersion: Tensor<D>,
    /// `q = p − 1`.
    above: Tensor<D>,
    /// `r = 2 − p`.
    below: Tensor<D>,
}

/// One for a target of zero, otherwise zero.
fn is_zero<const D: usize>(targets: &Tensor<D>) -> Tensor<D> {
    let one = targets.zeros_like() + 1.0;
    (targets.zeros_like()).mask_where(targets.clone().equal_elem(0.0), one)
}

impl Tweedie {
    /// The dispersion φ, `[1]`, or `[P]` if each output has its own.
    pub fn dispersion(&self) -> Tensor<1> {
        self.dispersion.value()
    }

    /// The power p, `[1]`, or `[P]` if each output has its own.
    pub fn power(&self) -> Tensor<1> {
        self.power_above_one.value() + 1.0
    }

    fn parts<const D: usize>(&self) -> Parts<D> {
        let above = self.power_above_one.value();
        Parts {
            log_dispersion: self.dispersion().log().unsqueeze(),
            below: (above.clone().neg() + 1.0).unsqueeze(),
            above: above.unsqueeze(),
        }
    }

    /// `log j = (2 − p)·log y − log φ(2 − p)`: the log rate of a function of `log y`, `[N, P]`.
    fn log_rate_at_target(&self, log: &Tensor<2>) -> Tensor<2> {
        let parts = self.parts::<2>();
        log.clone() * parts.below.clone() - parts.log_dispersion - parts.below.log()
    }

    /// The part of the log density that does not depend on the function, `[N, P]`; zero for a target of zero.
    ///
    /// With `P(x; m) = m^x·e^{−m}/Γ(x + 1)`, the n-th term of the density at `f = log y` is
    /// `P(n; j)·P(n·a; j·a)·n·a/y`, where j is the rate. By Stirling's formula with the remainder R, its logarithm is
    /// `−(1 + a)·(n·log(n/j) + j − n) − R(n) − R(n·a) + ½·log a − log 2π − log y`,
    /// without the large parts of the log-gamma functions, which cancel. The largest term is near `n = j`, and the
    /// terms fall off over `s = √(j/(1 + a))`. Where that is several terms, their sum is the integral over n, which
    /// the trapezoidal rule gives with a step of some terms, with an error of order `exp(−2π²·s²/step²)`. 129 nodes
    /// are therefore enough for any rate.
    fn series(&self, targets: Tensor<2>) -> Tensor<2> {
        let is_zero = is_zero(&targets);
        let log = (targets + is_zero.clone()).log();
        let parts = self.parts::<2>();
        let shape = parts.below / parts.above; // a
        let log_rate = self.log_rate_at_target(&log);
        let rate = log_rate.clone().exp();
        let (numbers, log_weights) = nodes(&rate, &shape); // [K, N, P]
        let rate = rate.unsqueeze::<3>();
        let shape = shape.unsqueeze::<3>();
        let gap = divergence(&numbers, rate, log_rate.unsqueeze());
        let remainders =
            stirling_remainder(numbers.clone()) + stirling_remainder(numbers * shape.clone());
        let exponent = log_weights - gap * (shape.clone() + 1.0) - remainders;
        let largest = exponent.clone().detach().max_dim(0);
        let sum =
            ((exponent - largest.clone()).exp().sum_dim(0).log() + largest).squeeze_dim::<2>(0);
        let constant = shape.log().squeeze_dim::<2>(0) * 0.5 - (2.0 * PI).ln();
        (sum + constant - log) * (is_zero.neg() + 1.0)
    }

    /// The part of the log density that depends on the function, `[…, P]`, with `E[e^{cf}]` for a function with this
    /// variance: `−λ` for a target of zero. For others it is minus half of the deviance,
    /// `−j·(e^{rd} − 1 − rd) − j·a·(e^{−qd} − 1 + qd)` with `d = f − log y`, `q = p − 1` and `r = 2 − p`, which
    /// vanishes to second order at `f = log y`.
    fn fit<const D: usize>(
        &self,
        targets: Tensor<D>,
        function: Tensor<D>,
        variance: Option<Tensor<D>>,
    ) -> Tensor<D> {
        let is_zero = is_zero(&targets);
        let is_positive = is_zero.clone().neg() + 1.0;
        let log = (targets + is_zero.clone()).log();
        let Parts {
            log_dispersion,
            above,
            below,
        } = self.parts::<D>();
        // The functions are masked, too: a rate that overflows must not reach other rows as 0·∞.
        let addend = |power: &Tensor<D>, mask: &Tensor<D>| {
            let half = |variance: Tensor<D>| variance * mask.clone() * power.clone().square() * 0.5;
            variance.clone().map(half)
        };
        let difference = (function.clone() - log.clone()) * is_positive.clone();
        let (rise, fall) = (
            difference.clone() * below.clone(),
            (difference * above.clone()).neg(),
        );
        let rise = log_link::excess(rise, addend(&below, &is_positive));
        let fall = log_link::excess(fall, addend(&above, &is_positive));
        let scale = (log * below.clone() - log_dispersion.clone()).exp(); // y^r/φ
        let deviance = (rise / below.clone() + fall / above) * scale;
        let exponent = function * is_zero.clone() * below.clone();
        let exponent = match addend(&below, &is_zero) {
            Some(addend) => exponent + addend,
            None => exponent,
        };
        let rate = (exponent - log_dispersion - below.log()).exp();
        (deviance * is_positive + rate * is_zero).neg()
    }
}

/// Real numbers around the largest term, and the logarithms of their weights in the sum over n, `[K, N, P]`: all whole
/// numbers in reach if these are few. They are constants to autodiff, as the sum does not depend on them.
fn nodes(rate: &Tensor<2>, shape: &Tensor<2>) -> (Tensor<3>, Tensor<3>) {
    let (rate, shape) = (rate.clone().detach(), shape.clone().detach());
    let deviation = (rate.clone() / (shape + 1.0)).sqrt();
    let step = (deviation * (REACH / TERMS as f64)).clamp_min(1.0);
    let whole = rate.clone().round().clamp_min(TERMS as f64 + 1.0);
    let is_wide = step.clone().greater_elem(1.0);
    let center = whole.mask_where(is_wide, rate).unsqueeze::<3>();
    let terms = TERMS as i64;
    let places: Vec<f64> = (-terms..=terms).map(|place| place as f64).collect();
    let data = TensorData::new(places, [2 * TERMS + 1, 1, 1]);
    let options = (&step.device(), step.dtype());
    let step = step.unsqueeze::<3>();
    let numbers = Tensor::<3>::from_data(data, options) * step.clone() + center;
    // Beside a wide step, a rate has negligible terms near zero.
    let is_outside = numbers.clone().lower_elem(1.0);
    let log_step = step.log().expand(numbers.dims());
    let log_weights = log_step.mask_fill(is_outside, NONE);
    (numbers.clamp_min(1.0), log_weights)
}

/// `n·log(n/j) + j − n`, `[K, N, P]`, for whole or real numbers n and rates j. Near j, `log(n/j)` is that of a sum of one
/// and a small number.
fn divergence(numbers: &Tensor<3>, rate: Tensor<3>, log_rate: Tensor<3>) -> Tensor<3> {
    let shape = numbers.dims();
    let is_small = rate.clone().lower_elem(1.0).expand(shape);
    let divisor = rate.clone().clamp_min(1.0);
    let relative = (numbers.clone() - divisor.clone()) / divisor;
    let near = log_ratio(relative.clone()) * relative;
    let far = numbers.clone().log() - log_rate;
    near.mask_where(is_small, far) * numbers.clone() + rate - numbers.clone()
}

impl Likelihood for Tweedie {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("tweedie")
            .with_targets("numbers from 0", |_, value| value >= 0.0)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let series = self.series(targets.clone()).unsqueeze::<3>();
        self.fit(targets.unsqueeze(), function, None) + series
    }

    /// Where the mean is y. The density falls off over a distance of `√(φ·y^{p−2})`. For zero, where the rate is one.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let is_zero = is_zero(targets);
        let is_positive = is_zero.clone().neg() + 1.0;
        let log = (targets.clone() + is_zero.clone()).log();
        let parts = self.parts::<2>();
        let width = (parts.log_dispersion.clone() - log.clone() * parts.below.clone()) * 0.5;
        let width = width.exp().clamp_max(WIDEST_PEAK);
        let width_of_zero = parts.below.clone().recip();
        let center_of_zero = (parts.log_dispersion + parts.below.clone().log()) / parts.below;
        Some(QuadratureCenter {
            center: log * is_positive.clone() + is_zero.clone() * center_of_zero,
            width: width * is_positive + is_zero * width_of_zero,
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let power = self.power().unsqueeze::<3>();
        let log_dispersion = self.dispersion().log().unsqueeze::<3>();
        let variance = (function.clone() * power + log_dispersion).exp();
        (function.exp(), variance)
    }

    /// The sum of a Poisson number of gamma variables, which is one gamma variable.
    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let (dispersions, above) = (self.dispersion.to_vec(), self.power_above_one.to_vec());
        draw(function, 1, |f, output| {
            let (dispersion, above) = (of_output(&dispersions, output), of_output(&above, output));
            let below = 1.0 - above;
            let number = draw_count((below * f[0]).exp() / (dispersion * below), random);
            let scale = dispersion * above * (above * f[0]).exp();
            let shape = number * below / above;
            let values = rand_distr::Gamma::new(shape, scale);
            // There is none for a number of zero.
            values.map_or(shape * scale, |values| values.sample(random))
        })
    }

    /// In closed form: the log density with `E[e^{cf}] = exp(cμ + c²σ²/2)`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        let series = self.series(targets.clone());
        sum_outputs(self.fit(targets, mean, Some(variance)) + series)
    }

    /// By quadrature. The series is computed once.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let (series, peak) = (self.series(targets.clone()), self.peak(&targets));
        let targets = targets.unsqueeze::<3>();
        let fit = |function| self.fit(targets.clone(), function, None);
        sum_outputs(log_of_expected_density(1, marginals, peak, fit) + series)
    }

    /// The mean is `exp(μ + σ²/2)`, and the variance that of `exp(f)` plus `φ·E[exp(pf)] = φ·exp(pμ + p²σ²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let power = self.power().unsqueeze::<2>();
        let half = marginals.variance.clone() * power.clone().square() * 0.5;
        let log_dispersion = self.dispersion().log().unsqueeze::<2>();
        let noise = (marginals.mean.clone() * power + half + log_dispersion).exp();
        let Marginals { mean, variance } = log_link::predict(marginals, 0.0, None);
        Marginals {
            mean,
            variance: variance + noise,
        }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(TweedieTarget {
            dispersion: of_all_outputs(&self.dispersion.to_vec())?,
            power_above_one: of_all_outputs(&self.power_above_one.to_vec())?,
        }))
    }
}
