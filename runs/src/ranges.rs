//! Range checks of options.

use std::{borrow::Cow, fmt::Display};

use burn_gp_core::parameter::LOWER_BOUND;

use crate::setting_error::SettingError;

/// Checks that a value is in a range, which is described as in "but must be a positive number".
pub fn within<T: Copy + Display>(
    option: impl Into<Cow<'static, str>>,
    value: T,
    is_within: bool,
    range: impl Into<Cow<'static, str>>,
) -> Result<T, SettingError> {
    match is_within {
        true => Ok(value),
        false => Err(SettingError::OutOfRange {
            option: option.into(),
            value: value.to_string(),
            range: range.into(),
        }),
    }
}

/// Checks that a count is not zero, if given.
pub fn at_least_one<T: Copy + Default + Display + PartialEq>(
    option: impl Into<Cow<'static, str>>,
    value: Option<T>,
) -> Result<Option<T>, SettingError> {
    let check = |count| within(option, count, count != T::default(), "be at least 1");
    value.map(check).transpose()
}

/// Checks that a number is finite and positive.
pub fn positive(option: impl Into<Cow<'static, str>>, value: f64) -> Result<f64, SettingError> {
    let is_positive = value > 0.0 && value.is_finite();
    within(option, value, is_positive, "be a positive number")
}

/// Checks that a number is finite and above the lower bound of positive hyperparameters.
pub fn above_lower_bound(option: &'static str, value: f64) -> Result<f64, SettingError> {
    let is_above = value > LOWER_BOUND && value.is_finite();
    let range = format!("be a number above {LOWER_BOUND:e}");
    within(option, value, is_above, range)
}

/// Checks that a count is not zero, and fills in its default.
pub fn count(
    option: &'static str,
    value: &mut Option<usize>,
    default: usize,
) -> Result<usize, SettingError> {
    at_least_one(option, *value)?;
    Ok(*value.get_or_insert(default))
}

/// Checks that a count is at most `most`. `bound` says why, as in "there are only 5 training rows".
pub fn at_most(
    option: &'static str,
    requested: usize,
    most: usize,
    bound: impl FnOnce() -> String,
) -> Result<(), SettingError> {
    match requested > most {
        true => Err(SettingError::TooMany {
            option,
            requested,
            bound: bound(),
            most,
        }),
        false => Ok(()),
    }
}

/// Checks that a count is at most the number of training rows.
pub fn at_most_rows(option: &'static str, count: usize, rows: usize) -> Result<(), SettingError> {
    at_most(option, count, rows, || {
        format!("there are only {rows} training rows")
    })
}
