//! Configurations of the ready-made models. A model's file contains its whole configuration.

use burn::{
    module::Module,
    tensor::{DType, Tensor, TensorCreationOptions},
};
use burn_gp::{
    inducing::{InducingPoints, Initializer, SelectionError},
    inference::{Collapsed, Exact},
    kernels::{AnyKernel, KernelConfig, Kernels, SeparateKernels},
    likelihoods::{AnyLikelihood, GaussianConfig, Likelihood, LikelihoodConfig, check_finite},
    means::{AnyMean, MeanConfig},
    ops::Jitter,
    parameter::{ParameterConfig, ParameterError, Parameters},
    variational::{AnyPosterior, Coregionalized, Functions, PosteriorConfig, first_mixing},
};
use serde::{Deserialize, Serialize};

use crate::{
    ComputationAwareConfig, ConjugateGradientsConfig, DbkConfig, DeepGpConfig, DeepKernelConfig,
    InitError, LastLayerConfig, SolveCollapsedConfig, SvdbkConfig, Svgp, training::TrainingData,
};

/// A sparse variational model whose components are chosen at run time.
pub type AnySvgp =
    Svgp<Kernels<AnyKernel>, AnyMean, AnyLikelihood, Functions<AnyPosterior<InducingPoints>>>;

/// A collapsed model whose components are chosen at run time.
pub type AnySgpr = Collapsed<AnyKernel, AnyMean, InducingPoints>;

/// An exact model whose components are chosen at run time.
pub type AnyExact = Exact<AnyKernel, AnyMean>;

/// The inducing points of a sparse model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InducingConfig {
    /// The number of inducing points, M.
    pub count: usize,
    /// The number of additional inducing points orthogonal to these, M2. It is zero except for the
    /// posteriors [`Solve`](PosteriorConfig::Solve) and [`Odvgp`](PosteriorConfig::Odvgp).
    #[serde(default)]
    pub orthogonal: usize,
    /// The method that chooses the initial inducing points among the training inputs.
    #[serde(alias = "initialiser")]
    pub initializer: Initializer,
    /// The seed of the initializer.
    pub seed: u64,
    /// The jitter of their covariance. The default is [`Jitter::for_precision`] of the data's
    /// precision.
    pub jitter: Option<Jitter>,
}

impl InducingConfig {
    /// `count` inducing points, initially at cluster centers.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            orthogonal: 0,
            initializer: Initializer::KMeans,
            seed: 0,
            jitter: None,
        }
    }

    /// The sizes of the sets of points.
    fn counts(&self) -> Vec<usize> {
        let counts = [self.count, self.orthogonal];
        counts[..if self.orthogonal > 0 { 2 } else { 1 }].to_vec()
    }

    /// One or two sets of inducing points.
    pub(crate) fn select(
        &self,
        kernel: &AnyKernel,
        inputs: &Tensor<2>,
    ) -> Result<Vec<InducingPoints>, SelectionError> {
        let sets = self.select_points(kernel, inputs)?;
        Ok(sets.into_iter().map(InducingPoints::new).collect())
    }

    /// The locations of one or two sets of inducing points.
    pub(crate) fn select_points(
        &self,
        kernel: &AnyKernel,
        inputs: &Tensor<2>,
    ) -> Result<Vec<Tensor<2>>, SelectionError> {
        let inputs = inputs.clone().inner();
        (self.initializer).select_sets(kernel, inputs, &self.counts(), self.seed)
    }

    /// The jitter of inducing-point covariances in a given precision.
    pub(crate) fn jitter_for(&self, precision: DType) -> Jitter {
        (self.jitter).unwrap_or_else(|| Jitter::for_precision(precision))
    }

    /// Inducing points at the origin, whose values are then loaded from a record.
    pub(crate) fn blank(
        &self,
        dimensions: usize,
        options: &TensorCreationOptions,
    ) -> Vec<InducingPoints> {
        let sets = self.blank_points(dimensions, options);
        sets.into_iter().map(InducingPoints::new).collect()
    }

    /// Locations at the origin, whose values are then loaded from a record.
    pub(crate) fn blank_points(
        &self,
        dimensions: usize,
        options: &TensorCreationOptions,
    ) -> Vec<Tensor<2>> {
        let counts = self.counts().into_iter();
        let blank = |count| Tensor::zeros([count, dimensions], options.clone());
        counts.map(blank).collect()
    }

    /// Checks that there are orthogonal points if the posterior needs them, and none otherwise.
    pub(crate) fn check(&self, has_orthogonal_set: bool) -> Result<(), InitError> {
        match (has_orthogonal_set, self.orthogonal) {
            (true, 0) => Err(InitError::NoOrthogonalPoints),
            (false, count) if count > 0 => Err(InitError::OrthogonalPoints { count }),
            _ => Ok(()),
        }
    }
}

/// The linear model of coregionalization: the functions are linear combinations of latent
/// functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoregionalizationConfig {
    /// The number of latent functions, Q.
    pub latent: usize,
    /// The seed of the initial mixing matrix.
    #[serde(default)]
    pub seed: u64,
}

/// Configuration of a sparse variational Gaussian process.
///
/// ```
/// use burn_gp::{kernels::StationaryConfig, likelihoods::GaussianConfig, ops::Stationary};
/// use burn_gp_models::SvgpConfig;
///
/// let config = SvgpConfig::new(StationaryConfig::new(Stationary::Matern52), GaussianConfig::default())
///     .with_inducing(128);
/// # assert_eq!(config.inducing.count, 128);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SvgpConfig {
    /// The kernel.
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The likelihood.
    pub likelihood: LikelihoodConfig,
    /// The posterior.
    pub posterior: PosteriorConfig,
    /// The inducing points.
    pub inducing: InducingConfig,
    /// Whether each function has its own kernel, instead of one shared kernel.
    #[serde(default)]
    pub separate_kernels: bool,
    /// If present, the functions are mixtures of fewer latent functions instead of independent.
    #[serde(default, alias = "coregionalisation")]
    pub coregionalization: Option<CoregionalizationConfig>,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl SvgpConfig {
    /// A whitened posterior with a full covariance, 128 inducing points and a zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: impl Into<LikelihoodConfig>) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::Zero,
            likelihood: likelihood.into(),
            posterior: PosteriorConfig::Whitened {
                covariance: Default::default(),
            },
            inducing: InducingConfig::new(128),
            separate_kernels: false,
            coregionalization: None,
            parameters: ParameterConfig::default(),
        }
    }

    /// Gives each function its own kernel.
    pub fn with_separate_kernels(mut self) -> Self {
        self.separate_kernels = true;
        self
    }

    /// Models the functions as mixtures of `latent` latent functions.
    pub fn with_coregionalization(mut self, latent: usize) -> Self {
        self.coregionalization = Some(CoregionalizationConfig { latent, seed: 0 });
        self
    }

    /// Sets the number of inducing points.
    pub fn with_inducing(mut self, count: usize) -> Self {
        self.inducing.count = count;
        self
    }

    /// Sets the number of inducing points that are orthogonal to the others.
    pub fn with_orthogonal(mut self, count: usize) -> Self {
        self.inducing.orthogonal = count;
        self
    }

    /// Sets the posterior.
    pub fn with_posterior(mut self, posterior: PosteriorConfig) -> Self {
        self.posterior = posterior;
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points are chosen among the training inputs. The model has as many
    /// latent functions as the likelihood needs for the target columns.
    ///
    /// # Errors
    ///
    /// When the likelihood does not accept a target, the inducing points cannot be chosen or do not
    /// match the posterior, their covariance cannot be factored, or a parameter setting is not
    /// possible.
    ///
    /// # Panics
    ///
    /// If the likelihood needs a different number of target columns.
    #[track_caller]
    pub fn init(&self, data: &TrainingData) -> Result<AnySvgp, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        let options = options_of(&data.inputs);
        let ([_, dimensions], [_, columns]) = (data.inputs.dims(), data.targets.dims());
        let kernel = self.kernel.init(dimensions, options.clone());
        // If there are several kernels, their values are set one by one.
        let kernel = if self.separate_kernels {
            kernel
        } else {
            with_first_values(kernel, &self.parameters, "kernel")
        };
        let inducing = self.inducing.select(&kernel, &data.inputs)?;
        let model = self.assemble(kernel, inducing, (dimensions, columns), &options)?;
        let model = self.parameters.apply(model)?.refreshed().train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// A model with the right shapes for `columns` target columns, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored, or a parameter setting is
    /// not possible.
    ///
    /// # Panics
    ///
    /// If the likelihood needs a different number of target columns.
    #[track_caller]
    pub fn blank(
        &self,
        dimensions: usize,
        columns: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnySvgp, InitError> {
        let options = options.into();
        let kernel = self.kernel.init(dimensions, options.clone());
        let inducing = self.inducing.blank(dimensions, &options);
        let model = self.assemble(kernel, inducing, (dimensions, columns), &options)?;
        Ok(self.parameters.apply_to_blank(model)?)
    }

    #[track_caller]
    fn assemble(
        &self,
        kernel: AnyKernel,
        inducing: Vec<InducingPoints>,
        (dimensions, columns): (usize, usize),
        options: &TensorCreationOptions,
    ) -> Result<AnySvgp, InitError> {
        self.inducing.check(self.posterior.has_orthogonal_set())?;
        let likelihood = self.likelihood.init(options.clone());
        let functions = likelihood.latents(likelihood.outputs(columns));
        let jitter = self.inducing.jitter_for(inducing[0].points().dtype());
        let latent = (self.coregionalization).map_or(functions, |config| config.latent);
        let options = || options.clone();
        let (kernels, posterior) = if self.separate_kernels {
            let kernels = (0..latent).map(|_| self.kernel.init(dimensions, options()));
            let kernels = SeparateKernels::new(kernels.collect());
            let posterior =
                (self.posterior).init_separate(inducing, &kernels, jitter, options())?;
            (Kernels::Separate(kernels), posterior)
        } else {
            let posterior = (self.posterior).init(inducing, &kernel, latent, jitter, options())?;
            (Kernels::Shared(kernel), posterior)
        };
        let posterior = match self.coregionalization {
            None => Functions::Independent(posterior),
            Some(CoregionalizationConfig { latent, seed }) => {
                let mixing = first_mixing(functions, latent, seed, options());
                Functions::Coregionalized(Coregionalized::new(posterior, mixing))
            }
        };
        let mean = self.mean.init(dimensions, functions, options());
        Ok(Svgp::new(kernels, mean, likelihood, posterior))
    }
}

/// The kernel with the initial values configured under `path`, which are set before anything is
/// derived from the kernel. Values that are not possible are left to the model built from it,
/// because its error message has the whole path.
pub(crate) fn with_first_values(
    kernel: AnyKernel,
    parameters: &ParameterConfig,
    path: &str,
) -> AnyKernel {
    (parameters.values_within(path)).fold(kernel, |kernel, (path, values)| {
        let changed = kernel.clone().with_parameter(path, values);
        changed.unwrap_or(kernel)
    })
}

/// The number of outputs of the full-batch models.
pub(crate) const OUTPUTS: usize = 1;

/// Configuration of a collapsed sparse regression model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SgprConfig {
    /// The kernel.
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The noise.
    pub likelihood: GaussianConfig,
    /// The inducing points.
    pub inducing: InducingConfig,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl SgprConfig {
    /// 128 inducing points and a zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: GaussianConfig) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::Zero,
            likelihood,
            inducing: InducingConfig::new(128),
            parameters: ParameterConfig::default(),
        }
    }

    /// Sets the number of inducing points.
    pub fn with_inducing(mut self, count: usize) -> Self {
        self.inducing.count = count;
        self
    }

    /// Initializes the model, in the precision of the training inputs and on their device with
    /// autodiff. The inducing points are chosen among the training inputs.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the inducing points cannot be chosen, or a parameter setting is
    /// not possible.
    pub fn init(&self, data: &TrainingData) -> Result<AnySgpr, InitError> {
        self.likelihood.check()?;
        check_finite(&data.targets)?;
        let options = options_of(&data.inputs);
        let [_, dimensions] = data.inputs.dims();
        let kernel = self.kernel.init(dimensions, options.clone());
        let kernel = with_first_values(kernel, &self.parameters, "kernel");
        self.inducing.check(false)?;
        let inducing = self.inducing.select(&kernel, &data.inputs)?.swap_remove(0);
        let jitter = self.inducing.jitter_for(data.inputs.dtype());
        let model = Collapsed::new(
            kernel,
            self.mean.init(dimensions, OUTPUTS, options.clone()),
            self.likelihood.init(options),
            inducing,
            jitter,
        );
        let model = self.parameters.apply(model)?.train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }

    /// The variational model that a trained collapsed model is converted to: whitened, with a full
    /// covariance.
    pub fn variational(&self) -> SvgpConfig {
        SvgpConfig {
            kernel: self.kernel.clone(),
            mean: self.mean,
            likelihood: self.likelihood.clone().into(),
            posterior: PosteriorConfig::Whitened {
                covariance: Default::default(),
            },
            inducing: self.inducing.clone(),
            separate_kernels: false,
            coregionalization: None,
            parameters: (self.parameters).with_field_renamed("inducing", "posterior.inducing"),
        }
    }
}

/// Configuration of exact regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExactConfig {
    /// The kernel.
    pub kernel: KernelConfig,
    /// The mean function.
    pub mean: MeanConfig,
    /// The noise.
    pub likelihood: GaussianConfig,
    /// Initial values, bounds and priors of the parameters, and which of them are not trained.
    #[serde(default)]
    pub parameters: ParameterConfig,
}

impl ExactConfig {
    /// Exact regression with a zero mean.
    pub fn new(kernel: impl Into<KernelConfig>, likelihood: GaussianConfig) -> Self {
        Self {
            kernel: kernel.into(),
            mean: MeanConfig::Zero,
            likelihood,
            parameters: ParameterConfig::default(),
        }
    }

    /// Initializes the model for inputs with `dimensions` dimensions, on the device of `options`
    /// with autodiff.
    ///
    /// # Errors
    ///
    /// When a parameter setting is not possible.
    pub fn init(
        &self,
        dimensions: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Result<AnyExact, ParameterError> {
        self.likelihood.check()?;
        let options = options.into();
        let model = Exact::new(
            self.kernel.init(dimensions, options.clone()),
            self.mean.init(dimensions, OUTPUTS, options.clone()),
            self.likelihood.init(options),
        );
        let model = self.parameters.apply(model)?.train();
        Ok(model.with_priors(self.parameters.priors.clone()))
    }
}

/// The precision and device of a tensor, without autodiff.
pub(crate) fn options_of(tensor: &Tensor<2>) -> TensorCreationOptions {
    (&tensor.device().inner(), tensor.dtype()).into()
}

/// Configuration of any ready-made model. It is written to the model's file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ModelConfig {
    /// Exact regression.
    Exact(ExactConfig),
    /// Collapsed sparse regression.
    Sgpr(SgprConfig),
    /// Collapsed sparse regression with orthogonal inducing points.
    SolveCollapsed(SolveCollapsedConfig),
    /// Computation-aware regression.
    ComputationAware(ComputationAwareConfig),
    /// Regression by conjugate gradients.
    ConjugateGradients(ConjugateGradientsConfig),
    /// A sparse variational model.
    Svgp(SvgpConfig),
    /// A deep model or an image model.
    DeepGp(DeepGpConfig),
    /// A deep basis kernel with full-batch inference.
    Dbk(DbkConfig),
    /// A deep basis kernel with a posterior over its weights.
    Svdbk(SvdbkConfig),
    /// A network with a Bayesian last layer.
    LastLayer(LastLayerConfig),
    /// Exact deep kernel learning.
    Dkl(DeepKernelConfig<ExactConfig>),
    /// Deep kernel learning with inducing points, collapsed.
    Sdkl(DeepKernelConfig<SgprConfig>),
    /// Deep kernel learning with inducing points, on mini-batches.
    Svdkl(DeepKernelConfig<SvgpConfig>),
}
