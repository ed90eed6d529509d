//! Prior distributions of parameters.

use core::{
    f64::consts::PI,
    fmt::{self, Display, Formatter},
};
use std::collections::BTreeMap;

use burn::{module::Module, tensor::Tensor};
use rand::{RngExt, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::{Bounds, ParameterError, access::find, tree};

/// A prior distribution of each constrained value θ of a parameter.
///
/// The parameters with priors are scales, so the density is that of log θ, which is `θ·p(θ)`. Training finds
/// the mode over log θ for any parameterization. The mode over θ would lie far below it: `exp(m − s²)` instead
/// of the median `exp(m)` of a log-normal prior. A uniform prior is flat over θ and only bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "prior", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Prior {
    /// `log p(log θ) = a·log b − log Γ(a) + a·log θ − b·θ`; the mean of θ and the mode are `a/b`.
    Gamma {
        /// a
        shape: f64,
        /// b
        rate: f64,
    },
    /// `log p(log θ) = −½·((log θ − m)/s)² − log s − ½·log 2π`.
    LogNormal {
        /// m, the mean of log θ.
        mean: f64,
        /// s, the standard deviation of log θ.
        deviation: f64,
    },
    /// Two halves of normal distributions of log θ, with the same density where they meet:
    /// `log p(log θ) = −½·((log θ − m)/s)² − log(½(s₁ + s₂)) − ½·log 2π`, where s is s₁ below m
    /// and s₂ above it.
    SplitLogNormal {
        /// m, the mode of log θ.
        mode: f64,
        /// s₁, the standard deviation of log θ below the mode.
        below: f64,
        /// s₂, the standard deviation of log θ above the mode.
        above: f64,
    },
    /// `log p(log θ) = log θ − ½·(θ/s)² − log s + ½·log(2/π)`; the mode is s.
    HalfNormal {
        /// s
        scale: f64,
    },
    /// `log p(θ) = −log(u − l)` between l and u, which also bound θ.
    Uniform {
        /// l
        lower: f64,
        /// u
        upper: f64,
    },
}

impl Display for Prior {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gamma { shape, rate } => write!(formatter, "gamma({shape}, {rate})"),
            Self::LogNormal { mean, deviation } => {
                write!(formatter, "log-normal({mean}, {deviation})")
            }
            Self::SplitLogNormal { mode, below, above } => {
                write!(formatter, "split-log-normal({mode}, {below}, {above})")
            }
            Self::HalfNormal { scale } => write!(formatter, "half-normal({scale})"),
            Self::Uniform { lower, upper } => write!(formatter, "uniform({lower}, {upper})"),
        }
    }
}

impl Prior {
    /// `log p(log θ)`, or `log p(θ)` of a uniform prior, elementwise, for values in the
    /// [support](Self::support).
    pub fn log_density<const D: usize>(&self, value: Tensor<D>) -> Tensor<D> {
        match *self {
            Self::Gamma { shape, rate } => {
                let constant = shape * rate.ln() - libm::lgamma(shape);
                value.clone().log() * shape - value * rate + constant
            }
            Self::LogNormal { mean, deviation } => {
                let standard = (value.log() - mean) * deviation.recip();
                standard.square() * -0.5 - (deviation.ln() + 0.5 * (2.0 * PI).ln())
            }
            Self::SplitLogNormal { mode, below, above } => {
                let distance = value.log() - mode;
                let standard = distance.clone().clamp_max(0.0) * below.recip()
                    + distance.clamp_min(0.0) * above.recip();
                let constant = (0.5 * (below + above)).ln() + 0.5 * (2.0 * PI).ln();
                standard.square() * -0.5 - constant
            }
            Self::HalfNormal { scale } => {
                let constant = 0.5 * (2.0 / PI).ln() - scale.ln();
                (value.clone() * scale.recip()).square() * -0.5 + value.log() + constant
            }
            Self::Uniform { lower, upper } => value.zeros_like() - (upper - lower).ln(),
        }
    }

    /// A random value of θ.
    ///
    /// ```
    /// use burn_gp_core::parameter::Prior;
    /// use rand::{SeedableRng, rngs::ChaCha8Rng};
    ///
    /// let prior = Prior::Uniform { lower: 2.0, upper: 3.0 };
    /// let value = prior.draw(&mut ChaCha8Rng::seed_from_u64(0));
    /// assert!(prior.support().contain(value));
    /// ```
    pub fn draw(&self, random: &mut ChaCha8Rng) -> f64 {
        match *self {
            Self::Gamma { shape, rate } => match rand_distr::Gamma::new(shape, rate.recip()) {
                Ok(gamma) => gamma.sample(random),
                // Only for a prior that `Priors::check` refuses.
                Err(_) => f64::NAN,
            },
            Self::LogNormal { mean, deviation } => (mean + deviation * normal(random)).exp(),
            Self::SplitLogNormal { mode, below, above } => {
                let distance = normal(random).abs();
                match random.random::<f64>() * (below + above) < below {
                    true => (mode - below * distance).exp(),
                    false => (mode + above * distance).exp(),
                }
            }
            Self::HalfNormal { scale } => scale * normal(random).abs(),
            Self::Uniform { lower, upper } => lower + (upper - lower) * random.random::<f64>(),
        }
    }

    /// The support, where the density is positive.
    pub fn support(&self) -> Bounds {
        match *self {
            Self::Gamma { .. }
            | Self::LogNormal { .. }
            | Self::SplitLogNormal { .. }
            | Self::HalfNormal { .. } => Bounds::above(0.0),
            Self::Uniform { lower, upper } => Bounds::between(lower, upper),
        }
    }

    /// The bounds that the prior implies.
    pub(super) fn implied_bounds(&self) -> Option<Bounds> {
        matches!(self, Self::Uniform { .. }).then(|| self.support())
    }

    /// The violated requirement, if the parameters of the prior are invalid.
    fn defect(&self) -> Option<&'static str> {
        let positive = |number: f64| number > 0.0 && number.is_finite();
        let (sound, expected) = match *self {
            Self::Gamma { shape, rate } => (
                positive(shape) && positive(rate),
                "shape and rate must be positive",
            ),
            Self::LogNormal { mean, deviation } => (
                mean.is_finite() && positive(deviation),
                "the standard deviation must be positive",
            ),
            Self::SplitLogNormal { mode, below, above } => (
                mode.is_finite() && positive(below) && positive(above),
                "the standard deviations must be positive",
            ),
            Self::HalfNormal { scale } => (positive(scale), "the scale must be positive"),
            Self::Uniform { lower, upper } => (
                positive(upper - lower),
                "the upper bound must exceed the lower bound",
            ),
        };
        (!sound).then_some(expected)
    }
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(random)
}

/// Rounding may move bounds by this fraction of the distance between them.
const ROUNDING: f64 = 1e-5;

/// Priors of a module's parameters, by path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Priors(pub BTreeMap<String, Prior>);

impl Priors {
    /// Adds priors, which replace existing priors of the same parameters.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Adapts the paths to a module that contains the original one in `field`.
    pub fn within(self, field: &str) -> Self {
        let renamed = |(path, prior)| (format!("{field}.{path}"), prior);
        Self(self.0.into_iter().map(renamed).collect())
    }

    /// Whether there are no priors.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Σ log p(θ)` over all values of the parameters with a prior, `[1]`, tracked by autodiff.
    /// `None` if no parameter has a prior. Unknown paths are ignored; use [`check`](Self::check) to
    /// detect them.
    pub fn log_density(&self, module: &impl Module) -> Option<Tensor<1>> {
        if self.is_empty() {
            return None;
        }
        let terms = tree::parameters(|listing| module.visit(listing), &mut |place| {
            self.0.contains_key(&place.path)
        })
        .into_iter()
        .filter_map(|found| {
            let prior = self.0.get(&found.path)?;
            Some(prior.log_density(found.value()).sum())
        });
        terms.reduce(|sum, term| sum + term)
    }

    /// Checks that every prior is a valid distribution with positive density at all values its
    /// parameter can take.
    ///
    /// # Errors
    ///
    /// The first problem found.
    pub fn check(&self, module: &impl Module) -> Result<(), ParameterError> {
        for (path, &prior) in &self.0 {
            let found = find(module, path)?;
            if let Some(expected) = prior.defect() {
                return Err(ParameterError::Distribution {
                    path: path.clone(),
                    prior,
                    expected,
                });
            }
            let (lower, upper) = prior.support().ends();
            let (least, most) = found.bounds().ends();
            let slack = ROUNDING * (most - least);
            let rounding = if slack.is_finite() { slack } else { 0.0 };
            if least < lower - rounding || most > upper + rounding {
                return Err(ParameterError::Support {
                    path: path.clone(),
                    prior,
                    lower,
                    upper,
                });
            }
        }
        Ok(())
    }
}
