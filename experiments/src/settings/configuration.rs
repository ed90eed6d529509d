//! Configuration files.

use std::path::Path;

use super::ConfigurationError;
use crate::arguments::RunOptions;

/// The options in a configuration file.
///
/// # Errors
///
/// When the file cannot be read or holds something else.
pub fn read_configuration(path: &Path) -> Result<RunOptions, ConfigurationError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigurationError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|reason| ConfigurationError::Malformed {
        path: path.to_owned(),
        reason: burn_gp_models::explained(&reason),
    })
}
