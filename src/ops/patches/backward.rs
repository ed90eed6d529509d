//! Sums over patches under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{PatchBackward, PatchGrid, PatchOps};
use crate::ops::{
    Stationary,
    backward::{CheckpointStrategy, Record, record_inputs},
};

impl<B: PatchBackward, C: CheckpointStrategy> PatchOps for Autodiff<B, C> {
    record_inputs!(
        PatchBackward,
        patch_covariance(
            inducing, images, lengthscales, variance, weights; kind: Stationary, grid: PatchGrid
        ),
        |gradient, wanted| {
            let arguments = [inducing, images, lengthscales, variance, weights];
            B::patch_covariance_backward(arguments, gradient, kind, grid, wanted[1])
        }
    );

    record_inputs!(
        PatchBackward,
        patch_variance(
            images, lengthscales, variance, weights; kind: Stationary, grid: PatchGrid
        ),
        |gradient, wanted| {
            let arguments = [images, lengthscales, variance, weights];
            B::patch_variance_backward(arguments, gradient, kind, grid, wanted[0])
        }
    );
}
