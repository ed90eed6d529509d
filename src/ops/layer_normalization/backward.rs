//! Layer normalization under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{LayerNormalizationBackward, LayerNormalizationOps};
use crate::ops::backward::{CheckpointStrategy, Record, record_inputs};

impl<B: LayerNormalizationBackward, C> LayerNormalizationOps for Autodiff<B, C>
where
    C: CheckpointStrategy,
{
    record_inputs!(
        LayerNormalizationBackward,
        layer_normalization(x, scale, shift; epsilon: f64),
        |gradient, _| B::layer_normalization_backward(x, scale, gradient, epsilon).map(Some)
    );
}
