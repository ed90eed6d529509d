//! The moments under autodiff.

use burn::backend::{Autodiff, AutodiffBackend, tensor::FloatTensor};

use super::{Baseline, MomentBackward, MomentOps};
use crate::ops::backward::{CheckpointStrategy, Record, backward_step, record_inputs, split};

backward_step!(
    ProjectedMomentsStep: MomentBackward [3](
        state: ([FloatTensor<B>; 4], Baseline),
        gradient
    ) -> |_| {
        let (saved, baseline) = state;
        B::projected_moments_backward(saved, gradient, baseline).map(Some)
    }
);

impl<B: MomentBackward, C: CheckpointStrategy> MomentOps for Autodiff<B, C> {
    fn projected_moments(
        basis: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        baseline: Baseline,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let ([basis, mean, scale], nodes) = split::<B, C, _>([basis, mean, scale]);
        let (moments, projected) =
            B::projected_moments(basis.clone(), mean.clone(), scale.clone(), baseline);
        let saved = ([basis, mean, scale, projected.clone()], baseline);
        let moments = ProjectedMomentsStep.record::<C>(nodes, saved, moments);
        (moments, Self::from_inner(projected))
    }

    record_inputs!(MomentBackward, column_squares(basis), |gradient, _| {
        [Some(B::column_squares_backward(basis, gradient))]
    });

    record_inputs!(
        MomentBackward,
        column_products(left, right),
        |gradient, _| B::column_products_backward([left, right], gradient).map(Some)
    );

    record_inputs!(MomentBackward, gaussian_kl(mean, scale), |gradient, _| {
        B::gaussian_kl_backward([mean, scale], gradient).map(Some)
    });
}
