//! Poisson counts beyond a hurdle.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use cdflib::special::try_gamma_inc;
use rand::{Rng, RngExt};

use super::{
    GradedNodes, Likelihood, LikelihoodDescription, Poisson, QuadratureCenter, Support,
    TargetDistribution,
    distributions::{PoissonTarget, expectation_of_decreasing},
    graded_nodes::NODES,
    likelihood::{draw, of_all_outputs, of_output, sum_outputs},
    one_parameter::one_parameter,
    poisson::{draw_count, is_count, is_zero, positive},
};
use crate::{
    ops::{exp_minus_one, log_one_minus_exp},
    parameter::{Fraction, defaults},
    process::Marginals,
    register,
};

/// Below this log rate, `log(1 − e^{−λ}) = log λ − λ/2` in any precision.
const SMALLEST_LOG_RATE: f64 = -18.0;

/// Above this log rate, a count of zero has no probability in any precision.
const LARGEST_LOG_RATE: f64 = 4.0;

/// Counts whose zeros have causes of their own: zero with a trained probability π, else a count above zero with rate
/// `λ = exp(f)`. `p(0 | f) = π`, and `p(y | f) = (1 − π)·λ^y·e^{−λ}/(y!·(1 − e^{−λ}))` above zero
/// (J. Mullahy, *Specification and testing of some modified count data models*, 1986). There may be more or fewer zeros
/// than a Poisson distribution has; they say nothing about f.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{HurdlePoisson, HurdlePoissonConfig, Likelihood};
///
/// let device = Device::default();
/// let likelihood: HurdlePoisson = HurdlePoissonConfig { zeros: 0.25 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[0.0]], &device), Tensor::<3>::from_data([[[3.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// assert!((density - 0.25_f64.ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct HurdlePoisson {
    zeros: Fraction,
}

defaults! {
    /// Configuration of a [`HurdlePoisson`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct HurdlePoissonConfig {
        /// The initial probability π of a zero.
        pub zeros: f64 = 0.3,
    }
}

register!(
    Likelihood,
    "hurdle-poisson",
    HurdlePoissonConfig,
    "Counts whose zeros have a probability of their own"
);

one_parameter!(HurdlePoissonConfig, Counts => HurdlePoisson {
    /// The probability π of a zero, `[1]`, or `[P]` if each output has its own.
    zeros: Fraction
});

/// `log(1 − e^{−λ})`, the log probability of a Poisson count above zero.
fn log_above_zero<const D: usize>(function: Tensor<D>) -> Tensor<D> {
    let is_small = function.clone().lower_elem(SMALLEST_LOG_RATE);
    let small = function.clone() - function.clone().clamp_max(SMALLEST_LOG_RATE).exp() * 0.5;
    let rate = function.clamp(SMALLEST_LOG_RATE, LARGEST_LOG_RATE).exp();
    log_one_minus_exp(rate.neg()).mask_where(is_small, small)
}

/// `λ/(e^λ − 1)`, by which the mean of counts above zero exceeds the rate.
fn excess_of_mean<const D: usize>(function: Tensor<D>) -> Tensor<D> {
    // Outside, it is 1 or 0 up to rounding.
    let rate = function
        .clamp(2.0 * SMALLEST_LOG_RATE, LARGEST_LOG_RATE)
        .exp();
    rate.clone() / exp_minus_one(rate)
}

/// Nodes around the log rates at which counts of zero become improbable.
fn nodes(marginals: &Marginals) -> GradedNodes {
    let kink = QuadratureCenter {
        center: marginals.mean.zeros_like(),
        width: marginals.mean.ones_like(),
    };
    GradedNodes::around(marginals, kink, NODES)
}

impl HurdlePoisson {
    /// `log π` for zeros and `log(1 − π)` for other counts, `[…, P]`.
    fn log_hurdle<const D: usize>(&self, is_zero: Tensor<D>) -> Tensor<D> {
        let zeros = self.zeros();
        let log_rest = (zeros.clone().neg() + 1.0).log().unsqueeze::<D>();
        (zeros.log().unsqueeze::<D>() - log_rest.clone()) * is_zero + log_rest
    }
}

impl Likelihood for HurdlePoisson {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("hurdle-poisson")
            .with_targets("counts: 0, 1, 2, ...", |_, value| is_count(value))
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let is_zero = is_zero(targets.clone()).unsqueeze::<3>();
        let is_positive = is_zero.clone().neg() + 1.0;
        // A rate that overflows must not reach the zeros as 0·∞.
        let function = function * is_positive.clone();
        let counts = Poisson::default().log_density(positive(targets), function.clone());
        (counts - log_above_zero(function)) * is_positive + self.log_hurdle(is_zero)
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        Poisson::default().peak(targets)
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let zeros = self.zeros().unsqueeze::<3>();
        let rest = zeros.clone().neg() + 1.0;
        let excess = excess_of_mean(function.clone());
        let above = function.exp() + excess.clone();
        // (1 − π)·m·(1 + λ − (1 − π)·m) with the mean m of counts above zero
        let variance = (above.clone() * zeros - excess + 1.0) * above.clone() * rest.clone();
        (above * rest, variance)
    }

    /// The remaining events after the first one in a time λ, if there is one.
    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let zeros = self.zeros.to_vec();
        draw(function, 1, |f, output| {
            if random.random_bool(of_output(&zeros, output)) {
                return 0.0;
            }
            let (rate, uniform) = (f[0].exp(), random.random::<f64>());
            let first = -(uniform * (-rate).exp_m1()).ln_1p();
            1.0 + draw_count((rate - first).max(0.0), random)
        })
    }

    /// The closed form of [`Poisson`], and quadrature for `E[log(1 − e^{−λ})]`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let is_zero = is_zero(targets.clone());
        let is_positive = is_zero.clone().neg() + 1.0;
        let masked = Marginals {
            mean: marginals.mean * is_positive.clone(),
            variance: marginals.variance * is_positive.clone(),
        };
        let above = nodes(&masked).expectation(masked.clone(), log_above_zero);
        let counts = Poisson::expected(positive(targets), masked) - above;
        sum_outputs(counts * is_positive + self.log_hurdle(is_zero))
    }

    /// With `t = λ/(e^λ − 1)`, the mean is `(1 − π)·(E[λ] + E[t])`, and the variance is `(1 − π)` times
    /// `E[λ] + E[λ·t] + E[t] + E[λ]²·(e^{σ²} − 1 + π) − (1 − π)·(2·E[λ]·E[t] + E[t]²)`. Expectations with t are found by
    /// quadrature.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let zeros = self.zeros().unsqueeze::<2>();
        let rest = zeros.clone().neg() + 1.0;
        let nodes = nodes(&marginals);
        let excess = nodes.expectation(marginals.clone(), excess_of_mean);
        let product = nodes.expectation(marginals.clone(), |function| {
            let rate = function.clone().clamp_max(LARGEST_LOG_RATE).exp();
            excess_of_mean(function) * rate
        });
        let growth = exp_minus_one(marginals.variance.clone()) + zeros;
        let rate = (marginals.variance * 0.5 + marginals.mean).exp();
        let mean = (rate.clone() + excess.clone()) * rest.clone();
        let cross = (rate.clone() * 2.0 + excess.clone()) * excess.clone() * rest.clone();
        // Multiply in this order: the square of the rate alone may overflow.
        let square = growth * rate.clone() * rate.clone();
        Marginals {
            mean,
            variance: (rate + product + excess - cross + square) * rest,
        }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let zeros = of_all_outputs(&self.zeros.to_vec())?;
        Some(Arc::new(HurdlePoissonTarget { zeros }))
    }
}

/// Zero with probability π, else a Poisson count above zero.
#[derive(Clone, Debug)]
struct HurdlePoissonTarget {
    /// The probability π of a zero.
    zeros: f64,
}

impl TargetDistribution for HurdlePoissonTarget {
    fn support(&self) -> Support {
        Support::Counts
    }

    /// `π + (1 − π)·E[1 − P(count > t)/P(count > 0)]`. Counts above zero increase with their rate.
    fn cdf(&self, target: f64, mean: &[f64], variance: &[f64]) -> f64 {
        let target = target.floor();
        if target < 0.0 {
            return 0.0;
        }
        if target < 1.0 {
            return self.zeros + 0.0 * (mean[0] + variance[0]);
        }
        let above = expectation_of_decreasing(mean[0], variance[0], |f| {
            let rate = f.exp();
            let beyond = try_gamma_inc(target + 1.0, rate).map_or(f64::NAN, |(beyond, _)| beyond);
            match rate > 0.0 {
                true => 1.0 + beyond / (-rate).exp_m1(),
                false => 1.0,
            }
        });
        self.zeros + (1.0 - self.zeros) * above
    }

    fn location_and_scale(&self, mean: &[f64], variance: &[f64]) -> (f64, f64) {
        PoissonTarget.location_and_scale(mean, variance)
    }
}
