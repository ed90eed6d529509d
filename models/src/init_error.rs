//! Why a model cannot be made.

use burn_gp::{
    inducing::SelectionError,
    likelihoods::ImpossibleTarget,
    ops::NotPositiveDefinite,
    parameter::ParameterError,
    patches::{ImageShape, PatchError},
};

/// Why a model cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// The likelihood cannot take a target.
    #[error(transparent)]
    Target(#[from] ImpossibleTarget),
    /// The inducing points cannot be chosen.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The first covariance of the inducing variables cannot be factored.
    #[error(transparent)]
    Factorization(#[from] NotPositiveDefinite),
    /// What is asked of a parameter cannot be.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A layer looks at patches, and its inputs are no images.
    #[error(
        "a layer of patches needs images: the shape of the inputs is not known, or a dense layer \
         comes before"
    )]
    NoImage,
    /// An image has no such patches.
    #[error(transparent)]
    Patches(#[from] PatchError),
    /// The shape of the images is not that of the inputs.
    #[error("images of {image} (height, width, channels) have {} numbers, the inputs {inputs}", .image.len())]
    ImageShape {
        /// The shape.
        image: ImageShape,
        /// The number of inputs, D.
        inputs: usize,
    },
    /// The posterior has a second set of inducing points, and none are asked for.
    #[error(
        "this posterior needs orthogonal inducing points besides the others: their number is at \
         least 1, not 0"
    )]
    NoOrthogonalPoints,
    /// There are not as many rows as actions.
    #[error("{count} actions were asked for; there can be from 1 to {rows}, the number of rows")]
    Actions {
        /// The number asked for, I.
        count: usize,
        /// The number of rows, N.
        rows: usize,
    },
    /// Nothing estimates the log-determinant.
    #[error("conjugate gradients need probes: their number is at least 1, not 0")]
    NoProbes,
    /// The model has no second set of inducing points, and some are asked for.
    #[error(
        "{count} orthogonal inducing points were asked for, but this model has none; they belong \
         to the posteriors solve and odvgp"
    )]
    OrthogonalPoints {
        /// The number asked for, M2.
        count: usize,
    },
}
