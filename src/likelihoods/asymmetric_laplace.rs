//! The asymmetric Laplace likelihood, for quantile regression.

use std::sync::Arc;

use core::f64::consts::PI;

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};
use rand::Rng;
use rand_distr::{Distribution, Exp1};

use super::{
    AnyLikelihood, Likelihood, LikelihoodDefinition, LikelihoodDescription, QuadratureCenter,
    TargetDistribution,
    distributions::AsymmetricLaplaceTarget,
    likelihood::{draw, of_all_outputs, of_output, sum_outputs},
    quadrature::SMALLEST_VARIANCE,
};
use crate::{
    ops::log_normal_cdf,
    parameter::{Fraction, ParameterError, Positive, defaults, numbers},
    process::Marginals,
    register,
};

/// Beyond this many standard deviations the normal distribution has no mass left in double precision. Larger ratios
/// are clamped, which keeps their squares finite in single precision.
const LARGEST_RATIO: f64 = 40.0;

/// The function is the τ-quantile of the target: `P(y ≤ f) = τ`. With a trained scale s,
/// `p(y | f) = τ(1 − τ)/s·exp(−ρ((y − f)/s))`, where `ρ(u) = τ·u` above zero and `(τ − 1)·u` below is the check
/// function of quantile regression (K. Yu, R. A. Moyeed, *Bayesian quantile regression*, 2001).
///
/// With the default τ = ½ the noise has a Laplace distribution and the function is the median. For other quantiles, a
/// model for each τ estimates that quantile of the targets; the likelihood itself seldom describes the data. A
/// [trained](AsymmetricLaplaceConfig::train_quantile) quantile makes it a likelihood for skewed noise.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::likelihoods::{AsymmetricLaplace, AsymmetricLaplaceConfig, Likelihood};
///
/// let device = Device::default();
/// let likelihood: AsymmetricLaplace = AsymmetricLaplaceConfig { scale: 1.0, ..Default::default() }.init(&device);
/// let (y, f) = (Tensor::<2>::from_data([[2.0]], &device), Tensor::<3>::from_data([[[0.0]]], &device));
/// let density: f64 = likelihood.log_density(y, f).sum().into_scalar::<f64>();
/// assert!((density - (0.25_f64.ln() - 1.0)).abs() < 1e-4, "{density}");
/// ```
#[derive(Module, Debug)]
pub struct AsymmetricLaplace {
    scale: Positive,
    quantile: Fraction,
}

defaults! {
    /// Configuration of an [`AsymmetricLaplace`] likelihood.
    #[serde(deny_unknown_fields)]
    pub struct AsymmetricLaplaceConfig {
        /// The initial value of the scale s, in the units of the targets.
        pub scale: f64 = 0.3,
        /// The quantile τ that the function follows, between 0 and 1, or its initial value if it is trained.
        pub quantile: f64 = 0.5,
        /// Whether the quantile is trained. The likelihood then describes skewed noise.
        pub train_quantile: bool = false,
    }
}

register!(
    Likelihood,
    "asymmetric-laplace",
    AsymmetricLaplaceConfig,
    "Real numbers: their median or another quantile"
);

impl LikelihoodDefinition for AsymmetricLaplaceConfig {
    fn init(&self, options: TensorCreationOptions) -> AnyLikelihood {
        self.init(options).into()
    }

    fn set_for_data(&mut self, noise: f64, _classes: usize) {
        self.scale = noise.sqrt();
    }

    fn noise(&self) -> Option<(&'static str, i64)> {
        Some(("scale", 1))
    }

    fn check(&self) -> Result<(), ParameterError> {
        ParameterError::check_positive("likelihood.scale", self.scale)?;
        ParameterError::check_between("likelihood.quantile", self.quantile, (0.0, 1.0))
    }
}

impl AsymmetricLaplaceConfig {
    /// Creates the likelihood.
    ///
    /// # Panics
    ///
    /// If the scale is not positive, or the quantile does not lie between 0 and 1.
    #[track_caller]
    pub fn init(&self, options: impl Into<TensorCreationOptions>) -> AsymmetricLaplace {
        let options = options.into();
        let quantile = Fraction::new(&[self.quantile], options.clone());
        AsymmetricLaplace {
            scale: Positive::new(&[self.scale], options),
            quantile: match self.train_quantile {
                true => quantile,
                false => quantile.no_grad(),
            },
        }
    }
}

impl AsymmetricLaplace {
    /// The scale s, `[1]`, or `[P]` if each output has its own.
    pub fn scale(&self) -> Tensor<1> {
        self.scale.value()
    }

    /// The quantile τ, `[1]`, or `[P]` if each output has its own.
    pub fn quantile(&self) -> Tensor<1> {
        self.quantile.value()
    }

    /// τ and `1 − τ`, `[…, P]`: the weights of errors above and below the function.
    fn weights<const D: usize>(&self) -> (Tensor<D>, Tensor<D>) {
        let quantile = self.quantile().unsqueeze::<D>();
        (quantile.clone(), quantile.neg() + 1.0)
    }

    /// `log τ(1 − τ) − log s`, `[…, P]`.
    fn constant<const D: usize>(&self) -> Tensor<D> {
        let (above, below) = self.weights();
        (above * below).log() - self.scale().log().unsqueeze::<D>()
    }

    /// `E[y − f] = s·(1 − 2τ)/(τ(1 − τ))` and `Var[y | f] = s²·(τ² + (1 − τ)²)/(τ(1 − τ))²`, `[…, P]`.
    fn noise_moments<const D: usize>(&self) -> (Tensor<D>, Tensor<D>) {
        let (above, below) = self.weights();
        let unit = self.scale().unsqueeze::<D>() / (above.clone() * below.clone());
        let square = above.clone().square() + below.clone().square();
        (unit.clone() * (below - above), unit.square() * square)
    }
}

/// `E[max(z, 0)] = m·Φ(m/σ) + σ·φ(m/σ)` for `z ~ N(m, σ²)`.
fn expected_positive_part(mean: Tensor<2>, variance: Tensor<2>) -> Tensor<2> {
    let deviation = variance.clamp_min(SMALLEST_VARIANCE).sqrt();
    let ratio = (mean.clone() / deviation.clone()).clamp(-LARGEST_RATIO, LARGEST_RATIO);
    let density = (ratio.clone().square() * -0.5 - (2.0 * PI).ln() * 0.5).exp();
    mean * log_normal_cdf(ratio).exp() + deviation * density
}

/// Beyond this argument, Mills' ratio is taken from its continued fraction.
const FAR: f64 = 4.0;

/// Levels of the continued fraction. From [`FAR`] on, its error is below the rounding error in double precision.
const LEVELS: usize = 24;

/// `log E[e^{−az}; z > 0]` for `z ~ N(m, σ²)` and a rate a. With `x = (aσ² − m)/σ` it is
/// `−am + a²σ²/2 + log Φ(−x) = −m²/(2σ²) + log(Φ(−x)/φ(x)) − ½·log 2π`. The first form is exact for small x. For
/// large x, where its terms cancel, Mills' ratio in the second form is
/// `Φ(−x)/φ(x) = 1/(x + 1/(x + 2/(x + 3/(x + …))))`.
fn side(mean: Tensor<2>, variance: Tensor<2>, rate: Tensor<2>) -> Tensor<2> {
    let variance = variance.clamp_min(SMALLEST_VARIANCE);
    let deviation = variance.clone().sqrt();
    let shift = rate.clone() * variance; // a·σ²
    let x = (shift.clone() - mean.clone()) / deviation.clone();
    let is_far = x.clone().greater_elem(FAR);
    // Each form has the arguments of the other replaced, so that no gradient is ∞·0.
    let near_x = x.clone().clamp_max(FAR);
    let near = rate * (shift * 0.5 - mean.clone()) + log_normal_cdf(near_x.neg());
    let far_x = x.clamp_min(FAR);
    let mut tail = far_x.clone();
    for level in (1..=LEVELS).rev() {
        tail = tail.recip() * level as f64 + far_x.clone();
    }
    let square = (mean / deviation).square() * -0.5;
    let far = square - tail.log() - (2.0 * PI).ln() * 0.5;
    near.mask_where(is_far, far)
}

/// `log(eᵃ + eᵇ)`.
fn log_sum(a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    let largest = a.clone().detach().max_pair(b.clone().detach());
    ((a - largest.clone()).exp() + (b - largest.clone()).exp()).log() + largest
}

impl Likelihood for AsymmetricLaplace {
    fn description(&self) -> LikelihoodDescription {
        LikelihoodDescription::new("asymmetric-laplace").with_is_smooth(false)
    }

    /// `log τ(1 − τ)/s − (τ·(y − f)₊ + (1 − τ)·(f − y)₊)/s`.
    fn log_density(&self, targets: Tensor<2>, function: Tensor<3>) -> Tensor<3> {
        self.description().require_value_sizes(&targets, &function);
        let error = targets.unsqueeze::<3>() - function;
        let (above, below) = self.weights();
        let loss = error.clone().clamp_min(0.0) * above + error.neg().clamp_min(0.0) * below;
        self.constant() - loss / self.scale().unsqueeze::<3>()
    }

    /// In closed form: `E[τ·z₊ + (1 − τ)·(−z)₊] = τ·m + E[(−z)₊]` for `z = y − f ~ N(m, σ²)`.
    fn expected_log_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let error = targets - marginals.mean;
        let below = expected_positive_part(error.clone().neg(), marginals.variance);
        let loss = (error * self.weights().0 + below) / self.scale().unsqueeze::<2>();
        sum_outputs(self.constant() - loss)
    }

    /// In closed form: with `z = y − f`, `E[e^{−τz/s}; z > 0] + E[e^{(1 − τ)z/s}; z < 0]`.
    fn log_predictive_density(&self, targets: Tensor<2>, marginals: Marginals) -> Tensor<1> {
        self.description().require_sizes(&targets, &marginals);
        let error = targets - marginals.mean;
        let (scale, variance) = (self.scale().unsqueeze::<2>(), marginals.variance);
        let (above, below) = self.weights();
        let above = side(error.clone(), variance.clone(), above / scale.clone());
        let below = side(error.neg(), variance, below / scale);
        sum_outputs(log_sum(above, below) + self.constant())
    }

    fn peak(&self, targets: &Tensor<2>) -> Option<QuadratureCenter> {
        Some(QuadratureCenter {
            center: targets.clone(),
            width: targets.zeros_like() + self.scale().unsqueeze::<2>(),
        })
    }

    fn conditional_moments(&self, function: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let (shift, variance) = self.noise_moments();
        let variance = variance.expand(function.dims());
        (function + shift, variance)
    }

    /// The difference of two exponential numbers with means `s/τ` and `s/(1 − τ)`.
    fn sample(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3> {
        let (scales, quantiles) = (self.scale.to_vec(), self.quantile.to_vec());
        draw(function, 1, |f, output| {
            let (scale, quantile) = (of_output(&scales, output), of_output(&quantiles, output));
            let [above, below]: [f64; 2] = [Exp1.sample(random), Exp1.sample(random)];
            f[0] + scale * (above / quantile - below / (1.0 - quantile))
        })
    }

    fn predict(&self, marginals: Marginals) -> Marginals {
        let (shift, variance) = self.noise_moments();
        Marginals {
            mean: marginals.mean + shift,
            variance: marginals.variance + variance,
        }
    }

    fn quantile_level(&self) -> Option<f64> {
        match numbers(self.quantile())[..] {
            [level] => Some(level),
            _ => None,
        }
    }

    fn target_distribution(&self) -> Option<Arc<dyn TargetDistribution>> {
        Some(Arc::new(AsymmetricLaplaceTarget {
            scale: of_all_outputs(&self.scale.to_vec())?,
            quantile: of_all_outputs(&self.quantile.to_vec())?,
        }))
    }
}
