//! The moments under autodiff.

use burn::backend::{Autodiff, AutodiffBackend, tensor::FloatTensor};

use super::{MomentBackward, MomentOps};
use crate::ops::backward::{CheckpointStrategy, Record, backward_step, record_inputs, split};

backward_step!(
    ProjectedMomentsStep: MomentBackward [3](state: [FloatTensor<B>; 4], gradient) -> |_| {
        B::projected_moments_backward(state, gradient).map(Some)
    }
);

impl<B: MomentBackward, C: CheckpointStrategy> MomentOps for Autodiff<B, C> {
    fn projected_moments(
        basis: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let ([basis, mean, scale], nodes) = split::<B, C, _>([basis, mean, scale]);
        let (moments, projected) = B::projected_moments(basis.clone(), mean.clone(), scale.clone());
        let saved = [basis, mean, scale, projected.clone()];
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
