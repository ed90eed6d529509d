//! The Weibull likelihood.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    Likelihood, LikelihoodDescription, QuadratureCenter, TargetDistribution,
    distributions::WeibullTarget,
    likelihood::{draw, of_all_outputs, of_output, sum_outputs},
    log_link,
    one_parameter::one_parameter,
};
use crate::{
    ops::{exp_minus_one, log_gamma, special::functions},
    parameter::{Positive, defaults},
    process::Marginals,
    register,
};

/// Lifetimes with mean `exp(f)` and a trained shape k, whose hazard falls (k < 1), is constant (k = 1) or rises
/// (k > 1) with age. The scale is `λ = e^f/Γ(1 + 1/k)`:
/// `p(y | f) = k/y·(y/λ)^k·exp(−(y/λ)^k)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Likelihood, Weibull, WeibullConfig};
///
/// let device = Device::default();
/// let likelihood: Weibull = WeibullConfig { shape: 1.0 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[2.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // With shape 1 it is the exponential distribution.
/// assert!((density + 2.0).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct Weibull {
    shape: Positive,
}

defaults! {
    /// Configuration of a [`Weibull`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct WeibullConfig {
        /// The initial value of the shape k.
        pub shape: f64 = 1.5,
    }
}

register!(
    Likelihood,
    "weibull",
    WeibullConfig,
    "Positive numbers: lifetimes"
);

one_parameter!(WeibullConfig, PositiveNumbers => Weibull {
    /// The shape k, `[1]`, or `[P]` if each output has its own.
    shape: Positive
});

impl Weibull {
    /// `log Γ(1 + 1/k)`, `[1]`: how far the logarithm of the mean is above that of the scale.
    fn log_mean_of_unit_scale(&self) -> Tensor<1> {
        log_gamma(self.shape().recip() + 1.0)
    }

    /// `E[y²]/E[y]² − 1 = Γ(1 + 2/k)/Γ(1 + 1/k)² − 1` given the function, `[1]`.
    fn relative_variance(&self) -> Tensor<1> {
        let second = log_gamma(self.shape().recip() * 2.0 + 1.0);
        exp_minus_one(second - self.log_mean_of_unit_scale() * 2.0)
    }

    /// With `d = k·(log y − f + log Γ(1 + 1/k))`, which is `k·log(y/λ)`:
    /// `log k − log y + d − e^{d+a} = log k − log y − 1 − (e^{d+a} − 1 − d)`.
    fn log_density_of<const D: usize>(
        &self,
        targets: Tensor<D>,
        function: Tensor<D>,
        addend: Option<Tensor<D>>,
    ) -> Tensor<D> {
        let shape = self.shape();
        let (log, offset) = (targets.log(), self.log_mean_of_unit_scale());
        let difference =
            (log.clone() - function + offset.unsqueeze::<D>()) * shape.clone().unsqueeze::<D>();
        let constant = (shape.log() - 1.0).unsqueeze::<D>();
        constant - log - log_link::excess(difference, addend)
    }
}

impl Likelihood for Weibull {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("weibull")
            .with_targets("positive numbers", |_, value| value > 0.0)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        self.log_density_of(targets.unsqueeze(), function, None)
    }

    /// Where `λ = y`. The density falls off over a distance of `1/k`.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let log = targets.clone().log();
        Some(QuadratureCenter {
            width: log.zeros_like() + self.shape().recip().unsqueeze::<2>(),
            center: log + self.log_mean_of_unit_scale().unsqueeze::<2>(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = function.exp();
        let variance = mean.clone().square() * self.relative_variance().unsqueeze::<3>();
        (mean, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let shape = self.shape.to_vec();
        draw(function, 1, |f, output| {
            let shape = of_output(&shape, output);
            let offset = functions::log_gamma(1.0 + shape.recip()).0;
            let values = rand_distr::Weibull::new((f[0] - offset).exp(), shape);
            values.map_or(f[0].exp(), |values| values.sample(random))
        })
    }

    /// The log density with `E[e^{−kf}] = exp(−kμ + k²σ²/2)`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        let addend = variance * self.shape().square().unsqueeze::<2>() * 0.5;
        sum_outputs(self.log_density_of(targets, mean, Some(addend)))
    }

    /// The mean is `exp(μ + σ²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        let square = self.relative_variance().unsqueeze::<2>();
        log_link::predict(marginals, 0.0, Some(square))
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let shape = of_all_outputs(&self.shape.to_vec())?;
        Some(Arc::new(WeibullTarget { shape }))
    }
}
