//! The covariance under autodiff.

use burn::backend::{Autodiff, tensor::FloatTensor};

use super::{CovarianceBackward, CovarianceOps};
use crate::ops::{
    Stationary,
    backward::{CheckpointStrategy, Record, record_inputs},
};

impl<B: CovarianceBackward, C: CheckpointStrategy> CovarianceOps for Autodiff<B, C> {
    record_inputs!(
        CovarianceBackward,
        covariance(x1, x2, lengthscales, variance; kind: Stationary),
        |gradient, wanted| {
            let arguments = [x1, x2, lengthscales, variance];
            B::covariance_backward(arguments, gradient, kind, wanted)
        }
    );
}
