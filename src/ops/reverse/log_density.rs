//! The reverse mode of the log-density of Gaussian data.

use burn::backend::{
    Autodiff,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops},
    },
    tensor::FloatTensor,
};

use super::Record;
use crate::ops::{
    Jitter,
    extension::{FactorizationOutcome, LinearAlgebraReverse},
};

reverse_step!(
    LogDensityStep[2](state: ([FloatTensor<B>; 2], f64), gradient) -> |wanted| {
        let (saved, jitter) = state;
        B::gaussian_log_density_reverse(saved, gradient, jitter, wanted)
    }
);

pub(super) fn gaussian_log_density<B: LinearAlgebraReverse, C: CheckpointStrategy>(
    arguments: [FloatTensor<Autodiff<B, C>>; 2],
    jitter: Jitter,
    outcome: FactorizationOutcome,
) -> FloatTensor<Autodiff<B, C>> {
    let [covariance, residual] = arguments.map(|t| t.into_parts());
    let (density, saved) =
        B::gaussian_log_density_saving(covariance.0, residual.0, jitter, outcome.clone());
    LogDensityStep.record::<C>(
        [covariance.1, residual.1],
        (saved, outcome.added()[0]),
        density,
    )
}
