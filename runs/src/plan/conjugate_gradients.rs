//! Regression by conjugate gradients.

use burn_gp_core::inference::ConjugateGradientsSettings;

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::ranges::{MOST_SIZE, count, from_one_to, positive};

/// The settings of regression by conjugate gradients.
pub(super) fn conjugate_gradients(
    resolved: &mut RunOptions,
) -> Result<ConjugateGradientsSettings, OptionError> {
    let seed = resolved.seed();
    let default = ConjugateGradientsSettings::default();
    let tolerance = *resolved.tolerance.get_or_insert(default.tolerance);
    Ok(ConjugateGradientsSettings {
        iterations: count(
            MOST_SIZE,
            "--iterations",
            &mut resolved.iterations,
            default.iterations,
        )?,
        probes: count(
            MOST_SIZE,
            "--trace-probes",
            &mut resolved.trace_probes,
            default.probes,
        )?,
        tolerance: positive("--tolerance", tolerance)?,
        cached_variances: from_one_to(MOST_SIZE, "--cached-variances", resolved.cached_variances)?,
        rank: resolved.pivots.or(default.rank),
        mixed_precision: default.mixed_precision,
        seed,
    })
}
