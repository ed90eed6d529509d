//! Pieces that this crate registers: each computes what one of the library computes.

use burn::{
    module::{Module, Param},
    nn,
    tensor::{Tensor, TensorCreationOptions},
};
use burn_gp_core::{
    features::{AnyNetwork, Features, NetworkDefinition, ResidualNetworkConfig},
    inducing::AnyInducing,
    kernels::{Kernel, Kernels},
    likelihoods::{AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription},
    means::{AnyMean, Mean, MeanDefinition},
    ops::{Jitter, NotPositiveDefinite},
    parameter::Positive,
    process::{CovarianceShape, SamplePaths, VariationalGaussian},
    variational::{
        AnyPosterior, Evaluation, InducingGaussians, Parameterization, Posterior,
        PosteriorDefinition, PosteriorInit, Unwhitened,
    },
};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

burn_gp_core::kernel! {
    /// `k(x, x′) = v·exp(−‖x − x′‖²/(2ℓ²))`.
    pub struct Bump, BumpConfig = "bump", "Bumps" {
        lengthscale = 1.0,
        variance = 1.0 => Variance,
    }
}

impl Kernel for Bump {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let difference = x1.unsqueeze_dim::<4>(2) - x2.unsqueeze_dim::<4>(1); // [B, N1, N2, D]
        let scaled = difference / self.lengthscale.value().unsqueeze();
        let squares = scaled.square().sum_dim(3).squeeze_dim::<3>(3);
        (squares * -0.5).exp() * self.variance.value().unsqueeze()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        let [batch, rows, _] = x.dims();
        self.variance.value().unsqueeze::<2>().expand([batch, rows])
    }
}

/// `y = f + ε` with normal noise, by quadrature.
#[derive(Module, Debug)]
pub struct Noisy {
    noise: Positive,
}

impl Likelihood for Noisy {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("noisy")
    }

    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        let noise = self.noise.value();
        let square = (targets.unsqueeze::<3>() - function).square() / noise.clone().unsqueeze();
        (square + (noise * (2.0 * std::f64::consts::PI)).log().unsqueeze()) * -0.5
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let variance = self.noise.value().unsqueeze::<3>().expand(function.shape());
        (function, variance)
    }

    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let deviation = self.noise.to_vec()[0].sqrt();
        let count = function.shape().num_elements();
        let noise: Vec<f64> = (0..count)
            .map(|_| deviation * Distribution::<f64>::sample(&StandardNormal, random))
            .collect();
        let options = (&function.device(), function.dtype());
        function.clone()
            + Tensor::<1>::from_data(noise.as_slice(), options).reshape(function.shape())
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoisyConfig {
    pub noise: f64,
}

impl Default for NoisyConfig {
    fn default() -> Self {
        Self { noise: 0.1 }
    }
}

impl LikelihoodDefinition for NoisyConfig {
    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.noise = noise;
    }

    fn noise(&self) -> Option<(&'static str, i64)> {
        Some(("noise", 2))
    }

    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        let noise = Positive::new(&[self.noise], options);
        Noisy { noise }.into()
    }
}

burn_gp_core::register!(
    Likelihood,
    "noisy",
    NoisyConfig,
    "Normal noise, by quadrature"
);

/// A Gaussian over whitened variables.
#[derive(Module, Debug)]
pub struct White {
    inducing: AnyInducing,
    distribution: VariationalGaussian,
    #[module(skip)]
    jitter: Jitter,
}

impl InducingGaussians for White {
    fn sets(&self) -> Vec<(&AnyInducing, &VariationalGaussian)> {
        vec![(&self.inducing, &self.distribution)]
    }

    fn parameterization(&self) -> Parameterization {
        Parameterization::Whitened
    }

    fn jitter(&self) -> Jitter {
        self.jitter
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WhiteConfig {
    pub covariance: CovarianceShape,
}

impl PosteriorDefinition for WhiteConfig {
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let mut sets = start.inducing_sets(sets, self.covariance, Parameterization::Whitened)?;
        let (inducing, distribution) = sets.swap_remove(0).into_parts();
        let jitter = start.jitter;
        let posterior = White {
            inducing,
            distribution,
            jitter,
        };
        Ok(posterior.into())
    }
}

burn_gp_core::register!(
    Posterior,
    "white",
    WhiteConfig,
    "A Gaussian over whitened variables"
);

/// A posterior that leaves all of it to another.
#[derive(Module, Debug)]
pub struct Delegating {
    to: Unwhitened,
}

impl Posterior for Delegating {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        self.to.evaluate(prior, x)
    }

    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        self.to.condition(prior)
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        vec![self.to.inducing()]
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        vec![self.to.distribution()]
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DelegatingConfig {}

impl PosteriorDefinition for DelegatingConfig {
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let shape = CovarianceShape::Full;
        let mut sets = start.inducing_sets(sets, shape, Parameterization::Unwhitened)?;
        let (inducing, distribution) = sets.swap_remove(0).into_parts();
        let to = Unwhitened::new(inducing, distribution, start.jitter);
        Ok(Delegating { to }.into())
    }
}

burn_gp_core::register!(
    Posterior,
    "delegating",
    DelegatingConfig,
    "Leaves all of it to another"
);

/// `m(x) = c`, with a trained constant for each function.
#[derive(Module, Debug)]
pub struct Level {
    level: Param<Tensor<1>>,
}

impl Mean for Level {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let ([rows, _], [outputs]) = (x.dims(), self.level.val().dims());
        self.level.val().unsqueeze::<2>().expand([rows, outputs])
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelConfig {
    pub start: f64,
}

impl MeanDefinition for LevelConfig {
    fn check(&self) -> Result<(), String> {
        match self.start.abs() < 10.0 {
            true => Ok(()),
            false => Err("start is between -10 and 10".into()),
        }
    }

    fn init(&self, _inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyMean {
        let level = Level {
            level: Param::from_tensor(Tensor::full([outputs], self.start, options)),
        };
        level.into()
    }
}

burn_gp_core::register!(Mean, "level", LevelConfig, "A trained level");

/// `W_2·tanh(W_1·x)`
#[derive(Module, Debug)]
pub struct Narrow {
    first: nn::Linear,
    last: nn::Linear,
}

impl Features for Narrow {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        self.last
            .forward(burn_gp_core::ops::tanh(self.first.forward(x)))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NarrowConfig {
    pub width: usize,
}

impl NetworkDefinition for NarrowConfig {
    fn check(&self) -> Result<(), String> {
        match self.width > 0 {
            true => Ok(()),
            false => Err("width is positive".into()),
        }
    }

    fn set_like(&mut self, residual: &ResidualNetworkConfig) {
        self.width = residual.width;
    }

    fn init(&self, inputs: usize, outputs: usize, options: TensorCreationOptions) -> AnyNetwork {
        // Weights that differ, without a seed.
        let layer = |rows: usize, columns: usize| {
            let weights: Vec<f64> = (0..rows * columns)
                .map(|index| (1.3 * index as f64 + 0.4).sin())
                .collect();
            let weights = Tensor::<1>::from_data(weights.as_slice(), options.clone());
            nn::Linear {
                weight: Param::from_tensor(weights.reshape([rows, columns])),
                bias: None,
            }
        };
        AnyNetwork::from(Narrow {
            first: layer(inputs, self.width),
            last: layer(self.width, outputs),
        })
    }
}

burn_gp_core::register!(Features, "narrow", NarrowConfig, "Two layers");
