//! The inducing points, and the orthogonal ones.

use burn_gp_core::{inducing::Initializer, ops::Jitter};
use burn_gp_models::InducingConfig;

use crate::arguments::{InitializerName, ModelFields, RunOptions};
use crate::devices::ComputeTarget;
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::{MOST_SIZE, at_most, at_most_rows, from_one_to, within};

/// The initializer. Also checks the counts and the jitter.
pub(super) fn initializer(resolved: &mut RunOptions) -> Result<Initializer, OptionError> {
    if let Some(jitter) = resolved.jitter {
        let range = "be at least 0 and below 1; common values are 1e-8 in f64 and 1e-6 in f32";
        within("--jitter", jitter, (0.0..1.0).contains(&jitter), range)?;
    }
    from_one_to(MOST_SIZE, "--inducing", resolved.inducing)?;
    from_one_to(MOST_SIZE, "--orthogonal", resolved.orthogonal)?;
    let name = *(resolved.initializer).get_or_insert(InitializerName::KMeans);
    Ok(name.into())
}

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
        initializer: initializer(resolved)?,
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
            format!("there are only {distinct} distinct training inputs")
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
