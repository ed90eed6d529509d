//! Numbers on the command line of a benchmark.

use core::num::ParseIntError;

/// What follows `--`, without the flag that cargo hands on.
pub fn numbers() -> Result<Vec<usize>, ParseIntError> {
    let arguments = std::env::args().skip(1);
    arguments
        .filter(|argument| argument != "--bench")
        .map(|argument| argument.parse())
        .collect()
}
