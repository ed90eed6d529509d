//! Messages of panics caused by programming errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The panic message of `mistake`.
#[track_caller]
pub fn message_of<T>(what: &str, mistake: impl FnOnce() -> T) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(mistake)) else {
        panic!("{what} does not panic");
    };
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| {
        payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
    });
    text.unwrap_or_default()
}

/// Asserts that the panic message contains all of these sizes.
#[track_caller]
pub fn assert_names<T>(what: &str, sizes: &[&str], mistake: impl FnOnce() -> T) {
    let message = message_of(what, mistake);
    for size in sizes {
        assert!(
            message.contains(size),
            "{what}: {size} is not in: {message}"
        );
    }
}
