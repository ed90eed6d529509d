//! Configuration variants without fields.

use serde::{Deserialize, Deserializer};

/// Reads the fields of a variant that has none. serde itself silently ignores fields given to a
/// tagged variant without fields.
///
/// # Errors
///
/// When there is a field.
#[doc(hidden)]
pub fn no_fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoFields {}

    NoFields::deserialize(deserializer).map(|NoFields {}| ())
}
