//! Messages on the standard error. A message that cannot be written, because the terminal is closed or the disk
//! is full, is dropped, so that no work is lost.

use std::fmt::Display;
use std::io::Write;

use crate::visible_text::visible;

/// Writes a line, with its control characters made visible.
pub fn tell(text: &str) {
    // One write, because several processes may share the terminal.
    let line = format!("{}\n", visible(text));
    // Only the message is lost.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Writes a warning.
pub fn warn(text: impl Display) {
    tell(&format!("warning: {text}"));
}
