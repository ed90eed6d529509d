//! Configurations of the ready-made models: everything that is written to a model's file.

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

/// A sparse variational model whose pieces are chosen at run time.
pub type AnySvgp =
    Svgp<Kernels<AnyKernel>, AnyMean, AnyLikelihood, Functions<AnyPosterior<InducingPoints>>>;

/// A collapsed model whose pieces are chosen at run time.
pub type AnySgpr = Collapsed<AnyKernel, AnyMean, InducingPoints>;

/// An exact model whose pieces are chosen at run time.
pub type AnyExact = Exact<AnyKernel, AnyMean>;

/// The inducing points of a sparse model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InducingConfig {
    /// How many there are, M.
    pub count: usize,
    /// How many there are besides, orthogonal to these, M2: none but for the posteriors
    /// [`Solve`](PosteriorConfig::Solve) and [`Odvgp`](PosteriorConfig::Odvgp).
    #[serde(default)]
    pub orthogonal: usize,
    /// How their first places are chosen among the training inputs.
    #[serde(alias = "initialiser")]
    pub initializer: Initializer,
    /// The seed of that choice.
    pub seed: u64,
    /// The jitter of their covariance; [`Jitter::for_precision`] of the data's if absent.
    pub jitter: Option<Jitter>,
}

impl InducingConfig {
    /// `count` inducing points, first at the centers of clusters.
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

    /// The sets of points, one or two.
    pub(crate) fn select(
        &self,
        kernel: &AnyKernel,
        inputs: &Tensor<2>,
    ) -> Result<Vec<InducingPoints>, SelectionError> {
        let sets = self.select_points(kernel, inputs)?;
        Ok(sets.into_iter().map(InducingPoints::new).collect())
    }

    /// The places of the sets, one or two.
    pub(crate) fn select_points(
        &self,
        kernel: &AnyKernel,
        inputs: &Tensor<2>,
    ) -> Result<Vec<Tensor<2>>, SelectionError> {
        let inputs = inputs.clone().inner();
        (self.initializer).select_sets(kernel, inputs, &self.counts(), self.seed)
    }

    /// The jitter of covariances of points in a precision.
    pub(crate) fn jitter_for(&self, precision: DType) -> Jitter {
        (self.jitter).unwrap_or_else(|| Jitter::for_precision(precision))
    }

    /// Points at the origin, to be replaced by a record.
    pub(crate) fn blank(
        &self,
        dimensions: usize,
        options: &TensorCreationOptions,
    ) -> Vec<InducingPoints> {
        let sets = self.blank_points(dimensions, options);
        sets.into_iter().map(InducingPoints::new).collect()
    }

    /// Places at the origin, to be replaced by a record.
    pub(crate) fn blank_points(
        &self,
        dimensions: usize,
        options: &TensorCreationOptions,
    ) -> Vec<Tensor<2>> {
        let counts = self.counts().into_iter();
        let blank = |count| Tensor::zeros([count, dimensions], options.clone());
        counts.map(blank).collect()
    }

    /// Fails unless there are orthogonal points where, and only where, there have to be.
    pub(crate) fn check(&self, has_orthogonal_set: bool) -> Result<(), InitError> {
        match (has_orthogonal_set, self.orthogonal) {
            (true, 0) => Err(InitError::NoOrthogonalPoints),
            (false, count) if count > 0 => Err(InitError::OrthogonalPoints { count }),
            _ => Ok(()),
        }
    }
}

/// The linear model of coregionalization: the functions are mixtures of latent ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoregionalizationConfig {
    /// The latent functions, Q.
    pub latent: usize,
    /// The seed of the first mixing matrix.
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
    /// A kernel for each function instead of one that all share.
    #[serde(default)]
    pub separate_kernels: bool,
    /// Mixtures of fewer latent functions instead of independent ones.
    #[serde(default, alias = "coregionalisation")]
    pub coregionalization: Option<CoregionalizationConfig>,
    /// First values, bounds, priors of the parameters, and which are not trained.
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

    /// With a kernel for each function.
    pub fn with_separate_kernels(mut self) -> Self {
        self.separate_kernels = true;
        self
    }

    /// With mixtures of `latent` functions.
    pub fn with_coregionalization(mut self, latent: usize) -> Self {
        self.coregionalization = Some(CoregionalizationConfig { latent, seed: 0 });
        self
    }

    /// With `count` inducing points.
    pub fn with_inducing(mut self, count: usize) -> Self {
        self.inducing.count = count;
        self
    }

    /// With `count` inducing points orthogonal to the others.
    pub fn with_orthogonal(mut self, count: usize) -> Self {
        self.inducing.orthogonal = count;
        self
    }

    /// With the given posterior.
    pub fn with_posterior(mut self, posterior: PosteriorConfig) -> Self {
        self.posterior = posterior;
        self
    }

    /// The model, its inducing points chosen among the training inputs, in their precision and
    /// on their device with autodiff. It has the latent functions that the likelihood needs for
    /// the columns of the targets.
    ///
    /// # Errors
    ///
    /// When the likelihood cannot take a target, the inducing points cannot be chosen or are not those
    /// of the posterior, their covariance cannot be factored, or what is asked of a parameter cannot be.
    ///
    /// # Panics
    ///
    /// If the likelihood takes another number of target columns.
    #[track_caller]
    pub fn init(&self, data: &TrainingData) -> Result<AnySvgp, InitError> {
        self.likelihood.check()?;
        self.likelihood.check_targets(&data.targets)?;
        let options = options_of(&data.inputs);
        let ([_, dimensions], [_, columns]) = (data.inputs.dims(), data.targets.dims());
        let kernel = self.kernel.init(dimensions, options.clone());
        // The values of separate kernels are set one by one, when there are several.
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

    /// A model of the right shapes for targets with `columns` columns, to be filled from a record.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored, or what is asked of a
    /// parameter cannot be.
    ///
    /// # Panics
    ///
    /// If the likelihood takes another number of target columns.
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

/// The kernel with the first values that are asked of it under `path`, before anything is made from
/// it. What cannot be is left to the model made from it, whose error has the whole path.
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

/// Outputs of the models on all data at once.
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
    /// First values, bounds, priors of the parameters, and which are not trained.
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

    /// With `count` inducing points.
    pub fn with_inducing(mut self, count: usize) -> Self {
        self.inducing.count = count;
        self
    }

    /// The model, its inducing points chosen among the training inputs, in their precision and
    /// on their device with autodiff.
    ///
    /// # Errors
    ///
    /// When a target is not finite, the inducing points cannot be chosen, or what is asked of a
    /// parameter cannot be.
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

    /// The variational model that a trained collapsed model turns into: whitened, with a full
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
    /// First values, bounds, priors of the parameters, and which are not trained.
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

    /// The model for inputs of `dimensions` dimensions, on the device of `options` with autodiff.
    ///
    /// # Errors
    ///
    /// When what is asked of a parameter cannot be.
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

/// Configuration of any ready-made model, as it is written to a model's file.
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
    /// A deep model, or one of images.
    DeepGp(DeepGpConfig),
    /// A deep basis kernel on all data.
    Dbk(DbkConfig),
    /// A deep basis kernel with a posterior over its weights.
    Svdbk(SvdbkConfig),
    /// A network with a Bayesian last layer.
    LastLayer(LastLayerConfig),
    /// Exact deep kernel learning.
    Dkl(DeepKernelConfig<ExactConfig>),
    /// Deep kernel learning with inducing points, collapsed.
    Sdkl(DeepKernelConfig<SgprConfig>),
    /// Deep kernel learning with inducing points on batches.
    Svdkl(DeepKernelConfig<SvgpConfig>),
}
