//! Suppressed reports of expected panics.

use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};

/// Runs `work` without reports of its panics on the standard error.
pub fn without_reports<T>(work: impl FnOnce() -> T) -> T {
    let report = panic::take_hook();
    panic::set_hook(Box::new(|_| ()));
    let result = catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(report);
    result.unwrap_or_else(|panic| resume_unwind(panic))
}
