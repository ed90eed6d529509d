//! Errors of layers.

use crate::{
    inducing::{SelectionError, SetsError},
    ops::NotPositiveDefinite,
    patches::PatchError,
};

/// The reason why a layer cannot be initialized.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LayerError {
    /// The inducing points cannot be chosen.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The sets of inducing points do not fit the posterior.
    #[error(transparent)]
    Sets(#[from] SetsError),
    /// The covariance of the inducing variables cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
    /// The patches do not fit the image.
    #[error(transparent)]
    Patches(#[from] PatchError),
}
