//! The gamma likelihood.

use std::sync::Arc;

use burn::{module::Module, tensor::Tensor};
use rand::Rng;
use rand_distr::Distribution;

use super::{
    Likelihood, LikelihoodDescription, QuadratureCenter, TargetDistribution,
    distributions::GammaTarget,
    likelihood::{draw, of_all_outputs, of_output, sum_outputs},
    log_link,
    one_parameter::one_parameter,
};
use crate::{
    parameter::{Positive, defaults},
    process::Marginals,
    register,
};

/// Positive numbers with mean `exp(f)` and a trained shape k:
/// `p(y | f) = k^k·y^{k−1}·exp(−k·f − k·y·e^{−f})/Γ(k)`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{Gamma, GammaConfig, Likelihood};
///
/// let device = Device::default();
/// let likelihood: Gamma = GammaConfig { shape: 1.0 }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[2.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// // With shape 1 it is the exponential distribution.
/// assert!((density + 2.0).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct Gamma {
    shape: Positive,
}

defaults! {
    /// Configuration of a [`Gamma`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct GammaConfig {
        /// The initial value of the shape k.
        pub shape: f64 = 2.0,
    }
}

register!(Likelihood, "gamma", GammaConfig, "Positive numbers");

one_parameter!(GammaConfig, PositiveNumbers => Gamma {
    /// The shape k, `[1]`, or `[P]` if each output has its own.
    shape: Positive
});

impl Gamma {
    /// `k·log k − log Γ(k) + (k − 1)·log y − k·(f + y·e^{a−f})`, rearranged to avoid large numbers
    /// that cancel: with `d = log y − f` it is
    /// `−k·(e^{d+a} − 1 − d) − log y − (log Γ(k) − k·log k + k)`.
    fn log_density_of<const D: usize>(
        &self,
        targets: Tensor<D>,
        function: Tensor<D>,
        addend: Option<Tensor<D>>,
    ) -> Tensor<D> {
        let shape = self.shape();
        let constant = log_link::log_gamma_beyond_powers(shape.clone()).unsqueeze::<D>();
        let log = targets.log();
        let excess = log_link::excess(log.clone() - function, addend);
        (excess * shape.unsqueeze::<D>() + log + constant).neg()
    }
}

impl Likelihood for Gamma {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("gamma").with_targets("positive numbers", |_, value| value > 0.0)
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        self.log_density_of(targets.unsqueeze(), function, None)
    }

    /// Below `log y` the density falls off over a distance of `1/√k`. For a small shape it stays
    /// almost constant there and falls off only below `log(k·y)`.
    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        let shape = self.shape().unsqueeze::<2>();
        let log = targets.clone().log();
        let width = shape.clone().sqrt().recip().clamp_max(1.0);
        Some(QuadratureCenter {
            width: log.zeros_like() + width,
            center: log + shape.log().clamp_max(0.0),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let mean = function.exp();
        let variance = mean.clone().square() / self.shape().unsqueeze::<3>();
        (mean, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let shape = self.shape.to_vec();
        draw(function, 1, |f, output| {
            let shape = of_output(&shape, output);
            let mean = f[0].exp();
            let values = rand_distr::Gamma::new(shape, mean / shape);
            values.map_or(mean, |values| values.sample(random))
        })
    }

    /// The log density with `E[e^{−f}] = exp(−μ + σ²/2)`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let Marginals { mean, variance } = marginals;
        sum_outputs(self.log_density_of(targets, mean, Some(variance * 0.5)))
    }

    /// The mean is `exp(μ + σ²/2)`.
    fn predict(&self, marginals: Marginals) -> Marginals {
        log_link::predict(marginals, 0.0, Some(self.shape().recip().unsqueeze::<2>()))
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        let shape = of_all_outputs(&self.shape.to_vec())?;
        Some(Arc::new(GammaTarget { shape }))
    }
}
