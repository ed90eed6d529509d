//! Errors of model initialization.

use burn_gp_core::{
    features::NetworkError,
    inducing::{SelectionError, SetsError},
    kernels::{NoExpectedProducts, NoStateSpace},
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
    /// A parameter setting is invalid.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A layer works on patches, but its inputs are not images.
    #[error(
        "a patch layer needs images, but the shape of the inputs is unknown or a dense layer comes \
         before it"
    )]
    NoImage,
    /// The settings of a network are invalid.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The patches do not fit the image.
    #[error(transparent)]
    Patches(#[from] PatchError),
    /// The shape of the images does not match the number of inputs.
    #[error("images of {image} (height, width, channels) have {} values, but the number of inputs is {inputs}", .image.len())]
    ImageShape {
        /// The image shape.
        image: ImageShape,
        /// The number of inputs, D.
        inputs: usize,
    },
    /// The posterior needs a second set of inducing points, but the configuration has none.
    #[error(
        "this posterior needs a second, orthogonal set of inducing points, but the configuration has \
         none"
    )]
    NoOrthogonalPoints,
    /// There are fewer rows than actions.
    #[error("the number of actions is {count}; it must be from 1 to {rows}, the number of rows")]
    Actions {
        /// The number of actions, I.
        count: usize,
        /// The number of rows, N.
        rows: usize,
    },
    /// The number of probes is zero, so the log-determinant cannot be estimated.
    #[error("settings.probes is 0; it must be at least 1")]
    NoProbes,
    /// A number of neighbors is zero.
    #[error("settings.neighbors and settings.prediction_neighbors must be at least 1")]
    NoNeighbors,
    /// A model over time has another number of inputs than one.
    #[error("a model over time takes one input, but the data have {inputs}")]
    NotTime {
        /// The number of inputs, D.
        inputs: usize,
    },
    /// The kernel is not a state-space model.
    #[error(transparent)]
    StateSpace(#[from] NoStateSpace),
    /// The kernel has no closed form of expectations over latent inputs.
    #[error(transparent)]
    ExpectedProducts(#[from] NoExpectedProducts),
    /// A latent variable model has no latent dimensions.
    #[error("dimensions is 0; a latent variable model needs at least 1")]
    NoLatentDimensions,
    /// A number of random vectors is zero, so that nothing can be estimated.
    #[error("estimates.probes and estimates.draws must be at least 1")]
    NoEstimates,
    /// The model takes likelihoods with one latent function.
    #[error(
        "the {likelihood} likelihood has {functions} latent functions, but this model takes likelihoods with one; \
         the model svgp takes several"
    )]
    SeveralFunctions {
        /// The name of the likelihood.
        likelihood: &'static str,
        /// The number of its functions.
        functions: usize,
    },
    /// The log density of the likelihood is not smooth, and the model approximates it by its curvature.
    #[error(
        "the log density of the {likelihood} likelihood has a kink, so the Laplace approximation of this model does \
         not apply; use the model svgp"
    )]
    NoCurvature {
        /// The name of the likelihood.
        likelihood: &'static str,
    },
    /// The hyperparameters cannot be trained on a sample of the rows.
    #[error("training of the hyperparameters on {rows} of the rows failed: {reason}")]
    Sample {
        /// The number of rows of the sample.
        rows: usize,
        /// The cause.
        reason: String,
    },
    /// The configuration has a second set of inducing points, but the model does not use one.
    #[error(
        "{count} orthogonal inducing points were requested, but this model has none; only the \
         posteriors solve and odvgp use them"
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
