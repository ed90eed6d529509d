//! Covariance products under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{BlockPairs, CovarianceProductBackward, CovarianceProductOps};
use crate::ops::{
    Stationary,
    backward::{CheckpointStrategy, Record, record_inputs},
};

impl<B: CovarianceProductBackward, C: CheckpointStrategy> CovarianceProductOps for Autodiff<B, C> {
    record_inputs!(
        CovarianceProductBackward,
        covariance_product(
            x1, x2, lengthscales, variance, vectors; kind: Stationary, same: bool
        ),
        |gradient, wanted| {
            let arguments = [x1, x2, lengthscales, variance, vectors];
            let points_wanted = wanted[0] || wanted[1];
            B::covariance_product_backward(arguments, gradient, kind, same, points_wanted)
        }
    );

    record_inputs!(
        CovarianceProductBackward,
        block_covariance(
            points, others, lengthscales, variance, values; kind: Stationary, pairs: BlockPairs
        ),
        |gradient, wanted| {
            let arguments = [points, others, lengthscales, variance, values];
            let points_wanted = wanted[0] || wanted[1];
            B::block_covariance_backward(arguments, gradient, kind, pairs, points_wanted)
        }
    );
}
