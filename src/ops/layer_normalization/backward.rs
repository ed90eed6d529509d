//! Rows of mean zero and variance one under autodiff.

use burn::backend::{
    Autodiff, autodiff::checkpoint::strategy::CheckpointStrategy, tensor::FloatTensor,
};

use super::{LayerNormalizationBackward, LayerNormalizationOps};
use crate::ops::backward::{Record, backward_step, split};

backward_step!(
    LayerNormalizationStep: LayerNormalizationBackward [3](
        state: ([FloatTensor<B>; 2], f64),
        gradient
    ) -> |_| {
        let ([x, scale], epsilon) = state;
        B::layer_normalization_backward(x, scale, gradient, epsilon).map(Some)
    }
);

impl<B: LayerNormalizationBackward, C> LayerNormalizationOps for Autodiff<B, C>
where
    C: CheckpointStrategy,
{
    fn layer_normalization(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        epsilon: f64,
    ) -> FloatTensor<Self> {
        let ([x, scale, shift], nodes) = split::<B, C, _>([x, scale, shift]);
        let output = B::layer_normalization(x.clone(), scale.clone(), shift, epsilon);
        LayerNormalizationStep.record::<C>(nodes, ([x, scale], epsilon), output)
    }
}
