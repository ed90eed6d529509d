//! Predictions in the units of the data of models of transformed targets.

use burn_gp_core::likelihoods::PredictiveDistribution;
use burn_gp_datasets::{Standardizer, TargetTransform};

/// The distributions of targets in the units of the data whose values after the transformation `own` and standardization
/// have the given ones.
pub fn in_units_of_data(
    distribution: &PredictiveDistribution,
    own: &TargetTransform,
    standardizer: &Standardizer,
) -> PredictiveDistribution {
    let (mean, scale) = (standardizer.target_mean, standardizer.target_scale);
    let rescaled = distribution.clone().in_units(&[mean], &[scale]);
    rescaled.transformed(std::slice::from_ref(&own.transform))
}
