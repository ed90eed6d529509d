//! Conditioned Gaussian processes, ready for prediction.
//!
//! A [`Process`] is an owned object on the device without autodiff; posteriors, exact and collapsed
//! models all produce one. At inputs on a device with autodiff, its own values are constants:
//! gradients of means, variances, covariances and samples flow only to the inputs.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_gp_core::{layers::{GpLayerConfig, Layer}, process::Process};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::default();
//! let process = GpLayerConfig::new(2, 1).with_inducing(8).init(&device).condition()?;
//! let x = Tensor::<2>::ones([3, 2], &device.autodiff()).require_grad();
//! let gradients = process.marginals(x.clone()).variance.sum().backward();
//! assert_eq!(x.grad(&gradients).map(|gradient| gradient.dims()), Some([3, 2]));
//! # Ok(())
//! # }
//! ```

mod any_process;
mod boxed;
mod conditioned;
mod equal_inputs;
mod gaussian;
mod gaussian_update;
mod leading_axis;
mod low_rank;
mod marginals;
mod mixture;
mod paths;
mod row_blocks;
mod uncertain_inputs;
mod variance_correction;
mod with_mean;

use burn::tensor::Tensor;

pub use any_process::AnyProcess;
pub(crate) use conditioned::dummy_row_if_empty;
pub use conditioned::{ConditionedProcess, Joint, JointAcrossOutputs, Process, WhitenedCovariance};
pub(crate) use equal_inputs::EqualInputs;
pub use equal_inputs::draw_at_distinct;
pub use gaussian::{CovarianceShape, VariationalGaussian};
pub(crate) use gaussian::{Moments, Scale};
pub(crate) use gaussian_update::LinearObservations;
pub(crate) use leading_axis::{
    column_sums_of_products, column_sums_of_squares, of_each, prior_variances, product_of_each,
    right_hand_sides,
};
pub use low_rank::LowRankProcess;
pub use marginals::Marginals;
pub use mixture::Mixture;
pub(crate) use mixture::{mix, mix_draws};
pub use paths::{PathOptions, Paths, SamplePaths};
pub(crate) use row_blocks::{BLOCK, blocks};
pub use uncertain_inputs::UncertainInputs;
pub use variance_correction::{PredictedVariance, VarianceCorrection};
pub(crate) use variance_correction::{largest_norm, residual_variance};
pub use with_mean::WithMean;

/// A variance that rounding may have pushed below zero, clamped.
pub(crate) fn nonnegative(variance: Tensor<2>) -> Tensor<2> {
    variance.clamp_min(0.0)
}
