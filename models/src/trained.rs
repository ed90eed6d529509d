//! Trained models and their predictions.

use crate::{
    AnyComputationAware, AnyConjugateGradients, AnyDbk, AnyDeepGp, AnyDkl, AnySdkl,
    AnySolveCollapsed, AnySvdbk, AnySvdkl, AnyVariational, FeatureProcess, InitError, OnFeatures,
    Summary, Svgp,
    config::{AnyExact, AnySgpr, AnySvgp, ModelConfig},
    deep_basis,
    prediction::Predictor,
    training::{MiniBatchModel, TrainingData},
};
use burn::{
    module::{Module, Param},
    tensor::{DType, Device, Tensor},
};
use burn_gp::{
    features::{AnyNetwork, Features},
    inducing::InducingPoints,
    inference::FullBatch,
    kernels::{AnyKernel, Basis, Kernel, Kernels},
    layers::{AnyLayerProcess, EitherPredictive, StackProcess},
    likelihoods::{AnyLikelihood, Gaussian},
    means::AnyMean,
    ops::NotPositiveDefinite,
    parameter::{Hyperparameter, numbers},
    process::{EitherProcess, LowRankProcess, WithMean},
    variational::{
        AnyPosterior, Coordinates, Functions, InducingSet, Orthogonal, Posterior, Whitened,
    },
};

/// The process of the ready-made sparse models.
pub type AnyProcess = WithMean<<AnyFunctions as Posterior<Kernels<AnyKernel>>>::Process, AnyMean>;

/// The process of a deep basis kernel.
pub type AnyBasisProcess = WithMean<LowRankProcess<Basis<AnyNetwork>>, AnyMean>;

/// The process of computation-aware regression.
pub type AnyComputationAwareProcess = <AnyComputationAware as FullBatch>::Process;

/// The process of regression with conjugate gradients.
pub type AnyConjugateGradientsProcess = <AnyConjugateGradients as FullBatch>::Process;

/// The process of regression that approximates exact regression iteratively.
type AnyIterativeProcess =
    EitherPredictive<AnyComputationAwareProcess, AnyConjugateGradientsProcess>;

/// The predictive process of any ready-made model.
pub type AnyPredictive = EitherPredictive<
    AnyProcess,
    EitherPredictive<
        StackProcess<AnyLayerProcess, AnyLayerProcess>,
        EitherPredictive<
            EitherPredictive<AnyBasisProcess, FeatureProcess<AnyProcess>>,
            AnyIterativeProcess,
        >,
    >,
>;

/// The functions of every sparse model.
type AnyFunctions = Functions<AnyPosterior<InducingPoints>>;

/// A trained model.
#[allow(
    clippy::large_enum_variant,
    reason = "a program holds one or two, and burn's modules can hold no boxes"
)]
#[derive(Module, Debug)]
pub enum TrainedModel {
    /// Exact regression, stored with its data.
    Exact(OnData<AnyExact>),
    /// Computation-aware regression, stored with its data.
    ComputationAware(OnData<AnyComputationAware>),
    /// Regression with conjugate gradients, stored with its data.
    ConjugateGradients(OnData<AnyConjugateGradients>),
    /// A sparse model, which does not need its data.
    Sparse(AnySvgp),
    /// A deep model or an image model.
    Deep(AnyDeepGp),
    /// A deep basis kernel.
    Basis(AnySvdbk),
    /// Exact deep kernel learning, stored with the network outputs for its data.
    DeepKernel(OnFeatures<OnData<AnyExact>>),
    /// Deep kernel learning with inducing points.
    SparseDeepKernel(AnySvdkl),
}

/// A regression model together with the data that it is conditioned on.
#[derive(Module, Debug)]
pub struct OnData<R: Module> {
    regression: R,
    inputs: Param<Tensor<2>>,
    targets: Param<Tensor<2>>,
}

impl<R: FullBatch> OnData<R> {
    /// Moves both to the device without autodiff.
    fn new(regression: R, data: &TrainingData) -> Self {
        let constant =
            |tensor: &Tensor<2>| Param::from_tensor(tensor.clone().inner()).set_require_grad(false);
        Self {
            regression: regression.valid(),
            inputs: constant(&data.inputs),
            targets: constant(&data.targets),
        }
    }

    fn condition(&self) -> Result<R::Process, NotPositiveDefinite> {
        (self.regression).condition(self.inputs.val(), self.targets.val())
    }

    /// The device and the type.
    fn options(&self) -> (Device, DType) {
        let inputs = self.inputs.val();
        (inputs.device(), inputs.dtype())
    }
}

impl TrainedModel {
    /// An exact model conditioned on `data`.
    pub fn exact(regression: AnyExact, data: &TrainingData) -> Self {
        Self::Exact(OnData::new(regression, data))
    }

    /// A computation-aware model conditioned on `data`.
    pub fn computation_aware(regression: AnyComputationAware, data: &TrainingData) -> Self {
        Self::ComputationAware(OnData::new(regression, data))
    }

    /// Regression with conjugate gradients conditioned on `data`.
    pub fn conjugate_gradients(regression: AnyConjugateGradients, data: &TrainingData) -> Self {
        Self::ConjugateGradients(OnData::new(regression, data))
    }

    /// A collapsed model, converted to the variational model with the optimal `q(u)` given `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn collapsed(model: &AnySgpr, data: &TrainingData) -> Result<Self, NotPositiveDefinite> {
        Ok(Self::Sparse(collapsed(model, data)?))
    }

    /// A collapsed model with orthogonal inducing points, converted to the variational model with
    /// the optimal `q(u)` and `q(v_⊥)` given `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn collapsed_orthogonal(
        model: &AnySolveCollapsed,
        data: &TrainingData,
    ) -> Result<Self, NotPositiveDefinite> {
        let model = model.valid();
        let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
        let points = [model.inducing().clone(), model.orthogonal().clone()];
        let sets = (points.into_iter()).zip(model.optimal_distributions(inputs, targets)?);
        let sets = sets.map(|(points, distribution)| InducingSet::new(points, distribution));
        let posterior = Orthogonal::new(sets.collect(), Coordinates::Whitened, model.jitter());
        Ok(Self::Sparse(Svgp::new(
            Kernels::Shared(model.kernel().clone()),
            model.mean().clone(),
            AnyLikelihood::Gaussian(model.likelihood().clone()),
            Functions::Independent(AnyPosterior::Solve(posterior)),
        )))
    }

    /// A full-batch deep basis kernel, converted to the variational model with the distribution of
    /// the weights given `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn deep_basis(model: &AnyDbk, data: &TrainingData) -> Result<Self, NotPositiveDefinite> {
        Ok(Self::Basis(deep_basis::given(model, data)?))
    }

    /// A variational deep basis kernel, whose predictions raise the prior variance to the largest
    /// one at `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn variational_deep_basis(
        model: &AnySvdbk,
        data: &TrainingData,
    ) -> Result<Self, NotPositiveDefinite> {
        Ok(Self::Basis(deep_basis::leveled(model, data)?))
    }

    /// Exact deep kernel learning conditioned on `data`.
    pub fn deep_kernel(model: &AnyDkl, data: &TrainingData) -> Self {
        let model = model.valid();
        let seen = model.features(data);
        Self::DeepKernel(model.map(|regression| OnData::new(regression, &seen)))
    }

    /// Collapsed deep kernel learning, converted to the variational model with the optimal `q(u)`
    /// given `data`.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn collapsed_deep_kernel(
        model: &AnySdkl,
        data: &TrainingData,
    ) -> Result<Self, NotPositiveDefinite> {
        let model = model.valid();
        let sparse = collapsed(model.model(), &model.features(data))?;
        Ok(Self::SparseDeepKernel(model.map(|_| sparse)))
    }

    /// Variational deep kernel learning.
    pub fn variational_deep_kernel(model: &AnySvdkl) -> Self {
        Self::SparseDeepKernel(model.valid())
    }

    /// A variational model.
    pub fn variational(model: impl Into<AnyVariational>) -> Self {
        match model.into() {
            AnyVariational::Svgp(model) => Self::Sparse(model.valid()),
            AnyVariational::Deep(model) => Self::Deep(model.valid()),
        }
    }

    /// A model with the right shapes, to be filled from a record.
    pub(crate) fn blank(summary: &Summary, device: &Device) -> Result<Self, InitError> {
        let (dimensions, columns) = (summary.dimensions, summary.target_columns);
        let dtype = summary.precision.dtype();
        let options = (device, dtype);
        let zeros = || {
            let zeros = |width| Tensor::zeros([summary.data_count, width], options);
            TrainingData {
                inputs: zeros(dimensions),
                targets: zeros(columns),
            }
        };
        Ok(match &summary.config {
            ModelConfig::Exact(config) => Self::exact(config.init(dimensions, options)?, &zeros()),
            ModelConfig::ComputationAware(config) => {
                let model = config.blank(summary.data_count, dimensions, options)?;
                Self::computation_aware(model, &zeros())
            }
            ModelConfig::ConjugateGradients(config) => {
                Self::conjugate_gradients(config.blank(dimensions, options)?, &zeros())
            }
            ModelConfig::Sgpr(config) => {
                Self::Sparse(config.variational().blank(dimensions, columns, options)?)
            }
            ModelConfig::SolveCollapsed(config) => {
                Self::Sparse(config.variational().blank(dimensions, columns, options)?)
            }
            ModelConfig::Svgp(config) => Self::Sparse(config.blank(dimensions, columns, options)?),
            ModelConfig::DeepGp(config) => Self::Deep(config.blank(dimensions, columns, options)?),
            ModelConfig::Dbk(config) => {
                Self::Basis(config.variational().blank(dimensions, columns, options)?)
            }
            ModelConfig::Svdbk(config) => Self::Basis(config.blank(dimensions, columns, options)?),
            ModelConfig::LastLayer(config) => {
                Self::Basis(config.variational().blank(dimensions, columns, options)?)
            }
            ModelConfig::Dkl(config) => Self::deep_kernel(&config.init(&zeros())?, &zeros()),
            ModelConfig::Sdkl(config) => {
                let blank = config.variational().blank(dimensions, columns, options)?;
                Self::SparseDeepKernel(blank)
            }
            ModelConfig::Svdkl(config) => {
                Self::SparseDeepKernel(config.blank(dimensions, columns, options)?)
            }
        })
    }

    /// Prepares the model for prediction.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn predictor(
        &self,
    ) -> Result<Predictor<AnyPredictive, AnyLikelihood>, NotPositiveDefinite> {
        match self {
            Self::Exact(model) => {
                let (device, dtype) = model.options();
                let process = exact_process(model)?;
                let likelihood = AnyLikelihood::Gaussian(model.regression.likelihood().clone());
                let process = EitherPredictive::First(process);
                Ok(Predictor::new(process, &likelihood, &device, dtype))
            }
            Self::ComputationAware(model) => {
                let process = EitherPredictive::First(model.condition()?);
                Ok(iterative(model, model.regression.likelihood(), process))
            }
            Self::ConjugateGradients(model) => {
                let process = EitherPredictive::Second(model.condition()?);
                Ok(iterative(model, model.regression.likelihood(), process))
            }
            Self::Sparse(model) => {
                let points = model.posterior().independent().inducing()[0].points();
                let process = EitherPredictive::First(model.condition()?);
                let (device, dtype) = (points.device(), points.dtype());
                Ok(Predictor::new(process, model.likelihood(), &device, dtype))
            }
            Self::Deep(model) => {
                let points = model.layers().output().inducing_inputs().swap_remove(0);
                let process = EitherPredictive::First(model.condition()?);
                let process = EitherPredictive::Second(process);
                let (device, dtype) = (points.device(), points.dtype());
                Ok(Predictor::new(process, model.likelihood(), &device, dtype))
            }
            Self::Basis(model) => {
                let level = model.posterior().level();
                let process = EitherPredictive::First(model.condition()?);
                let (device, dtype) = (level.device(), level.dtype());
                let process = with_network(process);
                Ok(Predictor::new(process, model.likelihood(), &device, dtype))
            }
            Self::DeepKernel(model) => {
                let (device, dtype) = model.model().options();
                let process = model.process(exact_process(model.model())?);
                let likelihood = model.model().regression.likelihood().clone();
                let likelihood = AnyLikelihood::Gaussian(likelihood);
                let process = with_network(EitherPredictive::Second(process));
                Ok(Predictor::new(process, &likelihood, &device, dtype))
            }
            Self::SparseDeepKernel(model) => {
                let sparse = model.model();
                let points = sparse.posterior().independent().inducing()[0].points();
                let process = model.process(sparse.condition()?);
                let process = with_network(EitherPredictive::Second(process));
                let (device, dtype) = (points.device(), points.dtype());
                Ok(Predictor::new(process, sparse.likelihood(), &device, dtype))
            }
        }
    }

    /// The hyperparameters in human-readable units.
    pub fn hyperparameters(&self) -> Vec<Hyperparameter> {
        match self {
            Self::Exact(model) => model.regression.hyperparameters(),
            Self::ComputationAware(model) => model.regression.hyperparameters(),
            Self::ConjugateGradients(model) => model.regression.hyperparameters(),
            Self::Sparse(model) => model.hyperparameters(),
            Self::Deep(model) => model.hyperparameters(),
            Self::Basis(model) => model.hyperparameters(),
            Self::DeepKernel(model) => model.model().regression.hyperparameters(),
            Self::SparseDeepKernel(model) => model.model().hyperparameters(),
        }
    }

    /// The prior covariances `k(x1, x2)` of the function. `None` for deep models and for several
    /// functions with separate kernels.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
    /// - result: `[N1, N2]`
    pub fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Option<Tensor<2>> {
        let shared = |model: &AnySvgp, x1, x2| match model.kernel() {
            Kernels::Shared(kernel) => Some(kernel.covariance(x1, x2)),
            Kernels::Separate(_) => None,
        };
        match self {
            Self::Exact(model) => Some(model.regression.kernel().covariance(x1, x2)),
            Self::ComputationAware(model) => Some(model.regression.kernel().covariance(x1, x2)),
            Self::ConjugateGradients(model) => Some(model.regression.kernel().covariance(x1, x2)),
            Self::Sparse(model) => shared(model, x1, x2),
            Self::Deep(_) => None,
            Self::Basis(model) => Some(model.kernel().covariance(x1, x2)),
            Self::DeepKernel(model) => {
                let [x1, x2] = [x1, x2].map(|x| model.network().forward(x));
                Some(model.model().regression.kernel().covariance(x1, x2))
            }
            Self::SparseDeepKernel(model) => {
                let [x1, x2] = [x1, x2].map(|x| model.network().forward(x));
                shared(model.model(), x1, x2)
            }
        }
    }

    /// The inducing points of all sets, row-major, `[M, D]`, from the first layer if there are
    /// several. Empty for regression that keeps its data and for models with networks.
    pub fn inducing_points(&self) -> Vec<f64> {
        match self {
            Self::Exact(_)
            | Self::ComputationAware(_)
            | Self::ConjugateGradients(_)
            | Self::Basis(_)
            | Self::DeepKernel(_)
            | Self::SparseDeepKernel(_) => Vec::new(),
            Self::Sparse(model) => {
                let sets = model.posterior().independent().inducing().into_iter();
                sets.flat_map(|points| numbers(points.points())).collect()
            }
            Self::Deep(model) => {
                let first = model.layers().hidden().first();
                let first = first.unwrap_or(model.layers().output());
                first
                    .inducing_inputs()
                    .into_iter()
                    .flat_map(numbers)
                    .collect()
            }
        }
    }
}

/// Converts a collapsed model to the variational model with the optimal `q(u)`.
fn collapsed(model: &AnySgpr, data: &TrainingData) -> Result<AnySvgp, NotPositiveDefinite> {
    let model = model.valid();
    let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
    let distribution = model.optimal_distribution(inputs, targets)?;
    let posterior = Whitened::new(model.inducing().clone(), distribution, model.jitter());
    Ok(Svgp::new(
        Kernels::Shared(model.kernel().clone()),
        model.mean().clone(),
        AnyLikelihood::Gaussian(model.likelihood().clone()),
        Functions::Independent(AnyPosterior::Whitened(posterior)),
    ))
}

/// Wraps the process of exact regression in the type of the sparse models.
fn exact_process(model: &OnData<AnyExact>) -> Result<AnyProcess, NotPositiveDefinite> {
    Ok((model.condition()?)
        .map(EitherProcess::First)
        .map(EitherProcess::First)
        .map(EitherProcess::First)
        .map(EitherProcess::First))
}

/// The predictor of iterative regression, which keeps its data.
fn iterative<R: FullBatch>(
    model: &OnData<R>,
    likelihood: &Gaussian,
    process: AnyIterativeProcess,
) -> Predictor<AnyPredictive, AnyLikelihood> {
    let (device, dtype) = model.options();
    let process = EitherPredictive::Second(EitherPredictive::Second(process));
    let likelihood = AnyLikelihood::Gaussian(likelihood.clone());
    Predictor::new(
        EitherPredictive::Second(process),
        &likelihood,
        &device,
        dtype,
    )
}

/// Wraps the process of a model with a network in the type of all models.
fn with_network(
    process: EitherPredictive<AnyBasisProcess, FeatureProcess<AnyProcess>>,
) -> AnyPredictive {
    EitherPredictive::Second(EitherPredictive::Second(EitherPredictive::First(process)))
}
