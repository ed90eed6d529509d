//! Writing to the standard output: a terminal, a file, or a program that may stop reading.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;
use crate::standard_error::warn;
use crate::visible_text::visible;

/// The name of the standard output in messages.
const NAME: &str = "the standard output";

/// Prints text for people, with its control characters made visible.
///
/// # Errors
///
/// If the output is closed or cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    written(&visible(text)).map_err(failure)
}

/// Prints data for programs unchanged. On a terminal, control characters are made visible.
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

/// Prints text about work that goes on even if the text cannot be written, because its results are in files.
/// The first failure gives a warning.
pub fn inform(text: &str) {
    static HAS_WARNED: AtomicBool = AtomicBool::new(false);
    match written(&visible(text)) {
        Ok(()) => {}
        // The reader has closed the output and needs no more.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(_) if HAS_WARNED.swap(true, Ordering::Relaxed) => {}
        Err(error) => warn(format!(
            "{NAME} cannot be written ({error}); the run continues"
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
