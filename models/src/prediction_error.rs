//! Errors of prediction and scoring.

use burn_gp_core::{likelihoods::ImpossibleTarget, ops::NotPositiveDefinite};

/// The reason why rows cannot be predicted or scored.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PredictionError {
    /// The likelihood does not accept a target.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// A covariance matrix cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
}
