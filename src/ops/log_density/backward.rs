//! The log-density under autodiff.

use burn::backend::{Autodiff, AutodiffBackend, tensor::FloatTensor};

use super::{LogDensityBackward, LogDensityOps};
use crate::ops::{
    Jitter,
    backward::{CheckpointStrategy, Record, backward_step, split},
};

backward_step!(
    LogDensityStep: LogDensityBackward [2](state: [FloatTensor<B>; 3], gradient) -> |wanted| {
        B::gaussian_log_density_backward(state, gradient, wanted)
    }
);

impl<B: LogDensityBackward, C: CheckpointStrategy> LogDensityOps for Autodiff<B, C> {
    fn gaussian_log_density(
        covariance: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        jitter: Jitter,
    ) -> (
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
    ) {
        let ([covariance, residual], nodes) = split::<B, C, _>([covariance, residual]);
        let (density, status, factor, weights) =
            B::gaussian_log_density(covariance, residual, jitter);
        let saved = [status, factor, weights];
        let density = LogDensityStep.record::<C>(nodes, saved.clone(), density);
        let [status, factor, weights] = saved.map(Self::from_inner);
        (density, status, factor, weights)
    }
}
