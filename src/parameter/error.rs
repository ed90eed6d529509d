//! Errors in settings of parameters.

use super::Prior;

/// The reason why a parameter cannot be read, set, bounded, frozen or given a prior.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// No parameter has that path.
    #[error("there is no parameter {path}; did you mean {nearest}? There are {known}")]
    Unknown {
        /// The path.
        path: String,
        /// The most similar path.
        nearest: String,
        /// Every path, except for network weights.
        known: String,
    },
    /// The number of values is neither one nor that of the parameter.
    #[error("{path} has {expected} values, not {found}; give as many, or one for all")]
    Count {
        /// The path.
        path: String,
        /// The number of values of the parameter.
        expected: usize,
        /// The number of values given.
        found: usize,
    },
    /// A value is outside the bounds.
    #[error("{path} is {value}, which does not lie between its bounds {lower} and {upper}")]
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
    #[error("{path} has bounds already; give all of its bounds at once")]
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
        /// The requirement on its numbers.
        expected: &'static str,
    },
}
