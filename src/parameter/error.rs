//! Errors in settings of parameters.

use core::fmt;

use super::{Positive, Prior};

/// The reason why a parameter cannot be read, set, bounded, frozen or given a prior.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// No parameter has that path.
    #[error("there is no parameter {path}; did you mean {nearest}? Known parameters: {known}")]
    Unknown {
        /// The path.
        path: String,
        /// The most similar path.
        nearest: String,
        /// Every path, except for network weights.
        known: String,
    },
    /// The number of values is neither one nor the number of values of the parameter.
    #[error(
        "the number of values of {path} is {expected}, not {found}; give as many, or one for all"
    )]
    Count {
        /// The path.
        path: String,
        /// The number of values of the parameter.
        expected: usize,
        /// The number of values given.
        found: usize,
    },
    /// A value is outside the bounds.
    #[error("{path} is {value}; it must {}", Range(*.lower, *.upper))]
    OutOfBounds {
        /// The path.
        path: String,
        /// The value.
        value: f64,
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// A kernel uses an input that does not exist.
    #[error("{path} uses input {input}, counted from zero, but the number of inputs is {inputs}")]
    MissingInput {
        /// The path.
        path: String,
        /// The zero-based input.
        input: usize,
        /// The number of inputs, D.
        inputs: usize,
    },
    /// The values of a configuration are invalid.
    #[error("{path}: {reason}")]
    Refused {
        /// The path.
        path: String,
        /// The reason.
        reason: String,
    },
    /// No value lies between the bounds.
    #[error("no value of {path} lies between the bounds {lower} and {upper}")]
    Empty {
        /// The path.
        path: String,
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// The parameter is already bounded.
    #[error("{path} already has bounds; set all of its bounds at once")]
    AlreadyBounded {
        /// The path.
        path: String,
    },
    /// A prior has zero density at some values of the parameter.
    #[error(
        "{prior} has zero density at some values that {path} may take; give {path} bounds within \
         {lower} and {upper}"
    )]
    Support {
        /// The path.
        path: String,
        /// The prior.
        prior: Prior,
        /// The lower end of the prior's support.
        lower: f64,
        /// The upper end of the prior's support.
        upper: f64,
    },
    /// A prior is not a valid distribution.
    #[error("the prior {prior} of {path} is not a distribution; {expected}")]
    Distribution {
        /// The path.
        path: String,
        /// The prior.
        prior: Prior,
        /// The requirement on its parameters.
        expected: &'static str,
    },
}

impl ParameterError {
    /// Checks that a value is positive and finite.
    ///
    /// # Errors
    ///
    /// [`ParameterError::OutOfBounds`] if not.
    pub(crate) fn check_positive(path: &str, value: f64) -> Result<(), Self> {
        Self::check_between(path, value, Positive::RANGE)
    }

    /// Checks that a value lies between two bounds.
    ///
    /// # Errors
    ///
    /// [`ParameterError::OutOfBounds`] if not.
    pub(crate) fn check_between(
        path: &str,
        value: f64,
        (lower, upper): (f64, f64),
    ) -> Result<(), Self> {
        if lower < value && value < upper {
            return Ok(());
        }
        Err(Self::OutOfBounds {
            path: path.to_owned(),
            value,
            lower,
            upper,
        })
    }
}

/// The values between two bounds, in words.
struct Range(f64, f64);

impl fmt::Display for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(lower, upper) = self;
        match (lower.is_finite(), upper.is_finite()) {
            (true, true) => write!(formatter, "lie between {lower} and {upper}"),
            (true, false) => write!(formatter, "be finite and above {lower}"),
            (false, true) => write!(formatter, "be finite and below {upper}"),
            (false, false) => formatter.write_str("be a finite number"),
        }
    }
}
