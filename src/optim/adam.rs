//! Adam with one pass over a parameter per step.

use burn::{
    optim::{LearningRate, Optimizer},
    tensor::{Device, Tensor},
};

use super::AdamMoments;
use crate::ops::{AdamStep, adam};

/// Adam (D. Kingma and J. Ba, *Adam: A Method for Stochastic Optimization*, arXiv:1412.6980,
/// Algorithm 1), fused into one operation per parameter: with `g` its gradient and `α` the learning
/// rate,
///
/// `m ← β₁m + (1 − β₁)g`, `v ← β₂v + (1 − β₂)g²`,
/// `θ ← θ − α·(m/(1 − β₁ᵗ))/(√(v/(1 − β₂ᵗ)) + ε)`.
///
/// burn's own Adam creates a tensor for every intermediate, on one thread. On flex and ndarray,
/// this implementation reads and writes each value once per step, on all threads; on a GPU, in one
/// launch per parameter. Constants are kept in double precision. The two implementations can read
/// each other's records; this one restores them in the type in which they were written.
///
/// `ModuleOptimizer::from(Adam::new())` optimizes a module;
/// [`ModuleOptimizer::with_group`](burn::optim::ModuleOptimizer::with_group) assigns an Adam to a
/// group of parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    beta_1: f64,
    beta_2: f64,
    epsilon: f64,
    weight_decay: f64,
}

impl Adam {
    /// Adam with the constants of the paper: `β₁ = 0.9`, `β₂ = 0.999`, `ε = 10⁻⁸`.
    pub fn new() -> Self {
        Self {
            beta_1: 0.9,
            beta_2: 0.999,
            epsilon: 1e-8,
            weight_decay: 0.0,
        }
    }

    /// Sets the decay rate of the mean gradient, `0 ≤ β₁ < 1`.
    pub fn with_beta_1(self, beta_1: f64) -> Self {
        Self { beta_1, ..self }
    }

    /// Sets the decay rate of the mean squared gradient, `0 ≤ β₂ < 1`.
    pub fn with_beta_2(self, beta_2: f64) -> Self {
        Self { beta_2, ..self }
    }

    /// Sets ε.
    pub fn with_epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    /// Adds the gradient of the penalty `½λ‖θ‖²` to every gradient, `λ ≥ 0`. This corresponds to a
    /// normal prior on the parameters.
    pub fn with_weight_decay(self, weight_decay: f64) -> Self {
        Self {
            weight_decay,
            ..self
        }
    }

    /// The constants of step `time`, counted from one. The bias corrections are absorbed into the
    /// rate and ε.
    fn step_at(&self, time: usize, learning_rate: f64) -> AdamStep {
        let time = i32::try_from(time).unwrap_or(i32::MAX);
        let second_correction = (1.0 - self.beta_2.powi(time)).sqrt();
        AdamStep {
            beta_1: self.beta_1,
            beta_2: self.beta_2,
            rate: learning_rate * second_correction / (1.0 - self.beta_1.powi(time)),
            epsilon: self.epsilon * second_correction,
        }
    }

    /// [`step`](Optimizer::step), skipped if the number in `ok`, `[1]`, is not positive: the tensor
    /// and the moments stay as they are, whatever the gradient is. A GPU can thus skip a step after
    /// a failure without making the CPU wait for the number. The time of the state advances in any
    /// case.
    ///
    /// # Panics
    ///
    /// If the state and the gradient have different types.
    pub fn step_if<const D: usize>(
        &self,
        learning_rate: LearningRate,
        tensor: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamMoments<D>>,
        ok: Option<Tensor<1>>,
    ) -> (Tensor<D>, Option<AdamMoments<D>>) {
        let gradient = if self.weight_decay > 0.0 {
            gradient + tensor.clone() * self.weight_decay
        } else {
            gradient
        };
        let (time, moments) = match state {
            Some(state) => (state.time() + 1, state.into_moments()),
            None => (1, [gradient.zeros_like(), gradient.zeros_like()]),
        };
        let (found, expected) = (moments[0].dtype(), gradient.dtype());
        assert!(
            found == expected,
            "Adam: the state is {found:?}, the gradient {:?} is {expected:?}",
            gradient.dims()
        );
        let step = self.step_at(time, learning_rate);
        let (tensor, [first, second]) = adam(tensor, gradient, moments, step, ok);
        (tensor, Some(AdamMoments::new(time, first, second)))
    }
}

impl Default for Adam {
    fn default() -> Self {
        Self::new()
    }
}

impl Optimizer for Adam {
    type State<const D: usize> = AdamMoments<D>;

    /// # Panics
    ///
    /// If the state and the gradient have different types.
    fn step<const D: usize>(
        &self,
        learning_rate: LearningRate,
        tensor: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamMoments<D>>,
    ) -> (Tensor<D>, Option<AdamMoments<D>>) {
        self.step_if(learning_rate, tensor, gradient, state, None)
    }

    fn to_device<const D: usize>(state: AdamMoments<D>, device: &Device) -> AdamMoments<D> {
        state.to_device(device)
    }
}
