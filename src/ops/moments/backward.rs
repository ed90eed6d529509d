//! The moments under autodiff.

use burn::backend::{
    Autodiff, AutodiffBackend, autodiff::checkpoint::strategy::CheckpointStrategy,
    tensor::FloatTensor,
};

use super::{MomentBackward, MomentOps};
use crate::ops::backward::{Record, backward_step, split};

backward_step!(
    ProjectedMomentsStep: MomentBackward [3](state: [FloatTensor<B>; 4], gradient) -> |_| {
        B::projected_moments_backward(state, gradient).map(Some)
    }
);

backward_step!(
    ColumnSquaresStep: MomentBackward [1](state: FloatTensor<B>, gradient) -> |_| {
        [Some(B::column_squares_backward(state, gradient))]
    }
);

backward_step!(
    ColumnProductsStep: MomentBackward [2](state: [FloatTensor<B>; 2], gradient) -> |_| {
        B::column_products_backward(state, gradient).map(Some)
    }
);

backward_step!(
    GaussianKlStep: MomentBackward [2](state: [FloatTensor<B>; 2], gradient) -> |_| {
        B::gaussian_kl_backward(state, gradient).map(Some)
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

    fn column_squares(basis: FloatTensor<Self>) -> FloatTensor<Self> {
        let ([basis], nodes) = split::<B, C, _>([basis]);
        let output = B::column_squares(basis.clone());
        ColumnSquaresStep.record::<C>(nodes, basis, output)
    }

    fn column_products(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self> {
        let ([left, right], nodes) = split::<B, C, _>([left, right]);
        let output = B::column_products(left.clone(), right.clone());
        ColumnProductsStep.record::<C>(nodes, [left, right], output)
    }

    fn gaussian_kl(mean: FloatTensor<Self>, scale: FloatTensor<Self>) -> FloatTensor<Self> {
        let ([mean, scale], nodes) = split::<B, C, _>([mean, scale]);
        let output = B::gaussian_kl(mean.clone(), scale.clone());
        GaussianKlStep.record::<C>(nodes, [mean, scale], output)
    }
}
