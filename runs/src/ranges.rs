//! Range checks of options.

use std::{borrow::Cow, fmt::Display};

use burn_gp_core::parameter::LOWER_BOUND;

use crate::option_error::OptionError;

/// Checks that a value is in a range. `range` completes "but must", as in "be a positive number".
pub fn within<T: Copy + Display>(
    option: impl Into<Cow<'static, str>>,
    value: T,
    is_within: bool,
    range: impl Into<Cow<'static, str>>,
) -> Result<T, OptionError> {
    match is_within {
        true => Ok(value),
        false => Err(OptionError::OutOfRange {
            option: option.into(),
            value: value.to_string(),
            range: range.into(),
        }),
    }
}

/// The maximum of counts that only cost time, such as steps. Sums and products of such counts do not overflow.
pub const MOST_STEPS: u64 = 1_000_000_000;

/// The maximum of counts that cost memory, such as the units of a network.
pub const MOST_SIZE: u64 = 100_000;

/// The maximum number of runs, layers or draws, which each cost much time or memory.
pub const MOST_PARTS: u64 = 10_000;

/// The maximum number of weights of a network, or of values in the covariances of a layer.
pub const MOST_VALUES: usize = 1 << 30;

/// Checks that a count, if given, lies between 1 and [`MOST_STEPS`].
pub fn at_least_one<T: Copy + Display + TryInto<u64>>(
    option: impl Into<Cow<'static, str>>,
    value: Option<T>,
) -> Result<Option<T>, OptionError> {
    from_one_to(MOST_STEPS, option, value)
}

/// Checks that a count, if given, lies between 1 and `most`.
pub fn from_one_to<T: Copy + Display + TryInto<u64>>(
    most: u64,
    option: impl Into<Cow<'static, str>>,
    value: Option<T>,
) -> Result<Option<T>, OptionError> {
    let check = |count: T| {
        let number = count.try_into().unwrap_or(u64::MAX);
        let range = match number {
            0 => "be at least 1".into(),
            _ => format!("be at most {most}"),
        };
        within(option, count, (1..=most).contains(&number), range)
    };
    value.map(check).transpose()
}

/// Checks that a number is finite and positive.
pub fn positive(option: impl Into<Cow<'static, str>>, value: f64) -> Result<f64, OptionError> {
    let is_positive = value > 0.0 && value.is_finite();
    within(option, value, is_positive, "be a positive number")
}

/// Checks that a number is finite and above the lower bound of positive hyperparameters.
pub fn above_lower_bound(option: &'static str, value: f64) -> Result<f64, OptionError> {
    let is_above = value > LOWER_BOUND && value.is_finite();
    let range = format!("be a number above {LOWER_BOUND:e}");
    within(option, value, is_above, range)
}

/// Checks that a count lies between 1 and `most`, and fills in its default.
pub fn count(
    most: u64,
    option: &'static str,
    value: &mut Option<usize>,
    default: usize,
) -> Result<usize, OptionError> {
    from_one_to(most, option, *value)?;
    Ok(*value.get_or_insert(default))
}

/// Checks that a count is at most `most`. `bound` gives the reason, such as "there are only 5 training rows".
pub fn at_most(
    option: &'static str,
    requested: usize,
    most: usize,
    bound: impl FnOnce() -> String,
) -> Result<(), OptionError> {
    match requested > most {
        true => Err(OptionError::TooMany {
            option,
            requested,
            bound: bound(),
            most,
        }),
        false => Ok(()),
    }
}

/// Checks that a count is at most the number of training rows.
pub fn at_most_rows(option: &'static str, count: usize, rows: usize) -> Result<(), OptionError> {
    at_most(option, count, rows, || {
        format!("there are only {rows} training rows")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_limits() {
        assert!(matches!(
            at_least_one("--steps", Some(7_usize)),
            Ok(Some(7))
        ));
        assert!(matches!(
            from_one_to(9, "--blocks", None::<usize>),
            Ok(None)
        ));
        let error = |value: u64| {
            let result = from_one_to(9, "--blocks", Some(value));
            result.map_or_else(|error| error.to_string(), |_| String::new())
        };
        assert_eq!(error(9), "");
        assert_eq!(error(0), "--blocks is 0 but must be at least 1");
        assert_eq!(error(10), "--blocks is 10 but must be at most 9");
        let most = u64::MAX.to_string();
        assert!(error(u64::MAX).contains(&most));
        assert!(at_least_one("--steps", Some(u64::MAX)).is_err());
    }
}
