//! The variational posterior.

use burn_gp_core::variational::{OrthogonallyDecoupledConfig, PosteriorConfig, PosteriorName};
use serde_json::{Value, json};

use super::pseudo_observations::{auxiliary, mean, probes};
use crate::arguments::{ModelFields, RunOptions, read};
use crate::option_error::OptionError;
use crate::ranges::{at_most, only};

/// The default number of columns of the orthogonal inducing points' covariance that a step uses.
const DEFAULT_COLUMNS: usize = 1024;

type FieldValue = fn(&mut RunOptions) -> Result<Value, OptionError>;

/// The fields of posteriors whose values follow from options.
const FIELDS: [(&str, FieldValue); 5] = [
    ("/seed", |options| Ok(json!(options.seed()))),
    ("/columns", |options| Ok(json!(options.columns))),
    ("/probes", |options| Ok(json!(probes(options)))),
    ("/observations/mean", |options| Ok(json!(mean(options)))),
    ("/auxiliary", |options| Ok(json!(auxiliary(options)?))),
];

/// The posterior of the model, or of each of its layers: that of `model`, with options for the fields that it has.
/// `None` if the model has no posterior to choose.
pub(super) fn posterior(
    resolved: &mut RunOptions,
    model: &ModelFields,
) -> Result<Option<PosteriorConfig>, OptionError> {
    let Some(mut fields) = model.get("posterior").cloned() else {
        return Ok(None);
    };
    if let Some(posterior) = model.posterior().filter(|_| model.has("posterior")) {
        resolved.posterior = PosteriorName::find(posterior.name());
    }
    for (field, value) in FIELDS {
        if let Some(own) = fields.pointer_mut(field) {
            *own = value(resolved)?;
        }
    }
    read("posterior", fields).map(Some)
}

/// The posterior of the model for this many orthogonal inducing points.
pub(super) fn posterior_of(
    resolved: &mut RunOptions,
    model: &ModelFields,
    orthogonal: usize,
) -> Result<Option<PosteriorConfig>, OptionError> {
    let posterior = posterior(resolved, model)?;
    let decoupled = (posterior.as_ref())
        .and_then(|posterior| posterior.downcast_ref::<OrthogonallyDecoupledConfig>());
    let Some(decoupled) = decoupled else {
        return Ok(posterior);
    };
    let count = *(resolved.columns).get_or_insert(DEFAULT_COLUMNS.min(orthogonal));
    at_most("--columns", count, orthogonal, || {
        only(orthogonal, "orthogonal inducing point")
    })?;
    let posterior = decoupled.with_columns(count).into();
    Ok(Some(with_needed_columns(posterior, orthogonal)))
}

/// The posterior, which uses all columns if there are no more than a step would use.
pub(super) fn with_needed_columns(
    posterior: PosteriorConfig,
    orthogonal: usize,
) -> PosteriorConfig {
    match posterior.downcast_ref::<OrthogonallyDecoupledConfig>() {
        Some(decoupled) => OrthogonallyDecoupledConfig {
            columns: decoupled.columns.filter(|&columns| columns < orthogonal),
            ..*decoupled
        }
        .into(),
        None => posterior,
    }
}
