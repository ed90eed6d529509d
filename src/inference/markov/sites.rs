//! Gaussian factors in the place of those of a likelihood.

use std::f64::consts::PI;

use burn::tensor::{DType, Tensor, TensorData};

use super::expected_density::{Expectation, ExpectedDensity};
use crate::ops::{Event, LinearSystem, Smoothed, StateSpaceError, state_space_smoothing};

/// The largest number of passes over the series.
const PASSES: usize = 500;
/// The smallest share of a step. Counts in the hundred thousands, far from the prior, begin with steps this short.
const LEAST_SHARE: f64 = 1e-9;
/// The smallest share of the first step, which may have to be far shorter.
const LEAST_FIRST_SHARE: f64 = 1e-15;
/// The smallest λ₂ without its sign, relative to that of the prior. A site needs a finite variance.
const LEAST_PRECISION: f64 = 1e-8;
/// Variances of the prior at which the first step is computed are at most this, so that exponentials are finite.
const FIRST_VARIANCE: f64 = 1.0;

/// Sites `t_i(f) = N(ỹ_i | f, r̃_i)` with the natural parameters `λ₁ = ỹ/r̃` and `λ₂ = 1/r̃`, in the order of time. λ₂
/// is negative where the expected log density grows with the variance.
#[derive(Clone, Debug)]
pub struct Sites {
    /// λ₁, `[N]`
    linear: Vec<f64>,
    /// λ₂, `[N]`
    precisions: Vec<f64>,
}

impl Sites {
    /// ỹ, `[N]`
    pub fn targets(&self) -> Vec<f64> {
        let pairs = self.linear.iter().zip(&self.precisions);
        pairs
            .map(|(linear, precision)| linear / precision)
            .collect()
    }

    /// r̃, `[N]`
    pub fn noise(&self) -> Vec<f64> {
        self.precisions
            .iter()
            .map(|precision| precision.recip())
            .collect()
    }

    /// The sites a share of the way to others, in natural parameters.
    fn toward(&self, other: &Self, share: f64) -> Self {
        let between = |from: &[f64], to: &[f64]| {
            let pairs = from.iter().zip(to);
            pairs.map(|(from, to)| from + share * (to - from)).collect()
        };
        Self {
            linear: between(&self.linear, &other.linear),
            precisions: between(&self.precisions, &other.precisions),
        }
    }

    /// With a λ₂ of at least `least` without its sign everywhere, and positive if `is_positive`. What a site gains in λ₂
    /// it gains in λ₁ times the mean, so that it pulls nowhere.
    fn bounded(mut self, least: &[f64], means: &[f64], is_positive: bool) -> Self {
        let sites = self.linear.iter_mut().zip(&mut self.precisions);
        for (((linear, precision), least), mean) in sites.zip(least).zip(means) {
            let is_small = precision.abs() < *least || (is_positive && *precision < 0.0);
            if is_small {
                *linear += (least - *precision) * mean;
                *precision = *least;
            }
        }
        self
    }

    /// `Σ E[log t_i(f_i)]`, with `log N = −½log 2π|r̃| − ½(λ₁ − λ₂f)²/λ₂`.
    pub fn expected_log_density(&self, means: &[f64], variances: &[f64]) -> f64 {
        let moments = means.iter().zip(variances);
        let terms = self.linear.iter().zip(&self.precisions).zip(moments);
        let sum: f64 = terms
            .map(|((linear, precision), (mean, variance))| {
                let slope = linear - precision * mean;
                (2.0 * PI / precision.abs()).ln() + slope * slope / precision + precision * variance
            })
            .sum();
        -0.5 * sum
    }
}

/// The prior over a series, and the likelihood of its targets. All values are in the order of time.
pub struct SiteProblem<'a> {
    /// The model of the functions without their means. Its noise is not used.
    pub system: LinearSystem,
    /// Each with its own noise.
    pub events: &'a [Event],
    /// m(t), `[N]`
    pub means: Vec<f64>,
    /// k(t, t), `[N]`
    pub variances: Vec<f64>,
    pub density: ExpectedDensity,
}

/// Sites with the posterior they define.
pub struct SiteSolution {
    pub sites: Sites,
    /// E[f] and Var[f] given all sites, `[N]`.
    pub means: Vec<f64>,
    pub variances: Vec<f64>,
    /// The evidence lower bound.
    pub bound: f64,
    expectation: Expectation,
    /// The rounding of the bound.
    rounding: f64,
}

impl SiteProblem<'_> {
    /// The fixed point `λ₂ = W`, `λ₁ = G + Wm` for `G = ∂E[log p]/∂m`, `W = −2∂E[log p]/∂V`, by steps along the natural
    /// gradient, `λ ← (1 − ρ)λ + ρ(G + Wm, W)`, that are halved until the bound rises.
    ///
    /// # Errors
    ///
    /// When the filter fails on the first sites.
    pub fn solve(&self) -> Result<SiteSolution, StateSpaceError> {
        let tolerance = match self.density.dtype() {
            DType::F64 => 1e-10,
            _ => 1e-4,
        };
        let capped: Vec<f64> = (self.variances.iter())
            .map(|variance| variance.min(FIRST_VARIANCE))
            .collect();
        let first = sites_of(&self.density.at(&self.means, &capped), &self.means);
        let mut best = self.first_posterior(&first)?;
        let (mut share, mut is_positive) = (1.0, false);
        let mut distance = self.distance(&best);
        for _ in 0..PASSES {
            if distance <= tolerance || share < LEAST_SHARE {
                break;
            }
            let target = sites_of(&best.expectation, &best.means);
            let next = (best.sites.toward(&target, share)).bounded(
                &self.least_precisions(),
                &best.means,
                is_positive,
            );
            let Ok(found) = self.posterior(next) else {
                // A negative site before those that make the posterior proper.
                share *= 0.5;
                if share < LEAST_SHARE && !is_positive {
                    (is_positive, share) = (true, 1.0);
                }
                continue;
            };
            let (gain, own) = (found.bound - best.bound, self.distance(&found));
            let is_better = gain > best.rounding || (gain >= -best.rounding && own < distance);
            if is_better {
                (best, distance, share) = (found, own, (2.0 * share).min(1.0));
            } else {
                share *= 0.5;
            }
        }
        Ok(best)
    }

    /// The posterior a share of the way from the prior to positive sites. The share is halved as long as the bound rises:
    /// from a place where exponentials are just finite, steps along the natural gradient come back by one each.
    fn first_posterior(&self, sites: &Sites) -> Result<SiteSolution, StateSpaceError> {
        let rows = self.means.len();
        let prior = Sites {
            linear: vec![0.0; rows],
            precisions: vec![0.0; rows],
        };
        let least = self.least_precisions();
        let at = |share: f64| {
            let sites = prior.toward(sites, share);
            self.posterior(sites.bounded(&least, &self.means, true))
        };
        let (mut best, mut share) = (at(1.0)?, 0.5);
        while share >= LEAST_FIRST_SHARE {
            let found = at(share)?;
            let has_risen = found.bound > best.bound;
            if best.bound.is_finite() && !has_risen {
                break;
            }
            (best, share) = (found, 0.5 * share);
        }
        Ok(best)
    }

    /// The smallest λ₂ without its sign, `[N]`.
    fn least_precisions(&self) -> Vec<f64> {
        let of = |variance: &f64| LEAST_PRECISION / variance.max(f64::MIN_POSITIVE);
        self.variances.iter().map(of).collect()
    }

    /// The largest distance of a site from the fixed point, in standard deviations of the posterior:
    /// `|G − (λ₁ − λ₂m)|·√V + |W − λ₂|·V`, where a λ₂ that is raised to the smallest one has reached a W below it.
    fn distance(&self, solution: &SiteSolution) -> f64 {
        let Expectation {
            slopes, curvatures, ..
        } = &solution.expectation;
        let sites = &solution.sites;
        let least = self.least_precisions();
        let of_row = |row: usize| {
            let (mean, variance) = (solution.means[row], solution.variances[row]);
            let (linear, precision) = (sites.linear[row], sites.precisions[row]);
            let slope = slopes[row] - (linear - precision * mean);
            let is_raised = precision == least[row] && curvatures[row].abs() < least[row];
            let curvature = match is_raised {
                true => 0.0,
                false => (curvatures[row] - precision).abs(),
            };
            slope.abs() * variance.sqrt() + curvature * variance
        };
        (0..solution.means.len()).map(of_row).fold(0.0, f64::max)
    }

    /// The posterior that sites define, and its bound.
    fn posterior(&self, sites: Sites) -> Result<SiteSolution, StateSpaceError> {
        let smoothed = self.smoothed(&sites)?;
        let means: Vec<f64> = (smoothed.function_means.iter().zip(&self.means))
            .map(|(value, mean)| value + mean)
            .collect();
        let variances = smoothed.function_variances;
        let expectation = self.density.at(&means, &variances);
        let own = sites.expected_log_density(&means, &variances);
        let unit = match self.density.dtype() {
            DType::F64 => 1e-14,
            _ => 1e-7,
        };
        let size = smoothed.log_density.abs() + expectation.value.abs() + own.abs();
        Ok(SiteSolution {
            bound: smoothed.log_density + expectation.value - own,
            rounding: unit * size,
            sites,
            means,
            variances,
            expectation,
        })
    }

    fn smoothed(&self, sites: &Sites) -> Result<Smoothed, StateSpaceError> {
        let (device, dtype) = (self.system.prior.device(), self.system.prior.dtype());
        let place = (&device, dtype);
        let residual = sites.targets().into_iter().zip(&self.means);
        let residual: Vec<f64> = residual.map(|(target, mean)| target - mean).collect();
        let targets = TensorData::new(residual, [1, self.means.len(), 1]);
        let noise = Tensor::<1>::from_data(sites.noise().as_slice(), place);
        let system = LinearSystem {
            noise: noise.unsqueeze(),
            ..self.system.clone()
        };
        let targets = Tensor::<3>::from_data(targets, place);
        let series = state_space_smoothing(&system, targets, self.events)?;
        match series.into_iter().next() {
            Some(smoothed) => Ok(smoothed),
            None => unreachable!("there is one series"),
        }
    }
}

/// `λ₁ = G + Wm`, `λ₂ = W`
fn sites_of(expectation: &Expectation, means: &[f64]) -> Sites {
    let Expectation {
        slopes, curvatures, ..
    } = expectation;
    let terms = slopes.iter().zip(curvatures).zip(means);
    Sites {
        linear: terms
            .map(|((slope, curvature), mean)| slope + curvature * mean)
            .collect(),
        precisions: curvatures.clone(),
    }
}

impl SiteSolution {
    /// `Σ E[log p(y_i | f_i)] − Σ E[log t_i(f_i)]`, which with the log density of the sites is the bound.
    pub fn correction(&self) -> f64 {
        self.expectation.value
            - self
                .sites
                .expected_log_density(&self.means, &self.variances)
    }
}
