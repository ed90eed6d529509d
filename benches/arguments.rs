//! Numeric command-line arguments of a benchmark.

use core::num::ParseIntError;

/// The arguments after `--`, without the flag that cargo adds.
pub fn numbers() -> Result<Vec<usize>, ParseIntError> {
    let arguments = std::env::args().skip(1);
    arguments
        .filter(|argument| argument != "--bench")
        .map(|argument| argument.parse())
        .collect()
}
