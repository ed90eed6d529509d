//! Regression by conjugate gradients.

use burn_gp_core::inference::ConjugateGradientsSettings;

use crate::arguments::RunOptions;
use crate::ranges::{at_least_one, count, positive};
use crate::setting_error::SettingError;

/// How regression by conjugate gradients solves.
pub(super) fn conjugate_gradients(
    resolved: &mut RunOptions,
) -> Result<ConjugateGradientsSettings, SettingError> {
    let seed = resolved.seed();
    let default = ConjugateGradientsSettings::default();
    let tolerance = *resolved.tolerance.get_or_insert(default.tolerance);
    Ok(ConjugateGradientsSettings {
        iterations: count("--iterations", &mut resolved.iterations, default.iterations)?,
        probes: count("--trace-probes", &mut resolved.trace_probes, default.probes)?,
        tolerance: positive("--tolerance", tolerance)?,
        cached_variances: at_least_one("--cached-variances", resolved.cached_variances)?,
        rank: resolved.pivots.or(default.rank),
        mixed_precision: default.mixed_precision,
        seed,
    })
}
