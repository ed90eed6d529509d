//! The reverse mode of the sums over patches.

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
use crate::{
    ops::{Stationary, extension::LinearAlgebraReverse},
    patches::PatchGrid,
};

reverse_step!(
    PatchCovarianceStep[5](state: ([FloatTensor<B>; 5], Stationary, PatchGrid), gradient)
        -> |wanted: [bool; 5]| {
        let (arguments, kind, grid) = state;
        B::patch_covariance_reverse(arguments, gradient, kind, grid, wanted[1])
    }
);

reverse_step!(
    PatchVarianceStep[4](state: ([FloatTensor<B>; 4], Stationary, PatchGrid), gradient)
        -> |wanted: [bool; 4]| {
        let (arguments, kind, grid) = state;
        B::patch_variance_reverse(arguments, gradient, kind, grid, wanted[0])
    }
);

pub(super) fn covariance<B: LinearAlgebraReverse, C: CheckpointStrategy>(
    arguments: [FloatTensor<Autodiff<B, C>>; 5],
    kind: Stationary,
    grid: PatchGrid,
) -> FloatTensor<Autodiff<B, C>> {
    let [inducing, images, lengthscales, variance, weights] = arguments.map(|t| t.into_parts());
    let nodes = [inducing.1, images.1, lengthscales.1, variance.1, weights.1];
    let arguments = [inducing.0, images.0, lengthscales.0, variance.0, weights.0];
    let [inducing, images, lengthscales, variance, weights] = arguments.clone();
    let output = B::patch_covariance(
        inducing,
        images,
        lengthscales,
        variance,
        weights,
        kind,
        grid,
    );
    PatchCovarianceStep.record::<C>(nodes, (arguments, kind, grid), output)
}

pub(super) fn variance<B: LinearAlgebraReverse, C: CheckpointStrategy>(
    arguments: [FloatTensor<Autodiff<B, C>>; 4],
    kind: Stationary,
    grid: PatchGrid,
) -> FloatTensor<Autodiff<B, C>> {
    let [images, lengthscales, variance, weights] = arguments.map(|t| t.into_parts());
    let nodes = [images.1, lengthscales.1, variance.1, weights.1];
    let arguments = [images.0, lengthscales.0, variance.0, weights.0];
    let [images, lengthscales, variance, weights] = arguments.clone();
    let output = B::patch_variance(images, lengthscales, variance, weights, kind, grid);
    PatchVarianceStep.record::<C>(nodes, (arguments, kind, grid), output)
}
