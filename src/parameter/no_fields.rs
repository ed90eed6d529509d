//! Variants of configurations that have nothing but their name.

use serde::{Deserialize, Deserializer};

/// Reads the fields of a variant that has none. serde's own reading of a tagged variant without fields
/// passes over any that are there.
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
