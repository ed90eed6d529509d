//! Output on the standard output, which may be a terminal, a file or a program that reads a part of it.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::standard_error::warn;
use crate::visible_text::visible;

/// What messages call it.
const NAME: &str = "the standard output";

/// Prints text for people, with its control characters made visible.
///
/// # Errors
///
/// If the output is closed or cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    written(&visible(text)).map_err(failure)
}

/// Prints data for programs, exactly. Only on a terminal are control characters made visible.
///
/// # Errors
///
/// If the output is closed or cannot be written.
pub fn print_data(text: &str) -> Result<(), Failure> {
    match io::stdout().is_terminal() {
        true => print(text),
        false => written(text).map_err(failure),
    }
}

/// Prints text about work whose results are in files, and which therefore goes on if nobody reads the text. If
/// it cannot be written, a warning says so once.
pub fn inform(text: &str) {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    match written(&visible(text)) {
        Ok(()) => {}
        // Whoever closes the output has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(_) if HAS_WARNED.swap(true, Ordering::Relaxed) => {}
        Err(error) => warn(format!(
            "{NAME} cannot be written ({error}); the work goes on"
        )),
    }
}

fn written(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

fn failure(error: io::Error) -> Failure {
    match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedOutput,
        _ => Failure::writing(Path::new(NAME))(error),
    }
}
