//! Range checks of options.

use std::borrow::Cow;

use burn_gp::parameter::LOWER_BOUND;

use crate::setting_error::SettingError;

/// Checks that a count is not zero, if given.
pub(crate) fn at_least_one<T: Default + PartialEq>(
    option: impl Into<Cow<'static, str>>,
    value: Option<T>,
) -> Result<Option<T>, SettingError> {
    match value {
        Some(count) if count == T::default() => Err(SettingError::Zero {
            option: option.into(),
        }),
        _ => Ok(value),
    }
}

/// Checks that there are at most as many actions as rows.
pub(crate) fn enough_rows(requested: usize, rows: usize) -> Result<(), SettingError> {
    if requested > rows {
        Err(SettingError::TooManyActions { requested, rows })
    } else {
        Ok(())
    }
}

/// Checks that a number is finite and positive.
pub(crate) fn positive(
    option: impl Into<Cow<'static, str>>,
    value: f64,
) -> Result<f64, SettingError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(SettingError::NotPositive {
            option: option.into(),
            value,
        })
    }
}

/// Checks that a number is finite and above the lower bound of positive hyperparameters.
pub(crate) fn above_lower_bound(option: &'static str, value: f64) -> Result<f64, SettingError> {
    if value > LOWER_BOUND && value.is_finite() {
        Ok(value)
    } else {
        Err(SettingError::BelowLowerBound {
            option,
            value,
            lower: LOWER_BOUND,
        })
    }
}

/// Checks that a count is not zero, and fills in its default.
pub(crate) fn count(
    option: &'static str,
    value: &mut Option<usize>,
    default: usize,
) -> Result<usize, SettingError> {
    at_least_one(option, *value)?;
    Ok(*value.get_or_insert(default))
}
