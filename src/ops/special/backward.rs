//! Special functions under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{SpecialBackward, SpecialFunction, SpecialOps};
use crate::ops::backward::{CheckpointStrategy, Record, record_inputs};

impl<B: SpecialBackward, C: CheckpointStrategy> SpecialOps for Autodiff<B, C> {
    record_inputs!(SpecialBackward, special(x; function: SpecialFunction), |gradient, _| {
        [Some(B::special_backward(x, gradient, function))]
    });
}
