//! The moments under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{SolvedMomentBackward, SolvedMomentOps};
use crate::ops::backward::{CheckpointStrategy, Record, backward_step, split};

backward_step!(
    SolvedMomentsStep: SolvedMomentBackward [4](
        saved: [FloatTensor<B>; 5],
        gradient
    ) -> |[factor, rhs, ..]: [bool; 4]| {
        B::solved_moments_backward(saved, gradient, [factor, rhs])
    }
);

impl<B: SolvedMomentBackward, C: CheckpointStrategy> SolvedMomentOps for Autodiff<B, C> {
    fn solved_moments(
        factor: FloatTensor<Self>,
        rhs: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let ([factor, rhs, mean, scale], nodes) = split::<B, C, _>([factor, rhs, mean, scale]);
        let [moments, solution, projected] =
            B::solved_moments_with_intermediates(factor.clone(), rhs, mean.clone(), scale.clone());
        let saved = [factor, solution, mean, scale, projected];
        SolvedMomentsStep.record::<C>(nodes, saved, moments)
    }
}
