//! Products with a covariance under autodiff.

use burn::backend::{
    Autodiff, autodiff::checkpoint::strategy::CheckpointStrategy, tensor::FloatTensor,
};

use super::{BlockPairs, CovarianceProductBackward, CovarianceProductOps};
use crate::ops::{
    Stationary,
    backward::{Record, backward_step, split},
};

backward_step!(
    ProductStep: CovarianceProductBackward [5](
        state: ([FloatTensor<B>; 5], Stationary, bool),
        gradient
    ) -> |wanted: [bool; 5]| {
        let (arguments, kind, same) = state;
        let points_wanted = wanted[0] || wanted[1];
        B::covariance_product_backward(arguments, gradient, kind, same, points_wanted)
    }
);

backward_step!(
    BlockStep: CovarianceProductBackward [5](
        state: ([FloatTensor<B>; 5], Stationary, BlockPairs),
        gradient
    ) -> |wanted: [bool; 5]| {
        let (arguments, kind, pairs) = state;
        let points_wanted = wanted[0] || wanted[1];
        B::block_covariance_backward(arguments, gradient, kind, pairs, points_wanted)
    }
);

impl<B: CovarianceProductBackward, C: CheckpointStrategy> CovarianceProductOps for Autodiff<B, C> {
    fn covariance_product(
        x1: FloatTensor<Self>,
        x2: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        vectors: FloatTensor<Self>,
        kind: Stationary,
        same: bool,
    ) -> FloatTensor<Self> {
        let (arguments, nodes) = split::<B, C, _>([x1, x2, lengthscales, variance, vectors]);
        let [x1, x2, lengthscales, variance, vectors] = arguments.clone();
        let output = B::covariance_product(x1, x2, lengthscales, variance, vectors, kind, same);
        ProductStep.record::<C>(nodes, (arguments, kind, same), output)
    }

    fn block_covariance(
        points: FloatTensor<Self>,
        others: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        values: FloatTensor<Self>,
        kind: Stationary,
        pairs: BlockPairs,
    ) -> FloatTensor<Self> {
        let (arguments, nodes) = split::<B, C, _>([points, others, lengthscales, variance, values]);
        let [points, others, scales, variance, values] = arguments.clone();
        let output = B::block_covariance(points, others, scales, variance, values, kind, pairs);
        BlockStep.record::<C>(nodes, (arguments, kind, pairs), output)
    }
}
