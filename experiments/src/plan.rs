//! The model and the training that settings and data ask for.

mod layers;
mod networks;

use burn::tensor::DType;
use burn_gp::{
    inducing::Initialiser,
    inference::{ActionLoss, ActionStart, IterationRule},
    kernels::KernelConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    ops::Jitter,
    variational::{Coordinates, CovarianceShape, PosteriorConfig},
};
use burn_gp_models::{
    ActionsConfig, ComputationAwareConfig, ConjugateGradientsConfig, DeepGpConfig, ExactConfig,
    InducingConfig, ModelConfig, NetworkModelConfig, Precision, SgprConfig, SolveCollapsedConfig,
    SvgpConfig,
    training::{FullBatchOptimizer, FullBatchTraining, MiniBatchTraining},
};

use layers::Pieces;

use crate::arguments::{
    ActionStartName, CovarianceName, DtypeName, InitialiserName, MeanName, PolicyName,
};
use crate::preparation::PreparedData;
use crate::settings::{
    ActionChoice, ActionSettings, Family, Length, Method, SettingError, Settings, SparseSettings,
    VariationalSettings,
};

/// Inducing points unless told otherwise.
const DEFAULT_INDUCING: usize = 128;

/// Combinations of rows unless told otherwise.
const DEFAULT_ACTIONS: usize = 256;

/// Columns of the orthogonal inducing points' covariance that a step looks at unless told otherwise.
const DEFAULT_COLUMNS: usize = 1024;

/// Mini-batch steps unless told otherwise, or …
const DEFAULT_STEPS: usize = 6000;

/// … this many passes over the training rows, if those are more steps.
const DEFAULT_EPOCHS: usize = 10;

/// A model with its training.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Exact regression.
    Exact(ExactConfig, FullBatchTraining),
    /// Computation-aware regression.
    ComputationAware(ComputationAwareConfig, FullBatchTraining),
    /// Regression by conjugate gradients.
    ConjugateGradients(ConjugateGradientsConfig, FullBatchTraining),
    /// Collapsed sparse regression.
    Sgpr(SgprConfig, FullBatchTraining),
    /// Collapsed sparse regression with orthogonal inducing points.
    SolveCollapsed(SolveCollapsedConfig, FullBatchTraining),
    /// A sparse variational model.
    Svgp(SvgpConfig, Box<MiniBatchTraining>),
    /// A deep model, or one of images.
    DeepGp(Box<DeepGpConfig>, Box<MiniBatchTraining>),
    /// A model with a network in it.
    Network(Box<NetworkModelConfig>, Box<MiniBatchTraining>),
}

impl Plan {
    /// The plan of `settings` for `data`; whatever the data decided is written into `settings`.
    ///
    /// # Errors
    ///
    /// When there are too few training rows for the inducing points, or inputs for the kernel, or
    /// another number of classes than the likelihood takes.
    pub fn new(settings: &mut Settings, data: &PreparedData) -> Result<Self, SettingError> {
        data.check_classes(settings)?;
        let (kernel, mean) = (kernel(settings, data)?, mean(settings, data));
        let noise = GaussianConfig {
            noise: settings.noise,
        };
        let (length, seed) = (settings.length, settings.seed);
        let all_rows = full_batch(length, settings.optimizer);
        let dtype = precision(settings.dtype).dtype();
        let parameters = settings.parameters.config();
        Ok(match &mut settings.method {
            Method::Exact => Self::Exact(
                ExactConfig {
                    kernel,
                    mean,
                    likelihood: noise,
                    parameters,
                },
                all_rows,
            ),
            Method::ComputationAware(settings) => Self::ComputationAware(
                ComputationAwareConfig {
                    kernel,
                    mean,
                    likelihood: noise,
                    actions: actions(settings, data, seed)?,
                    loss: ActionLoss::Evidence,
                    parameters,
                },
                all_rows,
            ),
            Method::ConjugateGradients(settings) => Self::ConjugateGradients(
                ConjugateGradientsConfig {
                    kernel,
                    mean,
                    likelihood: noise,
                    settings: *settings,
                    parameters,
                },
                all_rows,
            ),
            Method::Sgpr(sparse) => Self::Sgpr(
                SgprConfig {
                    kernel,
                    mean,
                    likelihood: noise,
                    inducing: inducing(sparse, false, data, seed, dtype)?,
                    parameters,
                },
                all_rows,
            ),
            Method::SolveCollapsed(sparse) => Self::SolveCollapsed(
                SolveCollapsedConfig {
                    kernel,
                    mean,
                    likelihood: noise,
                    inducing: inducing(sparse, true, data, seed, dtype)?,
                    parameters,
                },
                all_rows,
            ),
            Method::Svgp(sparse, variational) => {
                let has_orthogonal = variational.family.has_orthogonal();
                let inducing = inducing(sparse, has_orthogonal, data, seed, dtype)?;
                let config = SvgpConfig {
                    kernel,
                    mean,
                    likelihood: settings.likelihood.config(settings.noise, data.classes()),
                    posterior: posterior(variational, inducing.orthogonal, seed)?,
                    inducing,
                    separate_kernels: false,
                    coregionalisation: None,
                    parameters,
                };
                let training = mini_batch(variational, length, data.train.len(), seed);
                settings.length.get_or_insert(Length::Steps(training.steps));
                Self::Svgp(config, Box::new(training))
            }
            Method::Layers(sparse, variational, layers) => {
                let has_orthogonal = variational.family.has_orthogonal();
                let points = |sparse: &mut SparseSettings| match layers.images {
                    None => inducing(sparse, has_orthogonal, data, seed, dtype),
                    Some(_) => Ok(inducing_patches(sparse, has_orthogonal, seed, dtype)),
                };
                let output = points(sparse)?;
                let hidden = match layers.hidden_inducing {
                    None => output.clone(),
                    Some(count) => points(&mut SparseSettings {
                        inducing: Some(count),
                        orthogonal: has_orthogonal.then_some(count),
                        ..sparse.clone()
                    })?,
                };
                let posterior = posterior(variational, output.orthogonal, seed)?;
                let pieces = Pieces {
                    kernel,
                    mean,
                    posterior,
                    output,
                    hidden,
                    likelihood: settings.likelihood.config(settings.noise, data.classes()),
                    parameters,
                };
                let config = layers::deep_gp(pieces, layers, data)?;
                let training = mini_batch(variational, length, data.train.len(), seed);
                settings.length.get_or_insert(Length::Steps(training.steps));
                Self::DeepGp(Box::new(config), Box::new(training))
            }
            Method::Network(sparse, variational, network) => {
                let inducing = (sparse.as_mut())
                    .map(|sparse| inducing(sparse, false, data, seed, dtype))
                    .transpose()?;
                let pieces = networks::Pieces {
                    kernel,
                    mean,
                    noise,
                    likelihood: settings.likelihood.config(settings.noise, data.classes()),
                    covariance: covariance(variational),
                    inducing: inducing.unwrap_or(InducingConfig::new(DEFAULT_INDUCING)),
                    parameters,
                    seed,
                };
                let config = networks::config(pieces, network);
                let training = networks::training(variational, network, length, data, seed);
                settings.length.get_or_insert(Length::Steps(training.steps));
                Self::Network(Box::new(config), Box::new(training))
            }
        })
    }

    /// The likelihood.
    pub fn likelihood(&self) -> LikelihoodConfig {
        match self {
            Self::Exact(config, _) => config.likelihood.clone().into(),
            Self::ComputationAware(config, _) => config.likelihood.clone().into(),
            Self::ConjugateGradients(config, _) => config.likelihood.clone().into(),
            Self::Sgpr(config, _) => config.likelihood.clone().into(),
            Self::SolveCollapsed(config, _) => config.likelihood.clone().into(),
            Self::Svgp(config, _) => config.likelihood.clone(),
            Self::DeepGp(config, _) => config.likelihood.clone(),
            Self::Network(config, _) => config.likelihood(),
        }
    }

    /// The model.
    pub fn model(&self) -> ModelConfig {
        match self {
            Self::Exact(config, _) => ModelConfig::Exact(config.clone()),
            Self::ComputationAware(config, _) => ModelConfig::ComputationAware(config.clone()),
            Self::ConjugateGradients(config, _) => ModelConfig::ConjugateGradients(config.clone()),
            Self::Sgpr(config, _) => ModelConfig::Sgpr(config.clone()),
            Self::SolveCollapsed(config, _) => ModelConfig::SolveCollapsed(config.clone()),
            Self::Svgp(config, _) => ModelConfig::Svgp(config.clone()),
            Self::DeepGp(config, _) => ModelConfig::DeepGp(config.as_ref().clone()),
            Self::Network(config, _) => config.as_ref().clone().into(),
        }
    }
}

/// The floating-point type as models name it.
pub fn precision(dtype: DtypeName) -> Precision {
    match dtype {
        DtypeName::F32 => Precision::F32,
        DtypeName::F64 => Precision::F64,
    }
}

/// The combinations of rows; their number is written into `settings`.
fn actions(
    settings: &mut ActionSettings,
    data: &PreparedData,
    seed: u64,
) -> Result<ActionsConfig, SettingError> {
    let rows = data.train.len();
    let requested = *settings.count.get_or_insert(DEFAULT_ACTIONS.min(rows));
    if requested > rows {
        return Err(SettingError::TooManyActions { requested, rows });
    }
    let iterations = |rule, tolerance| ActionsConfig::Iterations {
        rule,
        count: requested,
        tolerance,
        seed,
    };
    Ok(match settings.choice {
        ActionChoice::Trained { start } => ActionsConfig::Blocks {
            count: requested,
            start: match start {
                ActionStartName::Normal => ActionStart::Normal,
                ActionStartName::Targets => ActionStart::Targets,
                ActionStartName::Eigenvectors => ActionStart::Eigenvectors,
            },
            seed,
        },
        ActionChoice::ConjugateGradients { tolerance } => {
            iterations(IterationRule::Residuals, tolerance)
        }
        ActionChoice::Policy {
            policy,
            rank,
            tolerance,
        } => iterations(rule(policy, rank), tolerance),
    })
}

fn rule(policy: PolicyName, rank: usize) -> IterationRule {
    match policy {
        PolicyName::Cg => IterationRule::Residuals,
        PolicyName::PreconditionedCg => IterationRule::PreconditionedResiduals { rank },
        PolicyName::Unit => IterationRule::UnitVectors,
        PolicyName::Random => IterationRule::RandomVectors,
        PolicyName::Eigenvectors => IterationRule::Eigenvectors,
    }
}

/// How many inducing points there are, and how many orthogonal ones: as many as were asked for, else
/// as many as there are different training inputs for, up to the defaults.
fn inducing_counts(
    sparse: &SparseSettings,
    has_orthogonal: bool,
    data: &PreparedData,
) -> Result<(usize, usize), SettingError> {
    let (rows, distinct) = (data.train.len(), data.distinct_training_inputs());
    if let Some(requested) = sparse.inducing {
        if requested > rows {
            return Err(SettingError::TooManyInducing { requested, rows });
        }
        if requested > distinct {
            return Err(SettingError::TooFewDistinct {
                requested,
                distinct,
            });
        }
    }
    if !has_orthogonal {
        return Ok((sparse.inducing.unwrap_or(DEFAULT_INDUCING.min(distinct)), 0));
    }
    let left = (sparse.orthogonal).map_or(distinct / 2, |count| distinct.saturating_sub(count));
    let inducing = sparse.inducing.unwrap_or(DEFAULT_INDUCING.min(left).max(1));
    let left = distinct.saturating_sub(inducing);
    let orthogonal = sparse.orthogonal.unwrap_or(inducing.min(left).max(1));
    match orthogonal > left {
        true => Err(SettingError::TooFewForBoth {
            inducing,
            orthogonal,
            distinct,
        }),
        false => Ok((inducing, orthogonal)),
    }
}

fn inducing(
    sparse: &mut SparseSettings,
    has_orthogonal: bool,
    data: &PreparedData,
    seed: u64,
    dtype: DType,
) -> Result<InducingConfig, SettingError> {
    let (count, orthogonal) = inducing_counts(sparse, has_orthogonal, data)?;
    Ok(inducing_config(sparse, (count, orthogonal), seed, dtype))
}

/// Inducing patches, of which there are more than rows.
fn inducing_patches(
    sparse: &mut SparseSettings,
    has_orthogonal: bool,
    seed: u64,
    dtype: DType,
) -> InducingConfig {
    let count = sparse.inducing.unwrap_or(DEFAULT_INDUCING);
    let orthogonal = sparse.orthogonal.unwrap_or(count);
    let orthogonal = if has_orthogonal { orthogonal } else { 0 };
    inducing_config(sparse, (count, orthogonal), seed, dtype)
}

fn inducing_config(
    sparse: &mut SparseSettings,
    (count, orthogonal): (usize, usize),
    seed: u64,
    dtype: DType,
) -> InducingConfig {
    sparse.inducing = Some(count);
    sparse.orthogonal = (orthogonal > 0).then_some(orthogonal);
    let default = Jitter::for_precision(dtype).initial;
    let jitter = *sparse.jitter.get_or_insert(default);
    InducingConfig {
        count,
        orthogonal,
        initialiser: match sparse.initialiser {
            InitialiserName::Subset => Initialiser::Subset,
            InitialiserName::KMeans => Initialiser::KMeans,
            InitialiserName::GreedyVariance => Initialiser::GreedyVariance,
        },
        seed,
        jitter: Some(Jitter::relative(jitter)),
    }
}

fn kernel(settings: &Settings, data: &PreparedData) -> Result<KernelConfig, SettingError> {
    let kernel = settings.kernel.config(settings.isotropic);
    // A deep kernel sees the outputs of its network.
    let network = settings
        .method
        .network()
        .filter(|network| network.model.is_deep_kernel());
    let inputs = network.map_or(data.dimensions(), |network| network.outputs);
    match kernel.missing_dimension(inputs) {
        Some(missing) => Err(SettingError::MissingInput {
            input: missing + 1,
            inputs,
        }),
        None => Ok(kernel),
    }
}

fn mean(settings: &Settings, data: &PreparedData) -> MeanConfig {
    match settings.mean {
        MeanName::Zero => MeanConfig::Zero,
        MeanName::Constant => MeanConfig::Constant {
            value: settings.likelihood.first_constant(&data.train.targets),
        },
        MeanName::Linear => MeanConfig::Linear,
    }
}

fn covariance(variational: &VariationalSettings) -> CovarianceShape {
    match variational.covariance {
        CovarianceName::Full => CovarianceShape::Full,
        CovarianceName::Diagonal => CovarianceShape::Diagonal,
    }
}

/// The posterior; the columns that a step looks at are written into `variational`.
fn posterior(
    variational: &mut VariationalSettings,
    orthogonal: usize,
    seed: u64,
) -> Result<PosteriorConfig, SettingError> {
    let covariance = covariance(variational);
    let coordinates = |whitened| match whitened {
        true => Coordinates::Whitened,
        false => Coordinates::Unwhitened,
    };
    Ok(match &mut variational.family {
        Family::Svgp { whitened: true } => PosteriorConfig::Whitened { covariance },
        Family::Svgp { whitened: false } => PosteriorConfig::Unwhitened { covariance },
        Family::Solve { whitened } => PosteriorConfig::Solve {
            covariance,
            coordinates: coordinates(*whitened),
        },
        Family::LSvgp(observations) => PosteriorConfig::LSvgp {
            observations: *observations,
        },
        Family::InverseFree(config) => PosteriorConfig::InverseFree(*config),
        Family::Odvgp { columns } => {
            let columns = *columns.get_or_insert(DEFAULT_COLUMNS.min(orthogonal));
            if columns > orthogonal {
                return Err(SettingError::TooManyColumns {
                    columns,
                    orthogonal,
                });
            }
            PosteriorConfig::Odvgp {
                covariance,
                coordinates: coordinates(false),
                columns: (columns < orthogonal).then_some(columns),
                seed,
            }
        }
    })
}

fn full_batch(length: Option<Length>, optimizer: Option<FullBatchOptimizer>) -> FullBatchTraining {
    let default = FullBatchTraining {
        optimizer: optimizer.unwrap_or_default(),
        ..FullBatchTraining::default()
    };
    match length {
        Some(Length::Epochs(iterations) | Length::Steps(iterations)) => FullBatchTraining {
            iterations,
            ..default
        },
        None => default,
    }
}

fn mini_batch(
    variational: &VariationalSettings,
    length: Option<Length>,
    rows: usize,
    seed: u64,
) -> MiniBatchTraining {
    let mut training = MiniBatchTraining {
        batch_size: variational.batch_size,
        learning_rate: variational.learning_rate,
        schedule: variational.schedule,
        plateau: variational.plateau,
        gradient_norm: variational.gradient_norm,
        natural_gradient: variational.natural_gradient,
        inducing: variational.inducing,
        seed,
        ..MiniBatchTraining::new(DEFAULT_STEPS)
    };
    training.steps = match length {
        Some(Length::Epochs(epochs)) => training.steps_in_epochs(epochs, rows),
        Some(Length::Steps(steps)) => steps,
        None => DEFAULT_STEPS.max(training.steps_in_epochs(DEFAULT_EPOCHS, rows)),
    };
    training
}
