//! The solver settings of regression by conjugate gradients.

use burn_gp::inference::ConjugateGradientsSettings;

use super::{SettingError, at_least_one, positive};
use crate::arguments::{FullBatchOptions, RunOptions};

/// The settings in `options`.
pub(super) fn conjugate_gradients(
    options: &RunOptions,
) -> Result<ConjugateGradientsSettings, SettingError> {
    let default = ConjugateGradientsSettings::default();
    let given = &options.full_batch;
    let tolerance = given.tolerance.unwrap_or(default.tolerance);
    let iterations = at_least_one("--iterations", given.iterations)?;
    let probes = at_least_one("--trace-probes", given.trace_probes)?;
    Ok(ConjugateGradientsSettings {
        iterations: iterations.unwrap_or(default.iterations),
        tolerance: positive("--tolerance", tolerance)?,
        cached_variances: at_least_one("--cached-variances", given.cached_variances)?,
        rank: given.pivots.or(default.rank),
        probes: probes.unwrap_or(default.probes),
        seed: options.seed.unwrap_or(0),
    })
}

/// Converts `settings` back to options.
pub(super) fn conjugate_gradients_options(
    settings: &ConjugateGradientsSettings,
) -> FullBatchOptions {
    FullBatchOptions {
        tolerance: Some(settings.tolerance),
        pivots: settings.rank,
        iterations: Some(settings.iterations),
        trace_probes: Some(settings.probes),
        cached_variances: settings.cached_variances,
        ..FullBatchOptions::default()
    }
}
