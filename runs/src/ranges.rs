//! Range checks of options.

use std::{borrow::Cow, fmt::Display};

use burn_gp_core::parameter::LOWER_BOUND;
use burn_gp_datasets::{agreeing, counted};

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

/// Checks a count that only costs time.
pub fn steps<T: Copy + Display + TryInto<u64>>(
    option: String,
    value: T,
) -> Result<Option<T>, OptionError> {
    at_least_one(option, Some(value))
}

/// Checks a count that costs memory.
pub fn size<T: Copy + Display + TryInto<u64>>(
    option: String,
    value: T,
) -> Result<Option<T>, OptionError> {
    from_one_to(MOST_SIZE, option, Some(value))
}

/// Checks a number of layers, draws or runs.
pub fn parts<T: Copy + Display + TryInto<u64>>(
    option: String,
    value: T,
) -> Result<Option<T>, OptionError> {
    from_one_to(MOST_PARTS, option, Some(value))
}

/// Checks that a number is finite and positive.
pub fn positive(option: impl Into<Cow<'static, str>>, value: f64) -> Result<f64, OptionError> {
    let is_positive = value > 0.0 && value.is_finite();
    within(option, value, is_positive, "be a positive number")
}

/// Checks that a number is finite.
pub fn finite(option: String, value: f64) -> Result<f64, OptionError> {
    within(option, value, value.is_finite(), "be a finite number")
}

/// Checks that a number is finite and not negative.
pub fn zero_or_positive(option: String, value: f64) -> Result<f64, OptionError> {
    let is_within = value >= 0.0 && value.is_finite();
    within(option, value, is_within, "be zero or a positive number")
}

/// Checks that a number is finite and above the lower bound of positive hyperparameters.
pub fn parameter(option: impl Into<Cow<'static, str>>, value: f64) -> Result<f64, OptionError> {
    let is_above = value > LOWER_BOUND && value.is_finite();
    let range = format!("be a number above {LOWER_BOUND:e}");
    within(option, value, is_above, range)
}

/// Checks a share that is below one.
pub fn share(option: String, value: f64) -> Result<f64, OptionError> {
    let is_within = (0.0..1.0).contains(&value);
    within(option, value, is_within, "be at least 0 and below 1")
}

/// Checks a jitter relative to the diagonal of a covariance.
pub fn jitter(option: String, value: f64) -> Result<f64, OptionError> {
    let range = "be at least 0 and below 1; common values are 1e-8 in f64 and 1e-6 in f32";
    within(option, value, (0.0..1.0).contains(&value), range)
}

/// Checks the momentum of an optimizer.
pub fn momentum(option: String, value: f64) -> Result<f64, OptionError> {
    let range = "be at least 0 and below 1; 0.99 is common";
    within(option, value, (0.0..1.0).contains(&value), range)
}

/// Checks the step size of natural gradients.
pub fn step_size(option: String, value: f64) -> Result<f64, OptionError> {
    let is_within = value > 0.0 && value <= 1.0; // and not NaN
    let range = "be above 0 and at most 1; 0.1 is common";
    within(option, value, is_within, range)
}

/// Checks the number of folds of a cross-validation.
pub fn folds(option: String, value: usize) -> Result<Option<usize>, OptionError> {
    within(option.clone(), value, value >= 2, "be at least 2")?;
    parts(option, value)
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

/// The reason of a bound: `there are only 7 training rows`.
pub fn only(count: usize, noun: &str) -> String {
    let verb = agreeing(count, ["is", "are"]);
    format!("there {verb} only {}", counted(count, noun))
}

/// Checks that a count is at most the number of training rows.
pub fn at_most_rows(option: &'static str, count: usize, rows: usize) -> Result<(), OptionError> {
    at_most(option, count, rows, || only(rows, "training row"))
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
