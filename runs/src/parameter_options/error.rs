//! Errors in parameter options.

use burn_gp_datasets::did_you_mean;

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
    #[error("unknown prior {text}{} Known priors: {known}", did_you_mean(.nearest))]
    Prior {
        /// The text.
        text: String,
        /// The most similar prior.
        nearest: Option<String>,
        /// All priors.
        known: String,
    },
}
