//! The names that one uses every day: `use burn_gp::prelude::*`.
//!
//! [`Error`](crate::Error) is not among them, so that it does not meet an error type of your own.

pub use burn::tensor::{DType, Device, Distribution, Int, Tensor};
pub use burn_gp_core::{
    kernels::{
        KernelConfig, LinearConfig, PolynomialConfig, RationalQuadraticConfig, StationaryConfig,
    },
    likelihoods::{
        BetaConfig, GammaConfig, GaussianConfig, HeteroskedasticConfig, LikelihoodConfig,
        NegativeBinomialConfig, OrdinalConfig, RobustMaxConfig, SoftmaxConfig, StudentTConfig,
    },
    means::MeanConfig,
};
pub use burn_gp_models::{
    ComputationAwareConfig, ConjugateGradientsConfig, DbkConfig, DeepGpConfig, DeepKernelConfig,
    ExactConfig, Fit, FitModel, Fitted, InducingConfig, LastLayerConfig, LayerConfig, Matrix,
    ModelConfig, Predicted, SgprConfig, SolveCollapsedConfig, SvdbkConfig, SvgpConfig,
};
