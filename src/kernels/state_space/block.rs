//! One block of a state-space model.

use burn::tensor::{DType, Device, Tensor};

use super::factor::{Factor, matrices};

/// A block of states that move independently of all others.
#[derive(Clone, Debug)]
pub struct Block {
    /// σ², `[1]`
    variance: Tensor<1>,
    motion: Motion,
}

#[derive(Clone, Debug)]
enum Motion {
    /// The product of stationary processes of variance one; a constant if there are none.
    Stationary(Vec<Factor>),
    /// A line through the origin with the states value and slope.
    Line,
}

impl Block {
    pub fn stationary(variance: Tensor<1>, factors: Vec<Factor>) -> Self {
        Self {
            variance,
            motion: Motion::Stationary(factors),
        }
    }

    pub fn line(variance: Tensor<1>) -> Self {
        Self {
            variance,
            motion: Motion::Line,
        }
    }

    /// The number of rows, b.
    pub fn size(&self) -> usize {
        match &self.motion {
            Motion::Stationary(factors) => factors.iter().map(Factor::size).product(),
            Motion::Line => 2,
        }
    }

    pub fn place(&self) -> (Device, DType) {
        (self.variance.device(), self.variance.dtype())
    }

    pub fn scaled(self, scale: Tensor<1>) -> Self {
        Self {
            variance: self.variance * scale,
            motion: self.motion,
        }
    }

    /// The block of a product, unless one is a line and the other is not constant.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let motion = match (&self.motion, &other.motion) {
            (Motion::Stationary(first), Motion::Stationary(second)) => {
                Motion::Stationary(first.iter().chain(second).cloned().collect())
            }
            (Motion::Line, Motion::Stationary(none)) | (Motion::Stationary(none), Motion::Line)
                if none.is_empty() =>
            {
                Motion::Line
            }
            _ => return None,
        };
        Some(Self {
            variance: self.variance.clone() * other.variance.clone(),
            motion,
        })
    }

    /// A(Δ), [U, b, b]: the Kronecker product of those of all factors.
    pub fn transition(&self, steps: &Tensor<1>) -> Tensor<3> {
        match &self.motion {
            Motion::Stationary(factors) => {
                let all = factors.iter().map(|factor| factor.transition(steps));
                all.reduce(kronecker).unwrap_or_else(|| ones(steps))
            }
            // [[1, Δ], [0, 1]]
            Motion::Line => {
                let (one, zero) = (steps.ones_like(), steps.zeros_like());
                matrices(vec![one.clone(), steps.clone(), zero, one], 2)
            }
        }
    }

    /// Q(Δ), [U, b, b]. For a product, `Q = Q₁⊗P₂ + (P₁ − Q₁)⊗Q₂`, because `A₁P₁A₁ᵀ = P₁ − Q₁`.
    pub fn noise(&self, steps: &Tensor<1>) -> Tensor<3> {
        let Motion::Stationary(factors) = &self.motion else {
            return matrices(vec![steps.zeros_like(); 4], 2);
        };
        let all = factors
            .iter()
            .map(|factor| (factor.noise(steps), factor.prior(steps)));
        let product = all.reduce(|(noise, prior), (other_noise, other_prior)| {
            let kept = prior.clone() - noise.clone();
            (
                kronecker(noise, other_prior.clone()) + kronecker(kept, other_noise),
                kronecker(prior, other_prior),
            )
        });
        match product {
            Some((noise, _)) => noise * self.variance.clone().reshape([1, 1, 1]),
            None => ones(steps).zeros_like(),
        }
    }

    /// P(t), [T, b, b].
    pub fn prior(&self, times: &Tensor<1>) -> Tensor<3> {
        let unit = match &self.motion {
            Motion::Stationary(factors) => {
                let all = factors.iter().map(|factor| factor.prior(times));
                all.reduce(kronecker).unwrap_or_else(|| ones(times))
            }
            // [[t², t], [t, 1]]
            Motion::Line => {
                let square = times.clone().square();
                matrices(
                    vec![square, times.clone(), times.clone(), times.ones_like()],
                    2,
                )
            }
        };
        unit * self.variance.clone().reshape([1, 1, 1])
    }
}

/// Ones, [U, 1, 1].
fn ones(steps: &Tensor<1>) -> Tensor<3> {
    matrices(vec![steps.ones_like()], 1)
}

/// The Kronecker products of matrices, [U, a, a] and [U, b, b], as [U, ab, ab].
fn kronecker(first: Tensor<3>, second: Tensor<3>) -> Tensor<3> {
    let ([count, a, _], [_, b, _]) = (first.dims(), second.dims());
    let product = first.reshape([count, a, 1, a, 1]) * second.reshape([count, 1, b, 1, b]);
    product.reshape([count, a * b, a * b])
}
