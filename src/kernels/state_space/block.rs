//! One block of a state-space model.

use burn::tensor::{DType, Device, Tensor};

use super::factor::{Factor, matrices};

/// A block of states that move independently of all others. Its parameters are tensors, `[1]`, or numbers.
#[derive(Clone, Debug)]
pub struct Block<T = Tensor<1>> {
    /// σ²
    pub variance: T,
    pub motion: Motion<T>,
}

#[derive(Clone, Debug)]
pub enum Motion<T> {
    /// The product of stationary processes of variance one; a constant if there are none.
    Stationary(Vec<Factor<T>>),
    /// A line through the origin with the states value and slope.
    Line,
}

impl<T> Block<T> {
    pub fn stationary(variance: T, factors: Vec<Factor<T>>) -> Self {
        Self {
            variance,
            motion: Motion::Stationary(factors),
        }
    }

    pub fn line(variance: T) -> Self {
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

    /// The factors of a stationary block.
    pub fn factors(&self) -> &[Factor<T>] {
        match &self.motion {
            Motion::Stationary(factors) => factors,
            Motion::Line => &[],
        }
    }

    /// The variance, and the parameters of each factor.
    pub fn parameters(&self) -> impl Iterator<Item = &T> {
        let of_factors = self.factors().iter().flat_map(Factor::parameters);
        core::iter::once(&self.variance).chain(of_factors)
    }

    /// The same block with other parameters, in the same order.
    pub fn with_parameters<R>(&self, next: &mut impl FnMut() -> R) -> Block<R> {
        let variance = next();
        let motion = match &self.motion {
            Motion::Stationary(factors) => {
                let factors = factors.iter().map(|factor| factor.with_parameters(next));
                Motion::Stationary(factors.collect())
            }
            Motion::Line => Motion::Line,
        };
        Block { variance, motion }
    }
}

impl<T: Clone + core::ops::Mul<Output = T>> Block<T> {
    pub fn scaled(self, scale: T) -> Self {
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
}

impl Block {
    pub fn place(&self) -> (Device, DType) {
        (self.variance.device(), self.variance.dtype())
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

/// h, [s]: one at the first state of each block.
pub fn first_states<T>(blocks: &[Block<T>]) -> Vec<f64> {
    let of_block = |block: &Block<T>| {
        let mut row = vec![0.0; block.size()];
        row[0] = 1.0;
        row
    };
    blocks.iter().flat_map(of_block).collect()
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
