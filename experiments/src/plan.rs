//! The model and the training that settings and data ask for.

use burn::tensor::DType;
use burn_gp::{
    inducing::Initialiser,
    kernels::KernelConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    ops::Jitter,
    variational::{CovarianceShape, PosteriorConfig},
};
use burn_gp_models::{
    ExactConfig, InducingConfig, ModelConfig, Precision, SgprConfig, SvgpConfig,
    training::{FullBatchTraining, MiniBatchTraining, Schedule},
};

use crate::arguments::{CovarianceName, DtypeName, InitialiserName, MeanName, ScheduleName};
use crate::preparation::PreparedData;
use crate::settings::{
    Length, Method, SettingError, Settings, SparseSettings, VariationalSettings,
};

/// Inducing points unless told otherwise.
const DEFAULT_INDUCING: usize = 128;

/// Mini-batch steps unless told otherwise, or …
const DEFAULT_STEPS: usize = 6000;

/// … this many passes over the training rows, if those are more steps.
const DEFAULT_EPOCHS: usize = 10;

/// The learning rate at the end of a schedule, as a fraction of the first.
const FINAL_FRACTION: f64 = 0.01;

/// A model with its training.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Exact regression.
    Exact(ExactConfig, FullBatchTraining),
    /// Collapsed sparse regression.
    Sgpr(SgprConfig, FullBatchTraining),
    /// A sparse variational model.
    Svgp(SvgpConfig, MiniBatchTraining),
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
                full_batch(length),
            ),
            Method::Sgpr(sparse) => Self::Sgpr(
                SgprConfig {
                    kernel,
                    mean,
                    likelihood: noise,
                    inducing: inducing(sparse, data, seed, dtype)?,
                    parameters,
                },
                full_batch(length),
            ),
            Method::Svgp(sparse, variational) => {
                let config = SvgpConfig {
                    kernel,
                    mean,
                    likelihood: settings.likelihood.config(settings.noise, data.classes()),
                    posterior: posterior(variational),
                    inducing: inducing(sparse, data, seed, dtype)?,
                    separate_kernels: false,
                    coregionalisation: None,
                    parameters,
                };
                let training = mini_batch(variational, length, data.train.len(), seed);
                settings.length.get_or_insert(Length::Steps(training.steps));
                Self::Svgp(config, training)
            }
        })
    }

    /// The likelihood.
    pub fn likelihood(&self) -> LikelihoodConfig {
        match self {
            Self::Exact(config, _) => config.likelihood.clone().into(),
            Self::Sgpr(config, _) => config.likelihood.clone().into(),
            Self::Svgp(config, _) => config.likelihood.clone(),
        }
    }

    /// The model.
    pub fn model(&self) -> ModelConfig {
        match self {
            Self::Exact(config, _) => ModelConfig::Exact(config.clone()),
            Self::Sgpr(config, _) => ModelConfig::Sgpr(config.clone()),
            Self::Svgp(config, _) => ModelConfig::Svgp(config.clone()),
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

fn inducing_count(asked: Option<usize>, data: &PreparedData) -> Result<usize, SettingError> {
    let (rows, distinct) = (data.train.len(), data.distinct_training_inputs());
    match asked {
        Some(requested) if requested > rows => {
            Err(SettingError::TooManyInducing { requested, rows })
        }
        Some(requested) if requested > distinct => Err(SettingError::TooFewDistinct {
            requested,
            distinct,
        }),
        Some(requested) => Ok(requested),
        None => Ok(DEFAULT_INDUCING.min(distinct)),
    }
}

fn inducing(
    sparse: &mut SparseSettings,
    data: &PreparedData,
    seed: u64,
    dtype: DType,
) -> Result<InducingConfig, SettingError> {
    let count = inducing_count(sparse.inducing, data)?;
    sparse.inducing = Some(count);
    let default = Jitter::for_precision(dtype).initial;
    let jitter = *sparse.jitter.get_or_insert(default);
    Ok(InducingConfig {
        count,
        orthogonal: 0,
        initialiser: match sparse.initialiser {
            InitialiserName::Subset => Initialiser::Subset,
            InitialiserName::KMeans => Initialiser::KMeans,
            InitialiserName::GreedyVariance => Initialiser::GreedyVariance,
        },
        seed,
        jitter: Some(Jitter::relative(jitter)),
    })
}

fn kernel(settings: &Settings, data: &PreparedData) -> Result<KernelConfig, SettingError> {
    let kernel = settings.kernel.config(settings.isotropic);
    let inputs = data.dimensions();
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

fn posterior(variational: &VariationalSettings) -> PosteriorConfig {
    let covariance = match variational.covariance {
        CovarianceName::Full => CovarianceShape::Full,
        CovarianceName::Diagonal => CovarianceShape::Diagonal,
    };
    if variational.whitened {
        PosteriorConfig::Whitened { covariance }
    } else {
        PosteriorConfig::Unwhitened { covariance }
    }
}

fn full_batch(length: Option<Length>) -> FullBatchTraining {
    let default = FullBatchTraining::default();
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
    let final_fraction = FINAL_FRACTION;
    let mut training = MiniBatchTraining {
        batch_size: variational.batch_size,
        learning_rate: variational.learning_rate,
        schedule: match variational.schedule {
            ScheduleName::Constant => Schedule::Constant,
            ScheduleName::Cosine => Schedule::Cosine { final_fraction },
            ScheduleName::Exponential => Schedule::Exponential { final_fraction },
        },
        gradient_norm: variational.gradient_norm,
        natural_gradient: variational.natural_gradient,
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
