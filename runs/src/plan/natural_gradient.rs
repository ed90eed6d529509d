//! Natural gradients.

use burn_gp_core::optim::NaturalGradient;

use crate::arguments::RunOptions;
use crate::option_error::OptionError;

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
    let steps = *warm_up.get_or_insert(NaturalGradient::WARM_UP);
    Ok(Some(NaturalGradient::warming_up(step_size, steps)))
}
