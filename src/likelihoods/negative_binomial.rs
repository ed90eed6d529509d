//! The negative binomial likelihood.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    Likelihood, LikelihoodDescription, QuadratureCenter, TargetDistribution,
    distributions::NegativeBinomialTarget,
    likelihood::{draw, of_all_outputs, of_output},
    log_link,
    one_parameter::one_parameter,
    poisson::{draw_count, is_count, is_zero, log_factorial_beyond_powers, positive},
};
use crate::{
    ops::{log_ratio, softplus, stirling_remainder},
    parameter::{Positive, defaults},
    process::Marginals,
    register,
};

/// Counts with mean `m = exp(f)` and variance `m + α·m²`, with a trained dispersion α: with
/// `r = 1/α`, `p(y | f) = Γ(y + r)/(Γ(r)·y!)·(r/(r + m))^r·(m/(r + m))^y`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, NegativeBinomial, NegativeBinomialConfig};
///
/// let device = Device::default();
/// let likelihood: NegativeBinomial = NegativeBinomialConfig { dispersion: 1.0 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[0.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // With dispersion 1 and mean 1 it is geometric: no event with probability one half.
/// assert!((density - 0.5_f64.ln()).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct NegativeBinomial {
    dispersion: Positive,
}

defaults! {
    /// Configuration of a [`NegativeBinomial`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct NegativeBinomialConfig {
        /// The initial value of the dispersion α.
        pub dispersion: f64 = 0.5,
    }
}

register!(
    Likelihood,
    "negative-binomial",
    NegativeBinomialConfig,
    "Counts that vary more than a Poisson distribution allows"
);

one_parameter!(NegativeBinomialConfig, Counts => NegativeBinomial {
    /// The dispersion α, `[1]`, or `[P]` if each output has its own.
    dispersion: Positive
});

impl NegativeBinomial {
    /// The terms that do not depend on `f`, `[N, P]`.
    fn log_constant(&self, targets: &Tensor<2>, size: Tensor<2>) -> Tensor<2> {
        let scaled = targets.clone() * self.dispersion().unsqueeze::<2>(); // α·y
        let ratio = log_ratio(scaled.clone()) * targets.clone(); // r·log(1 + α·y)
        let remainders =
            stirling_remainder(targets.clone() + size.clone()) - stirling_remainder(size);
        (targets.clone() - 0.5) * scaled.log1p() + ratio + remainders
            - log_factorial_beyond_powers(targets.clone())
    }

    /// `r·log(1 + eˣ)`, `x = f + log α`, computed as `e^f` times the log ratio for `x ≤ 0`.
    fn log_failure(&self, function: Tensor<3>, excess: Tensor<3>) -> Tensor<3> {
        let dispersion = self.dispersion().unsqueeze::<3>();
        let is_large = excess.clone().greater_elem(0.0);
        let large = softplus(excess.clone()) / dispersion.clone();
        let ratio = log_ratio(excess.clamp_max(0.0).exp());
        let bound = dispersion.log().neg().expand(function.dims());
        let small = function.min_pair(bound).exp() * ratio;
        small.mask_where(is_large, large)
    }
}

impl Likelihood for NegativeBinomial {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("negative-binomial")
            .with_targets("counts: 0, 1, 2, ...", |_, value| is_count(value))
    }

    /// With `x = f + log α` and R the remainder of Stirling's formula, `y·(f − log y) − y·log(1 +
    /// eˣ) − r·log(1 + eˣ) + (y + r − ½)·log(1 + α·y) + R(y + r) − R(r) − (log y! − y·log y + y)`.
    /// For a small α the log-gamma functions have large parts that cancel; this form omits them.
    /// [`log_ratio`](crate::ops::log_ratio) computes r times the logarithm of a number close to
    /// one.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let dispersion = self.dispersion();
        let size = dispersion.clone().recip().unsqueeze::<2>(); // r
        let constant = self.log_constant(&targets, size.clone());
        let excess = function.clone() + dispersion.clone().log().unsqueeze::<3>(); // x
        let counts = positive(targets.clone());
        // y·(f − log y) is zero for a count of zero.
        let log = counts.log() * (is_zero(targets.clone()).neg() + 1.0);
        let power = function.clone() - log.unsqueeze::<3>() - softplus(excess.clone());
        power * targets.unsqueeze::<3>() - self.log_failure(function, excess)
            + constant.unsqueeze::<3>()
    }

    /// Below `log y` the density falls off over a distance of `√(1/y + α)`. For a large dispersion
    /// it stays almost constant there and falls off only below `log(y/α)`.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let dispersion = self.dispersion().unsqueeze::<2>();
        let counts = positive(targets.clone());
        let width = (counts.clone().recip() + dispersion.clone()).sqrt();
        Some(QuadratureCenter {
            center: counts.log() - dispersion.log().clamp_min(0.0),
            width: width.clamp_max(1.0),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = function.exp();
        let dispersion = self.dispersion().unsqueeze::<3>();
        (mean.clone(), mean.clone().square() * dispersion + mean)
    }

    /// Draws a Poisson count whose rate has a gamma distribution.
    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let dispersion = self.dispersion.to_vec();
        draw(function, 1, |f, output| {
            let dispersion = of_output(&dispersion, output);
            let mean = f[0].exp();
            let rates = rand_distr::Gamma::new(1.0 / dispersion, mean * dispersion);
            let rate = rates.map_or(mean, |rates| rates.sample(random));
            draw_count(rate, random)
        })
    }

    /// The mean is `exp(μ + σ²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        log_link::predict(marginals, 1.0, Some(self.dispersion().unsqueeze::<2>()))
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let dispersion = of_all_outputs(&self.dispersion.to_vec())?;
        Some(Arc::new(NegativeBinomialTarget { dispersion }))
    }
}
