//! Steps whose losses are still on the device.

use burn::tensor::{Bool, Tensor};
use burn_gp_core::ops::numbers;
use serde::{Deserialize, Serialize};

use super::rates::Rates;

/// The number of steps between two reads of their losses, unless a callback needs one earlier.
/// Plateau rules get the losses after every so many steps, no matter when these were read, so that
/// training does not depend on the callbacks.
pub(super) const READ_TOGETHER: usize = 32;

/// A step whose loss is still on the device.
#[derive(Clone, Debug)]
pub(super) struct PendingStep {
    /// The number of steps so far, including this one.
    pub step: usize,
    pub learning_rate: f64,
    /// Whether the inducing points were trained.
    pub trains_inducing: bool,
    /// The negative objective per data point, `[1]`.
    pub loss: Tensor<1>,
    /// Whether the step was taken, `[1]`.
    pub made: Tensor<1, Bool>,
}

impl PendingStep {
    /// The loss of every step, and whether the step was taken, in one read.
    pub fn read(steps: &[Self]) -> Vec<(f64, bool)> {
        let losses = steps.iter().map(|step| step.loss.clone());
        let made = steps
            .iter()
            .map(|step| step.made.clone().float().cast(step.loss.dtype()));
        let tensors: Vec<Tensor<1>> = losses.chain(made).collect();
        if tensors.is_empty() {
            return Vec::new();
        }
        let numbers = numbers(Tensor::cat(tensors, 0));
        let (losses, made) = numbers.split_at(steps.len());
        let pairs = losses.iter().zip(made);
        pairs.map(|(&loss, &made)| (loss, made > 0.0)).collect()
    }
}

/// Losses not yet passed to plateau rules, each with a flag that says whether the inducing points
/// were trained.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Unobserved(Vec<(f64, bool)>);

impl Unobserved {
    /// Adds a loss.
    pub fn push(&mut self, loss: f64, trains_inducing: bool) {
        self.0.push((loss, trains_inducing));
    }

    /// Reports all losses to the rates.
    pub fn observe(&mut self, rates: &Rates) {
        for (loss, trains_inducing) in self.0.drain(..) {
            rates.observe(loss, trains_inducing);
        }
    }
}
