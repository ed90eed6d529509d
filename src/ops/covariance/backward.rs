//! The covariance under autodiff.

use burn::backend::{
    Autodiff, autodiff::checkpoint::strategy::CheckpointStrategy, tensor::FloatTensor,
};

use super::{CovarianceBackward, CovarianceOps};
use crate::ops::{
    Stationary,
    backward::{Record, backward_step, split},
};

backward_step!(
    CovarianceStep: CovarianceBackward [4](state: ([FloatTensor<B>; 4], Stationary), gradient)
        -> |_| {
        let (arguments, kind) = state;
        B::covariance_backward(arguments, gradient, kind).map(Some)
    }
);

impl<B: CovarianceBackward, C: CheckpointStrategy> CovarianceOps for Autodiff<B, C> {
    fn covariance(
        x1: FloatTensor<Self>,
        x2: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        kind: Stationary,
    ) -> FloatTensor<Self> {
        let (arguments, nodes) = split::<B, C, _>([x1, x2, lengthscales, variance]);
        let [x1, x2, lengthscales, variance] = arguments.clone();
        let output = B::covariance(x1, x2, lengthscales, variance, kind);
        CovarianceStep.record::<C>(nodes, (arguments, kind), output)
    }
}
