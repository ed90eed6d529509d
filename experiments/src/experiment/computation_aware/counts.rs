//! Checks of the sizes of generated examples.

use crate::settings::{SettingError, at_least_one};

/// Fails where something is zero, or there are more combinations than rows.
///
/// # Errors
///
/// [`SettingError`].
pub(super) fn check_counts(
    rows: usize,
    actions: usize,
    steps: usize,
    seeds: u64,
) -> Result<(), SettingError> {
    at_least_one("--rows", Some(rows))?;
    at_least_one("--actions", Some(actions))?;
    at_least_one("--steps", Some(steps))?;
    check_seeds(seeds)?;
    match actions > rows {
        true => Err(SettingError::TooManyActions {
            requested: actions,
            rows,
        }),
        false => Ok(()),
    }
}

/// Fails where there are none.
///
/// # Errors
///
/// [`SettingError::Zero`].
pub(super) fn check_seeds(seeds: u64) -> Result<(), SettingError> {
    match seeds {
        0 => Err(SettingError::Zero { option: "--seeds" }),
        _ => Ok(()),
    }
}
