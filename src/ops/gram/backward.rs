//! `AAᵀ` and `AᵀA` under autodiff.

use burn::backend::{
    Autodiff, autodiff::checkpoint::strategy::CheckpointStrategy, tensor::FloatTensor,
};

use super::{GramBackward, GramOps};
use crate::ops::{
    backward::{Record, backward_step, split},
    cpu::triangular::Side,
};

backward_step!(
    GramStep: GramBackward [1](state: (FloatTensor<B>, Side), gradient) -> |_| {
        let (basis, side) = state;
        [Some(B::gram_backward(basis, gradient, side))]
    }
);

impl<B: GramBackward, C: CheckpointStrategy> GramOps for Autodiff<B, C> {
    fn gram(basis: FloatTensor<Self>, side: Side) -> FloatTensor<Self> {
        let ([basis], nodes) = split::<B, C, _>([basis]);
        let output = B::gram(basis.clone(), side);
        GramStep.record::<C>(nodes, (basis, side), output)
    }
}
