//! `AAᵀ` and `AᵀA` under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{GramBackward, GramOps};
use crate::ops::{
    backward::{CheckpointStrategy, Record, record_inputs},
    cpu::Side,
};

impl<B: GramBackward, C: CheckpointStrategy> GramOps for Autodiff<B, C> {
    record_inputs!(GramBackward, gram(basis; side: Side), |gradient, _| {
        [Some(B::gram_backward(basis, gradient, side))]
    });
}
