//! Real data for tests, which are optional.

use std::io::Write;
use std::path::PathBuf;

/// The folder of real data from `BURN_GP_DATA`. Without it, the test reports that it is skipped.
pub fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("BURN_GP_DATA").map(PathBuf::from);
    if folder.is_none() {
        skipped("BURN_GP_DATA names no data directory");
    }
    folder
}

/// Reports that the running test, or a part of it, is skipped. It writes to standard error
/// directly, because the test harness hides the output of passing tests.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "{test} skipped: {reason}");
}
