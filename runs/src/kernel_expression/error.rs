//! Errors in kernel expressions.

use burn_gp_datasets::did_you_mean;

/// An invalid kernel expression. Positions are characters, counted from 1.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelExpressionError {
    /// A character that is not allowed in kernels.
    #[error("character {place}: {found:?} is not allowed in a kernel")]
    Character {
        /// The position of the character.
        place: usize,
        /// The character.
        found: char,
    },
    /// An unexpected token.
    #[error("character {place}: expected {expected}, found {found}")]
    Unexpected {
        /// The position of the token.
        place: usize,
        /// The tokens allowed at this position.
        expected: &'static str,
        /// The token found.
        found: String,
    },
    /// An unknown kernel name.
    #[error(
        "character {place}: unknown kernel {name}{} Known kernels: {known}", did_you_mean(.nearest)
    )]
    UnknownKernel {
        /// The position of the name.
        place: usize,
        /// The name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        known: String,
    },
    /// An option that the kernel does not have.
    #[error("character {place}: {kernel} has no option {option}; it takes {known}")]
    UnknownOption {
        /// The position of the option.
        place: usize,
        /// The kernel.
        kernel: &'static str,
        /// The option.
        option: String,
        /// The options of the kernel.
        known: String,
    },
    /// A wrong number of kernels in parentheses.
    #[error("character {place}: {kernel} takes {expected} in its parentheses, found {found}")]
    Operands {
        /// The position of the kernel.
        place: usize,
        /// The kernel.
        kernel: &'static str,
        /// The required number of kernels.
        expected: String,
        /// The number of kernels found.
        found: usize,
    },
    /// Options that are not a valid configuration of the kernel.
    #[error("character {place}: {kernel}: {reason}")]
    Fields {
        /// The position of the kernel.
        place: usize,
        /// The kernel.
        kernel: &'static str,
        /// The reason.
        reason: String,
    },
    /// An option value out of range.
    #[error("character {place}: {option} is {value} but must be {expected}")]
    Value {
        /// The position of the option.
        place: usize,
        /// The option.
        option: String,
        /// Its value.
        value: f64,
        /// The allowed values.
        expected: &'static str,
    },
    /// Too many nested parentheses.
    #[error("character {place}: more than {most} nested parentheses")]
    TooDeep {
        /// The position of the first parenthesis past the limit.
        place: usize,
        /// The limit.
        most: usize,
    },
    /// Too many kernels in a sum or a product, or too many restrictions to some inputs.
    #[error("character {place}: more than {most} kernels in one expression")]
    TooMany {
        /// The position of the first kernel past the limit.
        place: usize,
        /// The limit.
        most: usize,
    },
}
