//! Failures of a computation as error messages.

use std::{
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
};

use burn_gp_models::{panic_message, training::DeviceFailure};

/// The result of `work`, with the message of its error or of its panic.
///
/// # Errors
///
/// When `work` fails or panics.
pub(crate) fn caught<T>(
    work: impl FnOnce() -> Result<T, Box<dyn Error + Send + Sync>>,
) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(panic) => Err(match DeviceFailure::of_panic(&*panic) {
            Some(failure) => failure.to_string(),
            None => format!("panicked: {}", panic_message(&*panic)),
        }),
    }
}
