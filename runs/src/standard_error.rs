//! Messages on the standard error. One that cannot be written, because the terminal is closed or a disk is full,
//! is left out: no work is lost for it.

use std::fmt::Display;
use std::io::Write;

use crate::visible_text::visible;

/// Writes a line, with its control characters made visible.
pub fn tell(text: &str) {
    // All at once, because several processes may write to the same terminal.
    let line = format!("{}\n", visible(text));
    // The message is all that is lost.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Writes a warning.
pub fn warn(text: impl Display) {
    tell(&format!("warning: {text}"));
}
