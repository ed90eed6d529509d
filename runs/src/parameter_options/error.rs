//! Errors in parameter options.

/// An invalid parameter option.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ParameterOptionError {
    /// An incomplete option.
    #[error("expected {form}")]
    Form {
        /// The expected form.
        form: &'static str,
    },
    /// A text that is not a number.
    #[error("{text:?} is not a finite number")]
    Number {
        /// The text.
        text: String,
    },
    /// An unknown prior.
    #[error("unknown prior {text}; did you mean {nearest}? Known priors: {known}")]
    Prior {
        /// The text.
        text: String,
        /// The most similar prior.
        nearest: &'static str,
        /// All priors.
        known: String,
    },
}
