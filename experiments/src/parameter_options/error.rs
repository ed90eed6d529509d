//! What can be wrong with what is asked of a parameter on the command line.

/// A text that asks nothing of a parameter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterOptionError {
    /// Something is missing.
    #[error("expected {form}")]
    Form {
        /// What is expected.
        form: &'static str,
    },
    /// No number.
    #[error("{text:?} is not a finite number")]
    Number {
        /// The text.
        text: String,
    },
    /// No prior.
    #[error("there is no prior {text}; did you mean {nearest}? Priors are {known}")]
    Prior {
        /// The text.
        text: String,
        /// The most similar prior.
        nearest: &'static str,
        /// Every prior.
        known: String,
    },
}
