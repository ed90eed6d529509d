//! The factorization under autodiff.

use burn::backend::{
    Autodiff, AutodiffBackend, autodiff::checkpoint::strategy::CheckpointStrategy,
    tensor::FloatTensor,
};

use super::{CholeskyBackward, CholeskyOps, Jitter};
use crate::ops::backward::{Record, backward_step, split};

backward_step!(
    CholeskyStep: CholeskyBackward [1](state: [FloatTensor<B>; 2], gradient) -> |_| {
        let [factor, status] = state;
        [Some(B::cholesky_backward(factor, status, gradient))]
    }
);

backward_step!(
    FromLowerStep: CholeskyBackward [1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::factor_from_lower_backward(state, gradient))]
    }
);

backward_step!(
    LowerStep: CholeskyBackward [1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::lower_of_factor_backward(state, gradient))]
    }
);

backward_step!(
    LogDeterminantStep: CholeskyBackward [1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::factor_log_determinant_backward(state, gradient))]
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

    fn factor_from_lower(matrix: FloatTensor<Self>) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let ([matrix], nodes) = split::<B, C, _>([matrix]);
        let (factor, status) = B::factor_from_lower(matrix);
        let factor = FromLowerStep.record::<C>(nodes, factor.clone(), factor);
        (factor, Self::from_inner(status))
    }

    fn lower_of_factor(factor: FloatTensor<Self>) -> FloatTensor<Self> {
        let ([factor], nodes) = split::<B, C, _>([factor]);
        let lower = B::lower_of_factor(factor.clone());
        LowerStep.record::<C>(nodes, factor, lower)
    }

    fn factor_log_determinant(factor: FloatTensor<Self>) -> FloatTensor<Self> {
        let ([factor], nodes) = split::<B, C, _>([factor]);
        let output = B::factor_log_determinant(factor.clone());
        LogDeterminantStep.record::<C>(nodes, factor, output)
    }
}
