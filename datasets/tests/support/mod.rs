//! Real data, which need not be there.

use std::io::Write;
use std::path::PathBuf;

/// The folder of real data that `BURN_GP_DATA` names; without one the test says that it is skipped.
pub fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("BURN_GP_DATA").map(PathBuf::from);
    if folder.is_none() {
        skipped("BURN_GP_DATA names no data directory");
    }
    folder
}

/// Says that the running test, or a part of it, is skipped. This goes past the test runner, which
/// keeps to itself what a passing test prints.
pub fn skipped(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "{test} skipped: {reason}");
}
