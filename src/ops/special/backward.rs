//! Special functions under autodiff.

use burn::backend::{
    Autodiff, autodiff::checkpoint::strategy::CheckpointStrategy, tensor::FloatTensor,
};

use super::{SpecialBackward, SpecialFunction, SpecialOps};
use crate::ops::backward::{Record, backward_step, split};

backward_step!(
    SpecialStep: SpecialBackward [1](state: (FloatTensor<B>, SpecialFunction), gradient) -> |_| {
        let (x, function) = state;
        [Some(B::special_backward(x, gradient, function))]
    }
);

impl<B: SpecialBackward, C: CheckpointStrategy> SpecialOps for Autodiff<B, C> {
    fn special(x: FloatTensor<Self>, function: SpecialFunction) -> FloatTensor<Self> {
        let ([x], nodes) = split::<B, C, _>([x]);
        let output = B::special(x.clone(), function);
        SpecialStep.record::<C>(nodes, (x, function), output)
    }
}
