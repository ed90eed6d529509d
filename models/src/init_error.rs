//! Errors of model initialization.

use burn_gp_core::{
    features::NetworkError,
    inducing::{SelectionError, SetsError},
    layers::LayerError,
    likelihoods::ImpossibleTarget,
    ops::NotPositiveDefinite,
    parameter::ParameterError,
    patches::{ImageShape, PatchError},
};

/// The reason why a model cannot be initialized.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The likelihood does not accept a target.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// The inducing points cannot be chosen.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The initial covariance of the inducing variables cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
    /// A parameter setting is not possible.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A layer works on patches, but its inputs are not images.
    #[error(
        "a layer of patches needs images: the shape of the inputs is not known, or a dense layer \
         comes before"
    )]
    NoImage,
    /// A network cannot have these settings.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The patches do not fit the image.
    #[error(transparent)]
    Patches(#[from] PatchError),
    /// The shape of the images does not match the number of inputs.
    #[error("images of {image} (height, width, channels) have {} numbers, the inputs {inputs}", .image.len())]
    ImageShape {
        /// The image shape.
        image: ImageShape,
        /// The number of inputs, D.
        inputs: usize,
    },
    /// The posterior needs a second set of inducing points, but the configuration has none.
    #[error(
        "this posterior needs a second set of inducing points, orthogonal to the first, but there is \
         none"
    )]
    NoOrthogonalPoints,
    /// There are fewer rows than actions.
    #[error("{count} actions were asked for; there can be from 1 to {rows}, the number of rows")]
    Actions {
        /// The number of actions, I.
        count: usize,
        /// The number of rows, N.
        rows: usize,
    },
    /// The number of probes is zero, so the log-determinant cannot be estimated.
    #[error("settings.probes is 0; conjugate gradients need at least one probe")]
    NoProbes,
    /// The configuration has a second set of inducing points, but the model does not use one.
    #[error(
        "{count} orthogonal inducing points were asked for, but this model has none; they belong \
         to the posteriors solve and odvgp"
    )]
    OrthogonalPoints {
        /// The number of orthogonal inducing points, M2.
        count: usize,
    },
}

impl From<SetsError> for InitError {
    fn from(error: SetsError) -> Self {
        match error {
            SetsError::NoOrthogonalPoints => Self::NoOrthogonalPoints,
            SetsError::OrthogonalPoints { count } => Self::OrthogonalPoints { count },
        }
    }
}

impl From<LayerError> for InitError {
    fn from(error: LayerError) -> Self {
        match error {
            LayerError::Selection(error) => error.into(),
            LayerError::Sets(error) => error.into(),
            LayerError::Factorization(error) => error.into(),
            LayerError::Patches(error) => error.into(),
        }
    }
}
