//! Kernels of one input, time, as linear state-space models.

mod block;
mod factor;
mod factor_numbers;
mod harmonics;
mod numbers;
mod oscillation;

use burn::tensor::{DType, Device, Tensor};

use super::spectrum::plain_name;
use crate::ops::{is_on_cpu, numbers as read};
use block::{Block, first_states};
use factor::Factor;

pub use harmonics::Harmonics;
pub use numbers::{StateSpaceMatrices, StateSpaceNumbers};
pub(super) use oscillation::oscillation;

/// A kernel of time as a linear state-space model: `k(t, t′) = hᵀA(|t − t′|)P(min(t, t′))h`, where the state x moves by
/// `x(t + Δ) = A(Δ)x(t) + N(0, Q(Δ))` and has the covariance P(t) before data. (J. Hartikainen and S. Särkkä, *Kalman
/// filtering and smoothing solutions to temporal Gaussian process regression models*, 2010; A. Solin and S. Särkkä,
/// *Explicit link between periodic covariance functions and state space models*, 2014.)
///
/// All matrices are block-diagonal, with blocks of `b` rows packed one after the other. They are tensor operations, so
/// that autodiff reaches the parameters of the kernel. Derivatives in the state are divided by powers of the rate
/// `√(2ν)/ℓ`, so that nothing overflows whatever the unit of time. On the CPU everything is in double precision.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{kernels::{Kernel, StationaryKernel}, ops::Stationary};
///
/// # fn main() -> Result<(), burn_gp_core::kernels::NoStateSpace> {
/// let device = Device::default();
/// let kernel = StationaryKernel::new(Stationary::Matern32, &[0.5], 2.0, &device);
/// let form = kernel.state_space()?;
/// assert_eq!(form.blocks(), [2]); // the value and its derivative
/// let (device, dtype) = form.place();
/// let steps = Tensor::<1>::from_data([0.1, 3.0], (&device, dtype));
/// assert_eq!(form.transitions(steps.clone()).dims(), [2, 4]);
/// assert_eq!(form.process_noise(steps).dims(), [2, 4]);
///
/// let smooth = StationaryKernel::new(Stationary::SquaredExponential, &[0.5], 2.0, &device);
/// let refusal = smooth.state_space().map(|_| ()).unwrap_err().to_string();
/// assert!(refusal.starts_with("rbf has no finite state"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct StateSpace {
    blocks: Vec<Block>,
}

/// A kernel that is not a linear state-space model with finitely many states.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{kernel} has no finite state; use matern52, matern32, matern12, cosine, damped-oscillator, constant, linear, rbf within \
     periodic, or sums and products of these"
)]
pub struct NoStateSpace {
    /// The kernel's type or name.
    pub kernel: String,
}

impl NoStateSpace {
    /// Creates the error for kernel type `K`.
    pub fn of<K: ?Sized>() -> Self {
        Self {
            kernel: plain_name::<K>(),
        }
    }

    /// Creates the error for a kernel with a name.
    pub(super) fn named(kernel: &str) -> Self {
        Self {
            kernel: kernel.to_owned(),
        }
    }
}

/// The parameter of the only input, `[1]`.
pub(super) fn one_input(parameter: Tensor<1>) -> Result<Tensor<1>, NoStateSpace> {
    match parameter.dims() {
        [1] => Ok(parameter),
        [count] => Err(NoStateSpace::named(&format!("a kernel of {count} inputs"))),
    }
}

/// In double precision on the CPU.
pub fn precise<const D: usize>(tensor: Tensor<D>) -> Tensor<D> {
    match is_on_cpu(&tensor) {
        true => tensor.cast(DType::F64),
        false => tensor,
    }
}

impl StateSpace {
    fn of_block(block: Block) -> Self {
        Self {
            blocks: vec![block],
        }
    }

    /// Matérn with ν = `states` − ½ and one to three states.
    pub(super) fn matern(states: usize, lengthscale: Tensor<1>, variance: Tensor<1>) -> Self {
        let rate = precise(lengthscale).recip() * (2.0 * states as f64 - 1.0).sqrt(); // √(2ν)/ℓ
        let factor = Factor::Matern { states, rate };
        Self::of_block(Block::stationary(precise(variance), vec![factor]))
    }

    /// `σ²·cos(2π(t − t′)/p)`
    pub(super) fn cosine(period: Tensor<1>, variance: Tensor<1>) -> Self {
        let frequency = precise(period).recip() * (2.0 * core::f64::consts::PI);
        let factor = Factor::Cosine { frequency };
        Self::of_block(Block::stationary(precise(variance), vec![factor]))
    }

    /// A damped oscillator with the undamped period p and the quality q: `ω₀ = 2π/p` and `ζ = 1/(2q)`.
    pub(super) fn damped_oscillator(
        period: Tensor<1>,
        quality: Tensor<1>,
        variance: Tensor<1>,
    ) -> Self {
        let factor = Factor::Oscillator {
            rate: precise(period).recip() * (2.0 * core::f64::consts::PI),
            damping: (precise(quality) * 2.0).recip(),
        };
        Self::of_block(Block::stationary(precise(variance), vec![factor]))
    }

    /// σ²
    pub(super) fn constant(variance: Tensor<1>) -> Self {
        Self::of_block(Block::stationary(precise(variance), Vec::new()))
    }

    /// `σ²·t·t′`
    pub(super) fn line(variance: Tensor<1>) -> Self {
        Self::of_block(Block::line(precise(variance)))
    }

    /// The sum of two kernels.
    pub(super) fn plus(mut self, other: Self) -> Self {
        self.blocks.extend(other.blocks);
        self
    }

    /// The kernel times a scale, `[1]`.
    pub(super) fn scaled(self, scale: Tensor<1>) -> Self {
        let scale = precise(scale);
        let blocks = self.blocks.into_iter();
        Self {
            blocks: blocks.map(|block| block.scaled(scale.clone())).collect(),
        }
    }

    /// The product of two kernels, unless a line is multiplied by anything but a constant.
    pub(super) fn times(&self, other: &Self) -> Option<Self> {
        let pairs = (self.blocks.iter())
            .flat_map(|first| other.blocks.iter().map(|second| first.times(second)));
        Some(Self {
            blocks: pairs.collect::<Option<_>>()?,
        })
    }

    /// The sizes b of the blocks.
    pub fn blocks(&self) -> Vec<usize> {
        self.blocks.iter().map(Block::size).collect()
    }

    /// h, `[s]`: the value is the sum of the first states of all blocks.
    pub fn row(&self) -> Vec<f64> {
        first_states(&self.blocks)
    }

    /// The parameters of the blocks, one after the other: the variance of each, and of each of its factors the rate
    /// `√(2ν)/ℓ` or the frequency `2π/p`. Shape `[K]`, tracked by autodiff.
    pub fn parameters(&self) -> Tensor<1> {
        let all = self.blocks.iter().flat_map(Block::parameters).cloned();
        Tensor::cat(all.collect(), 0)
    }

    /// The model in plain numbers, read from the device at once.
    pub fn numbers(&self) -> StateSpaceNumbers {
        let mut values = read(self.parameters().without_autodiff()).into_iter();
        let mut next = || match values.next() {
            Some(value) => value,
            None => unreachable!("each block takes its own parameters"),
        };
        let blocks = self
            .blocks
            .iter()
            .map(|block| block.with_parameters(&mut next));
        StateSpaceNumbers {
            blocks: blocks.collect(),
        }
    }

    /// The device, with autodiff if the parameters have it, and the type of all matrices.
    pub fn place(&self) -> (Device, DType) {
        self.blocks[0].place()
    }

    /// A(Δ), `[U, Σb²]`, for steps Δ ≥ 0, `[U]`.
    pub fn transitions(&self, steps: Tensor<1>) -> Tensor<2> {
        packed(self.blocks.iter().map(|block| block.transition(&steps)))
    }

    /// Q(Δ), `[U, Σb²]`, for steps Δ ≥ 0, `[U]`. It is accurate for small steps and positive semidefinite.
    pub fn process_noise(&self, steps: Tensor<1>) -> Tensor<2> {
        packed(self.blocks.iter().map(|block| block.noise(&steps)))
    }

    /// P(t), `[T, Σb²]`, at times t, `[T]`.
    pub fn prior(&self, times: Tensor<1>) -> Tensor<2> {
        packed(self.blocks.iter().map(|block| block.prior(&times)))
    }
}

/// Blocks, each [U, b, b], as [U, Σb²].
fn packed(blocks: impl Iterator<Item = Tensor<3>>) -> Tensor<2> {
    let flat = blocks.map(|block| {
        let [steps, rows, columns] = block.dims();
        block.reshape([steps, rows * columns])
    });
    Tensor::cat(flat.collect(), 1)
}
