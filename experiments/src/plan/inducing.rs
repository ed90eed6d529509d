//! The inducing points, and the orthogonal ones.

use burn::tensor::DType;
use burn_gp::{inducing::Initializer, ops::Jitter};
use burn_gp_models::InducingConfig;

use crate::arguments::InitializerName;
use crate::preparation::PreparedData;
use crate::settings::{SettingError, SparseSettings};

/// Inducing points unless told otherwise.
pub(super) const DEFAULT_INDUCING: usize = 128;

pub(super) fn inducing(
    sparse: &mut SparseSettings,
    has_orthogonal: bool,
    data: &PreparedData,
    seed: u64,
    dtype: DType,
) -> Result<InducingConfig, SettingError> {
    let (count, orthogonal) = inducing_counts(sparse, has_orthogonal, data)?;
    Ok(inducing_config(sparse, (count, orthogonal), seed, dtype))
}

/// Inducing patches, of which there are more than rows.
pub(super) fn inducing_patches(
    sparse: &mut SparseSettings,
    has_orthogonal: bool,
    seed: u64,
    dtype: DType,
) -> InducingConfig {
    let count = sparse.inducing.unwrap_or(DEFAULT_INDUCING);
    let orthogonal = sparse.orthogonal.unwrap_or(count);
    let orthogonal = if has_orthogonal { orthogonal } else { 0 };
    inducing_config(sparse, (count, orthogonal), seed, dtype)
}

/// How many inducing points there are, and how many orthogonal ones: as many as were asked for, else
/// as many as there are different training inputs for, up to the defaults.
fn inducing_counts(
    sparse: &SparseSettings,
    has_orthogonal: bool,
    data: &PreparedData,
) -> Result<(usize, usize), SettingError> {
    let (rows, distinct) = (data.train.len(), data.distinct_training_inputs());
    if let Some(requested) = sparse.inducing {
        if requested > rows {
            return Err(SettingError::TooManyInducing { requested, rows });
        }
        if requested > distinct {
            return Err(SettingError::TooFewDistinct {
                requested,
                distinct,
            });
        }
    }
    if !has_orthogonal {
        return Ok((sparse.inducing.unwrap_or(DEFAULT_INDUCING.min(distinct)), 0));
    }
    let left = (sparse.orthogonal).map_or(distinct / 2, |count| distinct.saturating_sub(count));
    let inducing = sparse.inducing.unwrap_or(DEFAULT_INDUCING.min(left).max(1));
    let left = distinct.saturating_sub(inducing);
    let orthogonal = sparse.orthogonal.unwrap_or(inducing.min(left).max(1));
    match orthogonal > left {
        true => Err(SettingError::TooFewForBoth {
            inducing,
            orthogonal,
            distinct,
        }),
        false => Ok((inducing, orthogonal)),
    }
}

fn inducing_config(
    sparse: &mut SparseSettings,
    (count, orthogonal): (usize, usize),
    seed: u64,
    dtype: DType,
) -> InducingConfig {
    sparse.inducing = Some(count);
    sparse.orthogonal = (orthogonal > 0).then_some(orthogonal);
    let default = Jitter::for_precision(dtype).initial;
    let jitter = *sparse.jitter.get_or_insert(default);
    InducingConfig {
        count,
        orthogonal,
        initializer: match sparse.initializer {
            InitializerName::Subset => Initializer::Subset,
            InitializerName::KMeans => Initializer::KMeans,
            InitializerName::GreedyVariance => Initializer::GreedyVariance,
        },
        seed,
        jitter: Some(Jitter::relative(jitter)),
    }
}
