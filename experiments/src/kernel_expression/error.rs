//! What can be wrong with a kernel that is typed.

/// A text that is no kernel. Places are characters, counted from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelExpressionError {
    /// A character that no kernel has.
    #[error("character {place}, {found:?}, has no meaning in a kernel")]
    Character {
        /// Where it is.
        place: usize,
        /// What it is.
        found: char,
    },
    /// Something else than what can stand there.
    #[error("character {place}: expected {expected}, found {found}")]
    Unexpected {
        /// Where it is.
        place: usize,
        /// What can stand there.
        expected: &'static str,
        /// What does.
        found: String,
    },
    /// A name that no kernel has.
    #[error(
        "character {place}: there is no kernel {name}; did you mean {nearest}? Kernels are {known}"
    )]
    UnknownKernel {
        /// Where it is.
        place: usize,
        /// The name.
        name: String,
        /// The most similar name.
        nearest: String,
        /// Every name.
        known: String,
    },
    /// An option that the kernel does not have.
    #[error("character {place}: {kernel} has no option {option}; it takes {known}")]
    UnknownOption {
        /// Where it is.
        place: usize,
        /// The kernel.
        kernel: &'static str,
        /// The option.
        option: String,
        /// The kernel's options.
        known: String,
    },
    /// Too many or too few kernels within one.
    #[error("character {place}: {kernel} takes {expected} in its parentheses, found {found}")]
    Operands {
        /// Where the kernel is.
        place: usize,
        /// The kernel.
        kernel: &'static str,
        /// What it takes.
        expected: &'static str,
        /// How many kernels there are.
        found: usize,
    },
    /// An option's value out of range.
    #[error("character {place}: {option} is {value} but must be {expected}")]
    Value {
        /// Where it is.
        place: usize,
        /// The option.
        option: String,
        /// Its value.
        value: f64,
        /// What it must be.
        expected: &'static str,
    },
    /// Parentheses within parentheses.
    #[error("character {place}: more than {most} parentheses within each other")]
    TooDeep {
        /// Where the first one too many is.
        place: usize,
        /// How many there can be.
        most: usize,
    },
    /// A sum or a product of very many kernels, or very many restrictions to some inputs.
    #[error("character {place}: more than {most} kernels in one expression")]
    TooMany {
        /// Where the first one too many begins.
        place: usize,
        /// How many there can be.
        most: usize,
    },
}
