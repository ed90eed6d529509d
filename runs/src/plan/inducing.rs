//! The inducing points, and the orthogonal ones.

use burn_gp_core::{inducing::Initializer, ops::Jitter};
use burn_gp_models::InducingConfig;

use crate::arguments::{ModelFields, RunOptions};
use crate::devices::ComputeTarget;
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::{at_most, at_most_rows, only};

/// The inducing points of the model, or the inducing patches of a model for images.
pub(super) fn inducing(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<InducingConfig, OptionError> {
    let model = resolved.model_fields();
    let (count, orthogonal) = match model.has_images() {
        true => patches(resolved, &model),
        false => points(resolved, &model, data)?,
    };
    resolved.inducing = Some(count);
    resolved.orthogonal = (orthogonal > 0).then_some(orthogonal);
    let dtype = ComputeTarget::of(resolved)?.precision().dtype();
    let default_jitter = Jitter::for_precision(dtype).initial;
    Ok(InducingConfig {
        count,
        at_most: false,
        orthogonal,
        initializer: (resolved.initializer).map_or_else(Initializer::default, Into::into),
        seed: resolved.seed(),
        jitter: Some(Jitter::relative(
            *resolved.jitter.get_or_insert(default_jitter),
        )),
    })
}

/// The numbers of inducing patches in both sets. They are not limited by the number of rows, because there are
/// more patches than rows.
fn patches(resolved: &RunOptions, model: &ModelFields) -> (usize, usize) {
    let count = (resolved.inducing).unwrap_or_else(|| model.count("inducing.count"));
    match model.has_orthogonal() {
        true => (count, resolved.orthogonal.unwrap_or(count)),
        false => (count, 0),
    }
}

/// The numbers of inducing points in both sets. The defaults do not exceed the number of distinct training
/// inputs.
fn points(
    resolved: &RunOptions,
    model: &ModelFields,
    data: &PreparedData,
) -> Result<(usize, usize), OptionError> {
    let (rows, distinct) = (data.train.len(), data.distinct_training_inputs());
    if let Some(requested) = resolved.inducing {
        at_most_rows("--inducing", requested, rows)?;
        at_most("--inducing", requested, distinct, || {
            only(distinct, "distinct training input")
        })?;
    }
    let default = model.count("inducing.count");
    if !model.has_orthogonal() {
        return Ok((resolved.inducing.unwrap_or(default.min(distinct)), 0));
    }
    let left = (resolved.orthogonal).map_or(distinct / 2, |count| distinct.saturating_sub(count));
    let inducing = (resolved.inducing).unwrap_or(default.min(left).max(1));
    let left = distinct.saturating_sub(inducing);
    let orthogonal = resolved.orthogonal.unwrap_or(inducing.min(left).max(1));
    match orthogonal > left {
        true => Err(OptionError::TooFewForBoth {
            inducing,
            orthogonal,
            distinct,
        }),
        false => Ok((inducing, orthogonal)),
    }
}
