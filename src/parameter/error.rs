//! What can be wrong with what is asked of a parameter.

use super::Prior;

/// Why a parameter cannot be read, set, bounded, frozen or given a prior.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterError {
    /// No parameter has that path.
    #[error("there is no parameter {path}; did you mean {nearest}? There are {known}")]
    Unknown {
        /// The path.
        path: String,
        /// The most similar path.
        nearest: String,
        /// Every path, but for the weights of networks.
        known: String,
    },
    /// Neither one value nor as many as the parameter has.
    #[error("{path} has {expected} values, not {found}; give as many, or one for all")]
    Count {
        /// The path.
        path: String,
        /// How many values the parameter has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// A value outside the bounds.
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
    /// Bounds with nothing between them.
    #[error("no value of {path} lies between the bounds {lower} and {upper}")]
    Empty {
        /// The path.
        path: String,
        /// The lower bound.
        lower: f64,
        /// The upper bound.
        upper: f64,
    },
    /// Bounds where there are bounds.
    #[error("{path} has bounds already; give all of its bounds at once")]
    AlreadyBounded {
        /// The path.
        path: String,
    },
    /// A prior that has no density at some values of the parameter.
    #[error(
        "{prior} has no density at every value that {path} may take; give {path} bounds within \
         {lower} and {upper}"
    )]
    Support {
        /// The path.
        path: String,
        /// The prior.
        prior: Prior,
        /// Where the density begins.
        lower: f64,
        /// Where it ends.
        upper: f64,
    },
    /// A prior that is no distribution.
    #[error("the prior {prior} of {path} is no distribution; {expected}")]
    Distribution {
        /// The path.
        path: String,
        /// The prior.
        prior: Prior,
        /// What its numbers must be.
        expected: &'static str,
    },
}
