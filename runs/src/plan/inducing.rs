//! The inducing points, and the orthogonal ones.

use burn_gp_core::{inducing::Initializer, ops::Jitter};
use burn_gp_models::InducingConfig;

use crate::arguments::{InitializerName, RunOptions};
use crate::devices::ComputeTarget;
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::{MOST_SIZE, at_most, at_most_rows, from_one_to, within};

const DEFAULT_INDUCING: usize = 128;

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
    let (count, orthogonal) = match resolved.model().is_of_images() {
        true => patches(resolved),
        false => points(resolved, data)?,
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

fn has_orthogonal(resolved: &RunOptions) -> bool {
    resolved.model().has_orthogonal(resolved.posterior)
}

/// The numbers of inducing patches in both sets. They are not limited by the number of rows, because there are
/// more patches than rows.
fn patches(resolved: &RunOptions) -> (usize, usize) {
    let count = resolved.inducing.unwrap_or(DEFAULT_INDUCING);
    match has_orthogonal(resolved) {
        true => (count, resolved.orthogonal.unwrap_or(count)),
        false => (count, 0),
    }
}

/// The numbers of inducing points in both sets. The defaults do not exceed the number of distinct training
/// inputs.
fn points(resolved: &RunOptions, data: &PreparedData) -> Result<(usize, usize), OptionError> {
    let (rows, distinct) = (data.train.len(), data.distinct_training_inputs());
    if let Some(requested) = resolved.inducing {
        at_most_rows("--inducing", requested, rows)?;
        at_most("--inducing", requested, distinct, || {
            format!("there are only {distinct} distinct training inputs")
        })?;
    }
    if !has_orthogonal(resolved) {
        return Ok((
            resolved.inducing.unwrap_or(DEFAULT_INDUCING.min(distinct)),
            0,
        ));
    }
    let left = (resolved.orthogonal).map_or(distinct / 2, |count| distinct.saturating_sub(count));
    let inducing = (resolved.inducing).unwrap_or(DEFAULT_INDUCING.min(left).max(1));
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
