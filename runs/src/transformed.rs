//! Predictions in the units of the data of models of transformed targets.

use burn_gp_core::likelihoods::PredictiveDistribution;
use burn_gp_datasets::{Standardizer, TargetTransform};

use crate::preparation::PreparedData;

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

/// The transformations of columns as text, if there are any.
pub fn transforms_text(data: &PreparedData) -> Option<String> {
    let (schema, standardizer) = (&data.schema, &data.standardizer);
    let inputs = standardizer.input_transforms.iter();
    let inputs = inputs.map(|(input, own)| format!("{} by {own}", schema.input_names[*input]));
    let target = standardizer.target_transform.iter();
    let target = target.map(|own| format!("{} by {}", schema.target_name, own.transform));
    let each: Vec<String> = target.chain(inputs).collect();
    (!each.is_empty()).then(|| each.join(", "))
}
