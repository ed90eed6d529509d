//! Natural gradients.

use burn_gp_core::optim::NaturalGradient;

use crate::arguments::RunOptions;
use crate::option_error::OptionError;
use crate::ranges::within;

const DEFAULT_WARM_UP: usize = 10;

/// The initial step size, as a fraction of the final one.
const FIRST_FRACTION: f64 = 1e-3;

/// The natural gradients, if requested.
pub(super) fn natural_gradient(
    resolved: &mut RunOptions,
) -> Result<Option<NaturalGradient>, OptionError> {
    let warm_up = &mut resolved.natural_gradient_warm_up;
    let Some(step_size) = resolved.natural_gradient else {
        return match warm_up {
            Some(_) => Err(OptionError::WarmUpWithoutNaturalGradient),
            None => Ok(None),
        };
    };
    let is_within = step_size > 0.0 && step_size <= 1.0; // and not NaN
    let range = "be above 0 and at most 1; 0.1 is common";
    within("--natural-gradient", step_size, is_within, range)?;
    let natural = NaturalGradient::new(step_size);
    Ok(Some(match *warm_up.get_or_insert(DEFAULT_WARM_UP) {
        0 => natural,
        steps => natural.with_warm_up(FIRST_FRACTION * step_size, steps),
    }))
}
