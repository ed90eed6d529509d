//! The periodic squared exponential as a sum of cosines.

use core::f64::consts::PI;

use burn::tensor::Tensor;

use super::{Block, Factor, StateSpace, precise};
use crate::ops::number;

/// The part of the variance that the cosines may miss.
const MISSING: f64 = 1e-9;
/// The largest number of cosines. They suffice for lengthscales from 0.03 on.
const MOST: usize = 100;
/// The largest order at which the recurrence starts.
const LAST_ORDER: f64 = 2e4;
/// Values of the recurrence from which they are scaled down.
const LARGE: f64 = 1e250;

/// The weights of the cosines of a periodic squared exponential.
///
/// With `r² = sin²(πτ/p)/ℓ²`, `exp(−r²/2) = e^(−z)·exp(z·cos ωτ)` for `z = 1/(4ℓ²)` and `ω = 2π/p`, whose Fourier
/// series is `c₀ + Σ_j c_j cos(jωτ)` with `c₀ = e^(−z)I₀(z)` and `c_j = 2e^(−z)I_j(z)` (A. Solin and S. Särkkä,
/// *Explicit link between periodic covariance functions and state space models*, 2014, equation 24, for another ℓ).
///
/// ```
/// use burn_gp_core::kernels::Harmonics;
///
/// let lengthscale: f64 = 0.5;
/// let harmonics = Harmonics::new(0.25 / lengthscale.powi(2));
/// let sum: f64 = harmonics.weights().iter().sum();
/// assert!((sum - 1.0).abs() < 1e-9); // the variance
/// ```
#[derive(Clone, Debug)]
pub struct Harmonics {
    /// c
    weights: Vec<f64>,
    /// ∂c/∂z
    slopes: Vec<f64>,
}

impl Harmonics {
    /// The weights c, from that of the constant on.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// ∂c/∂z
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The weights for `z = 1/(4ℓ²)` down to the one from which the rest is below a billionth, at most a hundred besides the
    /// first.
    pub fn new(z: f64) -> Self {
        let bessel = scaled_bessel(z);
        let factor = |order: usize| if order == 0 { 1.0 } else { 2.0 };
        let mut missing = 0.0;
        let mut count = bessel.len() - 1;
        while count > 1 && missing + factor(count - 1) * bessel[count - 1] < MISSING {
            missing += factor(count - 1) * bessel[count - 1];
            count -= 1;
        }
        let orders = 0..count.min(MOST + 1);
        let weights = orders.clone().map(|j| factor(j) * bessel[j]);
        // d(e^(−z)I_j)/dz = e^(−z)(½(I_(j−1) + I_(j+1)) − I_j)
        let slope = |j: usize| {
            let below = bessel[if j == 0 { 1 } else { j - 1 }];
            factor(j) * (0.5 * (below + bessel[j + 1]) - bessel[j])
        };
        Self {
            weights: weights.collect(),
            slopes: orders.map(slope).collect(),
        }
    }

    /// The state-space model of `σ²·exp(−sin²(πτ/p)/(2ℓ²))`.
    pub(crate) fn state_space(
        lengthscale: Tensor<1>,
        period: Tensor<1>,
        variance: Tensor<1>,
    ) -> StateSpace {
        let (variance, period) = (precise(variance), precise(period));
        let z = (precise(lengthscale).square() * 4.0).recip();
        let Self { weights, slopes } = Self::new(number(z.clone()));
        let frequency = period.recip() * (2.0 * PI);
        let change = z.is_autodiff().then(|| z.clone() - z.detach()); // zero, with a gradient
        let blocks = weights
            .iter()
            .zip(&slopes)
            .enumerate()
            .map(|(order, (&weight, &slope))| {
                let weight = match &change {
                    Some(change) => change.clone() * slope + weight,
                    None => variance.full_like(weight),
                };
                let factors = match order {
                    0 => Vec::new(),
                    order => vec![Factor::Cosine {
                        frequency: frequency.clone() * order as f64,
                    }],
                };
                Block::stationary(variance.clone() * weight, factors)
            });
        StateSpace {
            blocks: blocks.collect(),
        }
    }
}

/// `e^(−z)I_j(z)` for j from zero, to far below rounding, by Miller's downward recurrence
/// `I_(j−1) = I_(j+1) + (2j/z)I_j`, normalized by `I₀ + 2ΣI_j = e^z`. All terms are positive.
fn scaled_bessel(z: f64) -> Vec<f64> {
    let last = (30.0 + 8.0 * z.sqrt()).min(LAST_ORDER) as usize;
    let mut values = vec![0.0; last + 2];
    values[last] = LARGE.recip();
    for order in (1..=last).rev() {
        values[order - 1] = values[order + 1] + 2.0 * order as f64 / z * values[order];
        if values[order - 1] > LARGE {
            for value in &mut values {
                *value /= LARGE;
            }
        }
    }
    let total = values[0] + 2.0 * values[1..].iter().sum::<f64>();
    for value in &mut values {
        *value /= total;
    }
    values
}
