//! Turns panics into error messages.

use std::{
    any::Any,
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::training::DeviceFailure;

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
            None => format!("panicked: {}", message(&*panic)),
        }),
    }
}

/// The result of `work`, or the message of its panic. Initializing a model from an invalid
/// configuration panics, because it is a programming error. If the configuration comes from a user or
/// a file, this function turns the panic into an error.
///
/// # Errors
///
/// When `work` panics.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic))
}

fn message(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "without a message".to_owned(),
    }
}
