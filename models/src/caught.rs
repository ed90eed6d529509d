//! Turns panics into error messages.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// The result of `work`, or the message of its panic. Initializing a model from an invalid
/// configuration panics, because it is a programming error. If the configuration comes from a user or
/// a file, this function turns the panic into an error.
///
/// # Errors
///
/// When `work` panics.
pub(crate) fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| panic_message(&*panic))
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "without a message".to_owned(),
    }
}
