//! Calls readers of other crates, some of which panic on damaged files.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::error::DataError;

thread_local! {
    /// Whether a panic of this thread is caught and reported as an error.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Calls `read`. If it panics, returns the error from `damaged` and prints nothing.
pub(crate) fn undamaged<T>(
    damaged: impl FnOnce(String) -> DataError,
    read: impl FnOnce() -> Result<T, DataError>,
) -> Result<T, DataError> {
    silence_caught_panics();
    let outer = IS_CAUGHT.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_CAUGHT.set(outer);
    result.unwrap_or_else(|_| Err(damaged("its contents are damaged".into())))
}

/// Makes the panic hook ignore panics that are caught here. Other panics reach the previous hook.
fn silence_caught_panics() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_CAUGHT.get() {
                report(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::error::FileError;

    #[test]
    fn a_panic_is_an_error() {
        let damaged = |reason| {
            DataError::File(FileError::NotRecords {
                path: Path::new("a").into(),
                reason,
            })
        };
        let error = undamaged(damaged, || -> Result<(), DataError> {
            panic!("inside another crate")
        });
        let message = error.unwrap_err().to_string();
        assert!(message.contains("its contents are damaged"), "{message}");
        assert!(!IS_CAUGHT.get());
        assert!(undamaged(damaged, || Ok(1)).is_ok());
    }
}
