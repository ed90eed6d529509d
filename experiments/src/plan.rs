//! The model and the training that settings and data ask for.

mod actions;
mod inducing;
mod layers;
mod networks;
mod training;

use burn_gp::{
    inference::ActionLoss,
    kernels::KernelConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    process::CovarianceShape,
    variational::{Coordinates, PosteriorConfig},
};
use burn_gp_models::{
    ComputationAwareConfig, ConjugateGradientsConfig, DeepGpConfig, ExactConfig, InducingConfig,
    ModelConfig, NetworkModelConfig, Precision, SgprConfig, SolveCollapsedConfig, SvgpConfig,
    training::{FullBatchTraining, MiniBatchTraining},
};

use actions::actions;
use inducing::{DEFAULT_INDUCING, inducing, inducing_patches};
use layers::Pieces;
use training::{full_batch, mini_batch};

use crate::arguments::{CovarianceName, DtypeName, MeanName};
use crate::preparation::PreparedData;
use crate::settings::{
    Family, Length, Method, SettingError, Settings, SparseSettings, VariationalSettings,
};

/// Columns of the orthogonal inducing points' covariance that a step looks at unless told otherwise.
const DEFAULT_COLUMNS: usize = 1024;

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
        if let Method::Network(_, _, network) = &mut settings.method {
            networks::resolve(network, data.train.len(), data.dimensions())?;
        }
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
                    coregionalization: None,
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
                let config = networks::config(pieces, network, data);
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

fn kernel(settings: &Settings, data: &PreparedData) -> Result<KernelConfig, SettingError> {
    let kernel = settings.kernel.config(settings.isotropic);
    // A deep kernel sees the outputs of its network.
    let network = settings
        .method
        .network()
        .filter(|network| network.model.is_deep_kernel());
    let inputs = data.dimensions();
    let inputs = network.map_or(inputs, |network| network.outputs(inputs));
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
