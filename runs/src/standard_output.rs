//! Output to the terminal.

use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::failure::Failure;

/// Prints to the standard output, which may be closed by its reader.
///
/// # Errors
///
/// If it is closed or cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::ClosedOutput,
        _ => Failure::writing(Path::new("the standard output"))(error),
    })
}
