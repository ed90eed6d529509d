//! The Poisson likelihood.

use std::sync::Arc;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::Distribution;

use serde::{Deserialize, Serialize};

use super::{
    AnyLikelihood, Likelihood, LikelihoodConfig, LikelihoodDefinition, LikelihoodDescription,
    QuadratureCenter, TargetDistribution, TargetKind,
    distributions::PoissonTarget,
    likelihood::{draw, sum_outputs},
    log_link,
};
use crate::{process::Marginals, register};

/// Counts with rate `exp(f)`: `p(y | f) = exp(y·f − e^f)/y!`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, Poisson};
///
/// let device = Device::default();
/// let likelihood = Poisson::default();
/// let (y, f) = (Tensor::<2>::from_data([[2.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // A count of 2 with mean 1.
/// assert!((density + 1.0 + 2.0_f64.ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug, Default)]
pub struct Poisson {}

/// Replaces zeros by ones.
pub(super) fn positive<const D: usize>(counts: Tensor<D>) -> Tensor<D> {
    counts.clamp_min(1.0)
}

/// One for a count of zero, otherwise zero.
pub(super) fn is_zero<const D: usize>(counts: Tensor<D>) -> Tensor<D> {
    (counts.neg() + 1.0).clamp_min(0.0)
}

/// `log y! − y·log y + y`; zero for a count of zero.
pub(super) fn log_factorial_beyond_powers<const D: usize>(counts: Tensor<D>) -> Tensor<D> {
    let positive = positive(counts.clone());
    // log y! = log Γ(y) + log y
    let some = log_link::log_gamma_beyond_powers(positive.clone()) + positive.log();
    some * (is_zero(counts).neg() + 1.0)
}

impl Poisson {
    /// `y·f − e^{f+a} − log y!`, rearranged to avoid large numbers that cancel: with
    /// `d = f − log y` it is `−y·(e^{d+a} − 1 − d) − (log y! − y·log y + y)` for positive counts,
    /// and `−e^{f+a}` for zero.
    fn log_density_of<const D: usize>(
        targets: Tensor<D>,
        function: Tensor<D>,
        addend: Option<Tensor<D>>,
    ) -> Tensor<D> {
        let counts = positive(targets.clone());
        let excess = log_link::excess(function.clone() - counts.clone().log(), addend);
        let none = (function + 1.0) * is_zero(targets.clone());
        (excess * counts + none + log_factorial_beyond_powers(targets)).neg()
    }

    /// `y·μ − exp(μ + σ²/2) − log y!` for each output, `[N, P]`.
    pub(super) fn expected(targets: Tensor<2>, marginals: Marginals) -> Tensor<2> {
        let Marginals { mean, variance } = marginals;
        Self::log_density_of(targets, mean, Some(variance * 0.5))
    }
}

/// Draws a count with the given rate. Returns the rate itself if it is zero or too large to draw
/// from.
pub(super) fn draw_count(rate: f64, random: &mut dyn Rng) -> f64 {
    rand_distr::Poisson::new(rate).map_or(rate, |counts| counts.sample(random))
}

/// Whether a number is a count.
pub(super) fn is_count(value: f64) -> bool {
    value >= 0.0 && value.fract() == 0.0
}

/// Configuration of a [`Poisson`] likelihood.
///
/// ```
/// use burn_gp_core::likelihoods::{PoissonConfig, LikelihoodConfig};
///
/// assert_eq!(LikelihoodConfig::from(PoissonConfig {}), LikelihoodConfig::poisson());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoissonConfig {}

register!(Likelihood, "poisson", PoissonConfig, "Counts");

impl LikelihoodDefinition for PoissonConfig {
    fn init(&self, _options: TensorCreationOptions) -> AnyLikelihood {
        Poisson {}.into()
    }

    fn target(&self) -> TargetKind {
        TargetKind::Counts
    }
}

impl LikelihoodConfig {
    /// A [`Poisson`] likelihood.
    pub fn poisson() -> Self {
        PoissonConfig {}.into()
    }
}

impl Likelihood for Poisson {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("poisson")
            .with_targets("counts: 0, 1, 2, ...", |_, value| is_count(value))
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        Self::log_density_of(targets.unsqueeze(), function, None)
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let counts = positive(targets.clone());
        Some(QuadratureCenter {
            center: counts.clone().log(),
            width: counts.sqrt().recip(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let rate = function.exp();
        (rate.clone(), rate)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        draw(function, 1, |f, _| draw_count(f[0].exp(), random))
    }

    /// `y·μ − exp(μ + σ²/2) − log y!`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        sum_outputs(Self::expected(targets, marginals))
    }

    /// The mean is `exp(μ + σ²/2)`; the variance is the mean plus the variance of the rate.
    fn predict(&self, marginals: Marginals) -> Marginals {
        log_link::predict(marginals, 1.0, None)
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(PoissonTarget))
    }
}
