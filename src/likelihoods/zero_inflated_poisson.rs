//! The Poisson likelihood with additional zeros.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::{Rng, RngExt};

use super::{
    GradedNodes, Likelihood, LikelihoodDescription, Poisson, QuadratureCenter, TargetDistribution,
    distributions::ZeroInflatedPoissonTarget,
    graded_nodes::NODES,
    likelihood::{draw, log_of_expected_density, of_all_outputs, of_output, sum_outputs},
    log_link,
    one_parameter::one_parameter,
    poisson::{draw_count, is_count, is_zero, positive},
};
use crate::{
    ops::softplus,
    parameter::{Fraction, defaults},
    process::Marginals,
    register,
};

/// A zero with a larger log rate is never drawn from the rate, in any precision.
const LARGEST_LOG_RATE: f64 = 20.0;

/// Counts with more zeros than a Poisson distribution has: zero with a trained probability π, else a count with rate
/// `λ = exp(f)`. `p(0 | f) = π + (1 − π)·e^{−λ}`, and `p(y | f) = (1 − π)·λ^y·e^{−λ}/y!` above zero
/// (D. Lambert, *Zero-inflated Poisson regression*, 1992).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, ZeroInflatedPoisson, ZeroInflatedPoissonConfig};
///
/// let device = Device::default();
/// let likelihood: ZeroInflatedPoisson = ZeroInflatedPoissonConfig { zeros: 0.5 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[0.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// assert!((density - (0.5 + 0.5 * (-1.0_f64).exp()).ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct ZeroInflatedPoisson {
    zeros: Fraction,
}

defaults! {
    /// Configuration of a [`ZeroInflatedPoisson`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct ZeroInflatedPoissonConfig {
        /// The initial probability π of an additional zero.
        pub zeros: f64 = 0.1,
    }
}

register!(
    Likelihood,
    "zero-inflated-poisson",
    ZeroInflatedPoissonConfig,
    "Counts with additional zeros"
);

one_parameter!(ZeroInflatedPoissonConfig, Counts => ZeroInflatedPoisson {
    /// The probability π of an additional zero, `[1]`, or `[P]` if each output has its own.
    zeros: Fraction
});

impl ZeroInflatedPoisson {
    /// `log(1 − π)`, `[…, P]`.
    fn log_rest<const D: usize>(&self) -> Tensor<D> {
        (self.zeros().neg() + 1.0).log().unsqueeze::<D>()
    }

    /// `log(π + (1 − π)·e^{−λ}) = log π + log(1 + e^{−λ − log π/(1 − π)})`, the log density of a zero.
    fn log_density_of_zero<const D: usize>(&self, function: Tensor<D>) -> Tensor<D> {
        let log = self.zeros().log().unsqueeze::<D>();
        let log_odds = log.clone() - self.log_rest();
        softplus((function.clamp_max(LARGEST_LOG_RATE).exp() + log_odds).neg()) + log
    }

    /// Where the rate alone explains a zero as well as the additional zeros do: `λ = −log π/(1 − π)`, if that is
    /// above 1. There the log density turns from `−λ` to `log π` while λ changes by 1.
    fn kink_of_zero(&self, like: &Tensor<2>) -> QuadratureCenter {
        let zeros = self.zeros().unsqueeze::<2>();
        let rate = ((zeros.clone().neg() + 1.0) / zeros).log().clamp_min(1.0);
        QuadratureCenter {
            center: like.zeros_like() + rate.clone().log(),
            width: like.zeros_like() + rate.recip(),
        }
    }
}

impl Likelihood for ZeroInflatedPoisson {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("zero-inflated-poisson")
            .with_targets("counts: 0, 1, 2, ...", |_, value| is_count(value))
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let is_zero = is_zero(targets.clone()).unsqueeze::<3>();
        let is_positive = is_zero.clone().neg() + 1.0;
        let zeros = self.log_density_of_zero(function.clone()) * is_zero;
        // The function is masked, too: a rate that overflows must not reach the zeros as 0·∞.
        let function = function * is_positive.clone();
        let counts = Poisson::default().log_density(positive(targets), function);
        zeros + (counts + self.log_rest()) * is_positive
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        Poisson::default().peak(targets)
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let zeros = self.zeros().unsqueeze::<3>();
        let rate = function.exp();
        let mean = rate.clone() * (zeros.clone().neg() + 1.0);
        let variance = (rate * zeros + 1.0) * mean.clone(); // (1 − π)·λ·(1 + π·λ)
        (mean, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let zeros = self.zeros.to_vec();
        draw(function, 1, |f, output| {
            match random.random_bool(of_output(&zeros, output)) {
                true => 0.0,
                false => draw_count(f[0].exp(), random),
            }
        })
    }

    /// The closed form of [`Poisson`] for positive counts, quadrature for zeros.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let is_zero = is_zero(targets.clone());
        let is_positive = is_zero.clone().neg() + 1.0;
        let nodes = GradedNodes::around(&marginals, self.kink_of_zero(&targets), NODES);
        let zeros = nodes.expectation(marginals.clone(), |function| {
            self.log_density_of_zero(function)
        });
        let masked = Marginals {
            mean: marginals.mean * is_positive.clone(),
            variance: marginals.variance * is_positive.clone(),
        };
        let counts = Poisson::expected(positive(targets), masked) + self.log_rest();
        sum_outputs(zeros * is_zero + counts * is_positive)
    }

    /// `log(π·[y = 0] + (1 − π)·p)` with the predictive density p of [`Poisson`].
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let (counts, is_zero) = (Poisson::default(), is_zero(targets.clone()));
        let log_density = |function| counts.log_density(targets.clone(), function);
        let peak = counts.peak(&targets);
        let count = log_of_expected_density(1, marginals, peak, log_density) + self.log_rest();
        let log = self.zeros().log().unsqueeze::<2>();
        let zero = softplus(count.clone() - log.clone()) + log; // log(π + eᶜ)
        let difference = (zero - count.clone()) * is_zero;
        sum_outputs(count + difference)
    }

    /// The mean is `(1 − π)·exp(μ + σ²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let zeros = self.zeros().unsqueeze::<2>();
        let odds = zeros.clone() / (zeros.neg() + 1.0);
        let scaled = Marginals {
            mean: marginals.mean + self.log_rest(),
            variance: marginals.variance,
        };
        // Given f, the mean m = (1 − π)·λ has the variance m + m²·π/(1 − π).
        log_link::predict(scaled, 1.0, Some(odds))
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let zeros = of_all_outputs(&self.zeros.to_vec())?;
        Some(Arc::new(ZeroInflatedPoissonTarget { zeros }))
    }
}
