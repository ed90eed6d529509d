//! The reverse mode of what a product leaves of a matrix.

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
use crate::ops::extension::LinearAlgebraReverse;

reverse_step!(
    RemainderStep[3](state: [FloatTensor<B>; 2], gradient) -> |wanted: [bool; 3]| {
        let [left, right] = state;
        let [left, right] =
            B::remainder_reverse([left, right], gradient.clone(), [wanted[1], wanted[2]]);
        [Some(gradient), left, right]
    }
);

pub(super) fn remainder<B: LinearAlgebraReverse, C: CheckpointStrategy>(
    arguments: [FloatTensor<Autodiff<B, C>>; 3],
) -> FloatTensor<Autodiff<B, C>> {
    let [matrix, left, right] = arguments.map(|t| t.into_parts());
    let output = B::remainder(matrix.0, left.0.clone(), right.0.clone());
    RemainderStep.record::<C>([matrix.1, left.1, right.1], [left.0, right.0], output)
}
