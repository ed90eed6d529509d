//! The reverse mode of products with a covariance.

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
use crate::ops::{Stationary, extension::LinearAlgebraReverse, host::products::BlockPairs};

reverse_step!(
    ProductStep[5](state: ([FloatTensor<B>; 5], Stationary, bool), gradient)
        -> |wanted: [bool; 5]| {
        let (arguments, kind, same) = state;
        let points_wanted = wanted[0] || wanted[1];
        B::covariance_product_reverse(arguments, gradient, kind, same, points_wanted)
    }
);

reverse_step!(
    BlockStep[5](state: ([FloatTensor<B>; 5], Stationary, BlockPairs), gradient)
        -> |wanted: [bool; 5]| {
        let (arguments, kind, pairs) = state;
        let points_wanted = wanted[0] || wanted[1];
        B::block_covariance_reverse(arguments, gradient, kind, pairs, points_wanted)
    }
);

pub(super) fn dense<B: LinearAlgebraReverse, C: CheckpointStrategy>(
    arguments: [FloatTensor<Autodiff<B, C>>; 5],
    kind: Stationary,
    same: bool,
) -> FloatTensor<Autodiff<B, C>> {
    let [x1, x2, lengthscales, variance, vectors] = arguments.map(|t| t.into_parts());
    let nodes = [x1.1, x2.1, lengthscales.1, variance.1, vectors.1];
    let arguments = [x1.0, x2.0, lengthscales.0, variance.0, vectors.0];
    let [x1, x2, lengthscales, variance, vectors] = arguments.clone();
    let output = B::covariance_product(x1, x2, lengthscales, variance, vectors, kind, same);
    ProductStep.record::<C>(nodes, (arguments, kind, same), output)
}

pub(super) fn blocked<B: LinearAlgebraReverse, C: CheckpointStrategy>(
    arguments: [FloatTensor<Autodiff<B, C>>; 5],
    kind: Stationary,
    pairs: BlockPairs,
) -> FloatTensor<Autodiff<B, C>> {
    let [points, others, lengthscales, variance, values] = arguments.map(|t| t.into_parts());
    let nodes = [points.1, others.1, lengthscales.1, variance.1, values.1];
    let arguments = [points.0, others.0, lengthscales.0, variance.0, values.0];
    let [points, others, lengthscales, variance, values] = arguments.clone();
    let output = B::block_covariance(points, others, lengthscales, variance, values, kind, pairs);
    BlockStep.record::<C>(nodes, (arguments, kind, pairs), output)
}
