//! Common names: `use burn_gp::prelude::*`.
//!
//! [`Error`](crate::Error) is not included, so that it cannot clash with your own error type.
//!
//! You can also glob-import the modules next to it without ambiguous names:
//!
//! ```
//! use burn_gp::{
//!     features::*, inducing::*, inference::*, kernels::*, layers::*, likelihoods::*, means::*,
//!     prelude::*, process::*, training::*, variational::*,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::default().autodiff();
//! let data = TrainingData::new(&[0.0, 0.5, 1.0], &[0.1, 0.4, 0.9], &device, DType::F64);
//! let model = ExactConfig::new(StationaryConfig::rbf()).init(&data)?;
//! let (x, y) = (data.inputs.clone(), data.targets.clone());
//! // The objective of the full batch, and that of a batch of rows.
//! let evidence = model.full_objective(x.clone(), y.clone())?;
//! let same = model.objective(x.clone(), y, 3)?.value();
//! assert_eq!(evidence.into_scalar::<f64>(), same.into_scalar::<f64>());
//!
//! // A kernel on the outputs of a network, and a model on the outputs of a network.
//! let network = PerceptronConfig::default();
//! let kernel = DeepConfig { base: StationaryConfig::rbf().into(), network, features: 2 };
//! assert_eq!(KernelConfig::from(kernel).init(1, (&device, DType::F64)).matrix_at(x.clone()).dims(), [3, 3]);
//! let deep = DeepKernelConfig::new(SgprConfig::new(StationaryConfig::rbf()));
//! assert!(deep.features > 0);
//!
//! let network = PerceptronConfig::default().init(1, 2, (&device, DType::F64));
//! assert_eq!(network.forward(x.clone()).dims(), [3, 2]);
//! let mean = MeanConfig::constant(0.5).init(1, 1, (&device, DType::F64));
//! assert_eq!(mean.forward(x).dims(), [3, 1]);
//! # Ok(())
//! # }
//! ```

pub use burn::tensor::{DType, Device, Distribution, Int, Tensor};
pub use burn_gp_core::{
    kernels::{
        KernelConfig, KernelDefinition, LinearConfig, PolynomialConfig, RationalQuadraticConfig,
        StationaryConfig,
    },
    likelihoods::{
        AsymmetricLaplaceConfig, BetaBinomialConfig, BetaConfig, CensoredConfig, DirichletConfig,
        GammaConfig, GaussianConfig, HeteroskedasticConfig, HurdlePoissonConfig,
        IntervalCensoredConfig, LikelihoodConfig, LogNormalConfig, NegativeBinomialConfig,
        OrdinalConfig, RobustMaxConfig, SoftmaxConfig, StudentTConfig, TweedieConfig,
        WeibullConfig, ZeroInflatedPoissonConfig,
    },
    means::MeanConfig,
    transforms::TransformName,
};
pub use burn_gp_models::{
    ComputationAwareConfig, ConjugateGradientsConfig, DbkConfig, DeepGpConfig, DeepKernelConfig,
    ExactConfig, Fit, FitModel, Fitted, FittedGplvm, FittedPredictions, GplvmConfig,
    InducingConfig, LastLayerConfig, LayerConfig, MarkovConfig, MarkovVariationalConfig, Matrix,
    ModelConfig, SgprConfig, SolveCollapsedConfig, SvdbkConfig, SvgpConfig, VecchiaConfig,
    VecchiaLaplaceConfig, VifConfig, VnngpConfig, fit_each,
};
