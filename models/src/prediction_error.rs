//! Why rows cannot be predicted and scored.

use burn_gp::{likelihoods::ImpossibleTarget, ops::NotPositiveDefinite};

/// Why rows cannot be predicted and scored.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PredictionError {
    /// The likelihood cannot take a target.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// A covariance matrix cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
}
