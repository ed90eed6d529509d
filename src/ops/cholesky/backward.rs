//! The factorization under autodiff.

use burn::backend::{Autodiff, AutodiffBackend, tensor::FloatTensor};

use super::{CholeskyBackward, CholeskyOps, Jitter};
use crate::ops::backward::{CheckpointStrategy, Record, backward_step, record_inputs, split};

backward_step!(
    CholeskyStep: CholeskyBackward [1](state: [FloatTensor<B>; 2], gradient) -> |_| {
        let [factor, status] = state;
        [Some(B::cholesky_backward(factor, status, gradient))]
    }
);

backward_step!(
    ScaledStep: CholeskyBackward [2](state: [FloatTensor<B>; 2], gradient) -> |_| {
        let [factor, status] = state;
        B::cholesky_scaled_backward(factor, status, gradient).map(Some)
    }
);

backward_step!(
    FromLowerStep: CholeskyBackward [1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::factor_from_lower_backward(state, gradient))]
    }
);

impl<B: CholeskyBackward, C: CheckpointStrategy> CholeskyOps for Autodiff<B, C> {
    fn cholesky(
        matrix: FloatTensor<Self>,
        jitter: Jitter,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let ([matrix], nodes) = split::<B, C, _>([matrix]);
        let (factor, status) = B::cholesky(matrix, jitter);
        let state = [factor.clone(), status.clone()];
        let factor = CholeskyStep.record::<C>(nodes, state, factor);
        (factor, Self::from_inner(status))
    }

    fn cholesky_scaled(
        matrix: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        jitter: Jitter,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let ([matrix, scales], nodes) = split::<B, C, _>([matrix, scales]);
        let (factor, status) = B::cholesky_scaled(matrix, scales, jitter);
        let state = [factor.clone(), status.clone()];
        let factor = ScaledStep.record::<C>(nodes, state, factor);
        (factor, Self::from_inner(status))
    }

    fn factor_from_lower(matrix: FloatTensor<Self>) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let ([matrix], nodes) = split::<B, C, _>([matrix]);
        let (factor, status) = B::factor_from_lower(matrix);
        let factor = FromLowerStep.record::<C>(nodes, factor.clone(), factor);
        (factor, Self::from_inner(status))
    }

    record_inputs!(CholeskyBackward, lower_of_factor(factor), |gradient, _| {
        [Some(B::lower_of_factor_backward(factor, gradient))]
    });

    record_inputs!(
        CholeskyBackward,
        factor_log_determinant(factor),
        |gradient, _| [Some(B::factor_log_determinant_backward(factor, gradient))]
    );
}
