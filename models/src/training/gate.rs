//! Optimizer steps that the device may skip.

use std::sync::{Arc, Mutex, PoisonError};

use burn::{
    optim::{LearningRate, Optimizer},
    tensor::{Device, Tensor},
};
use burn_gp_core::optim::{Adam, AdamMoments};

/// The flag of the current step, `[1]`: positive if the step is to be taken. It is on the device,
/// so that the CPU does not wait for it. Clones share the flag; without a flag, every step is
/// taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Gate(Arc<Mutex<Option<Tensor<1>>>>);

impl Gate {
    /// Calls `step` under the flag.
    pub fn with<T>(&self, ok: Tensor<1>, step: impl FnOnce() -> T) -> T {
        self.set(Some(ok));
        let result = step();
        self.set(None);
        result
    }

    fn set(&self, ok: Option<Tensor<1>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = ok;
    }

    fn get(&self) -> Option<Tensor<1>> {
        (self.0.lock().unwrap_or_else(PoisonError::into_inner)).clone()
    }
}

/// [`Adam`] behind a [`Gate`].
#[derive(Clone, Debug)]
pub(super) struct GatedAdam {
    pub adam: Adam,
    pub gate: Gate,
}

impl Optimizer for GatedAdam {
    type State<const D: usize> = AdamMoments<D>;

    fn step<const D: usize>(
        &self,
        learning_rate: LearningRate,
        tensor: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamMoments<D>>,
    ) -> (Tensor<D>, Option<AdamMoments<D>>) {
        let ok = self.gate.get();
        (self.adam).step_if(learning_rate, tensor, gradient, state, ok)
    }

    fn to_device<const D: usize>(state: AdamMoments<D>, device: &Device) -> AdamMoments<D> {
        Adam::to_device(state, device)
    }
}
