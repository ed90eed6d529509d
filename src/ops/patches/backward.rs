//! The sums over patches under autodiff.

use burn::backend::{
    Autodiff, autodiff::checkpoint::strategy::CheckpointStrategy, tensor::FloatTensor,
};

use super::{PatchBackward, PatchGrid, PatchOps};
use crate::ops::{
    Stationary,
    backward::{Record, backward_step, split},
};

backward_step!(
    PatchCovarianceStep: PatchBackward [5](
        state: ([FloatTensor<B>; 5], Stationary, PatchGrid),
        gradient
    ) -> |wanted: [bool; 5]| {
        let (arguments, kind, grid) = state;
        B::patch_covariance_backward(arguments, gradient, kind, grid, wanted[1])
    }
);

backward_step!(
    PatchVarianceStep: PatchBackward [4](
        state: ([FloatTensor<B>; 4], Stationary, PatchGrid),
        gradient
    ) -> |wanted: [bool; 4]| {
        let (arguments, kind, grid) = state;
        B::patch_variance_backward(arguments, gradient, kind, grid, wanted[0])
    }
);

impl<B: PatchBackward, C: CheckpointStrategy> PatchOps for Autodiff<B, C> {
    fn patch_covariance(
        inducing: FloatTensor<Self>,
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self> {
        let (arguments, nodes) =
            split::<B, C, _>([inducing, images, lengthscales, variance, weights]);
        let [inducing, images, scales, variance, weights] = arguments.clone();
        let output = B::patch_covariance(inducing, images, scales, variance, weights, kind, grid);
        PatchCovarianceStep.record::<C>(nodes, (arguments, kind, grid), output)
    }

    fn patch_variance(
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self> {
        let (arguments, nodes) = split::<B, C, _>([images, lengthscales, variance, weights]);
        let [images, lengthscales, variance, weights] = arguments.clone();
        let output = B::patch_variance(images, lengthscales, variance, weights, kind, grid);
        PatchVarianceStep.record::<C>(nodes, (arguments, kind, grid), output)
    }
}
