//! The model and the training that settings and data ask for.

mod actions;
mod inducing;
mod layers;
mod networks;
mod training;

use burn::tensor::DType;
use burn_gp::{
    inference::ActionLoss,
    kernels::KernelConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    parameter::ParameterConfig,
    process::CovarianceShape,
    variational::{
        Coordinates, LSvgpConfig, OrthogonalConfig, OrthogonallyDecoupledConfig, PosteriorConfig,
        UnwhitenedConfig, WhitenedConfig,
    },
};
use burn_gp_models::{
    ComputationAwareConfig, ConjugateGradientsConfig, ExactConfig, InducingConfig, ModelConfig,
    Precision, SgprConfig, SolveCollapsedConfig, SvgpConfig, training::Training,
};

use actions::actions;
use inducing::{DEFAULT_INDUCING, inducing, inducing_patches};
use training::{full_batch, mini_batch};

use crate::arguments::{CovarianceName, DtypeName, LikelihoodName, MeanName};
use crate::preparation::PreparedData;
use crate::settings::{
    Family, LayerSettings, Length, Method, NetworkSettings, SettingError, Settings, SparseSettings,
    VariationalSettings,
};

/// Columns of the orthogonal inducing points' covariance that a step looks at unless told otherwise.
const DEFAULT_COLUMNS: usize = 1024;

/// A model with its training.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The model.
    pub model: ModelConfig,
    /// The training.
    pub training: Training,
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
        let parts = Parts::new(settings, data)?;
        let model = parts.model(&mut settings.method)?;
        let training = training(settings, data);
        if let Training::MiniBatch(training) = &training {
            (settings.length).get_or_insert(Length::Steps(training.steps));
        }
        Ok(Self { model, training })
    }
}

/// The parts of a model that do not depend on its form.
struct Parts<'a> {
    kernel: KernelConfig,
    mean: MeanConfig,
    noise: GaussianConfig,
    likelihood: LikelihoodName,
    parameters: ParameterConfig,
    data: &'a PreparedData,
    seed: u64,
    dtype: DType,
}

impl<'a> Parts<'a> {
    fn new(settings: &Settings, data: &'a PreparedData) -> Result<Self, SettingError> {
        Ok(Self {
            kernel: kernel(settings, data)?,
            mean: mean(settings, data),
            noise: GaussianConfig {
                noise: settings.noise,
            },
            likelihood: settings.likelihood,
            parameters: settings.parameters.config(),
            data,
            seed: settings.seed,
            dtype: precision(settings.dtype).dtype(),
        })
    }

    /// The model; whatever the data decided is written into `method`.
    fn model(self, method: &mut Method) -> Result<ModelConfig, SettingError> {
        match method {
            Method::Svgp(sparse, variational) => self.svgp(sparse, variational),
            Method::Layers(sparse, variational, layers) => self.layers(sparse, variational, layers),
            Method::Network(sparse, variational, network) => {
                self.network(sparse.as_mut(), variational, network)
            }
            regression => self.regression(regression),
        }
    }

    fn likelihood(&self) -> LikelihoodConfig {
        (self.likelihood).config(self.noise.noise, self.data.classes())
    }

    fn inducing(
        &self,
        sparse: &mut SparseSettings,
        has_orthogonal: bool,
    ) -> Result<InducingConfig, SettingError> {
        inducing(sparse, has_orthogonal, self.data, self.seed, self.dtype)
    }

    /// A model with normal noise that is trained on all rows.
    fn regression(self, method: &mut Method) -> Result<ModelConfig, SettingError> {
        let Self {
            kernel,
            mean,
            noise: likelihood,
            parameters,
            data,
            seed,
            dtype,
            ..
        } = self;
        /// Adds the parts that all of them have.
        macro_rules! config {
            ($config:ident { $($field:ident: $value:expr),* }) => {
                $config { kernel, mean, likelihood, parameters, $($field: $value),* }.into()
            };
        }
        Ok(match method {
            Method::ComputationAware(settings) => config!(ComputationAwareConfig {
                actions: actions(settings, data, seed)?,
                loss: ActionLoss::Evidence
            }),
            Method::ConjugateGradients(settings) => config!(ConjugateGradientsConfig {
                settings: *settings
            }),
            Method::Sgpr(sparse) => config!(SgprConfig {
                inducing: inducing(sparse, false, data, seed, dtype)?
            }),
            Method::SolveCollapsed(sparse) => config!(SolveCollapsedConfig {
                inducing: inducing(sparse, true, data, seed, dtype)?
            }),
            _ => config!(ExactConfig {}),
        })
    }

    fn svgp(
        self,
        sparse: &mut SparseSettings,
        variational: &mut VariationalSettings,
    ) -> Result<ModelConfig, SettingError> {
        let inducing = self.inducing(sparse, variational.family.has_orthogonal())?;
        let config = SvgpConfig {
            likelihood: self.likelihood(),
            kernel: self.kernel,
            mean: self.mean,
            posterior: posterior(variational, inducing.orthogonal, self.seed)?,
            inducing,
            separate_kernels: false,
            coregionalization: None,
            parameters: self.parameters,
        };
        Ok(config.into())
    }

    fn layers(
        self,
        sparse: &mut SparseSettings,
        variational: &mut VariationalSettings,
        layers: &mut LayerSettings,
    ) -> Result<ModelConfig, SettingError> {
        let has_orthogonal = variational.family.has_orthogonal();
        let points = |sparse: &mut SparseSettings| match layers.images {
            None => self.inducing(sparse, has_orthogonal),
            Some(_) => Ok(inducing_patches(
                sparse,
                has_orthogonal,
                self.seed,
                self.dtype,
            )),
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
        let posterior = posterior(variational, output.orthogonal, self.seed)?;
        let pieces = layers::Pieces {
            likelihood: self.likelihood(),
            kernel: self.kernel,
            mean: self.mean,
            posterior,
            output,
            hidden,
            parameters: self.parameters,
        };
        Ok(layers::deep_gp(pieces, layers, self.data)?.into())
    }

    fn network(
        self,
        sparse: Option<&mut SparseSettings>,
        variational: &VariationalSettings,
        network: &NetworkSettings,
    ) -> Result<ModelConfig, SettingError> {
        let inducing = sparse.map(|sparse| self.inducing(sparse, false));
        let inducing = inducing.transpose()?;
        let pieces = networks::Pieces {
            likelihood: self.likelihood(),
            kernel: self.kernel,
            mean: self.mean,
            noise: self.noise,
            covariance: covariance(variational),
            inducing: inducing.unwrap_or(InducingConfig::new(DEFAULT_INDUCING)),
            parameters: self.parameters,
            seed: self.seed,
        };
        Ok(networks::config(pieces, network, self.data))
    }
}

/// The training of the model of `settings`.
fn training(settings: &Settings, data: &PreparedData) -> Training {
    let (length, seed, rows) = (settings.length, settings.seed, data.train.len());
    match &settings.method {
        Method::Svgp(_, variational) | Method::Layers(_, variational, _) => {
            mini_batch(variational, length, rows, seed).into()
        }
        Method::Network(_, variational, network) => {
            networks::training(variational, network, length, data, seed).into()
        }
        _ => full_batch(length, settings.optimizer).into(),
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
        Family::Svgp { whitened: true } => PosteriorConfig::Whitened(WhitenedConfig { covariance }),
        Family::Svgp { whitened: false } => {
            PosteriorConfig::Unwhitened(UnwhitenedConfig { covariance })
        }
        Family::Solve { whitened } => PosteriorConfig::Solve(OrthogonalConfig {
            covariance,
            coordinates: coordinates(*whitened),
        }),
        Family::LSvgp(observations) => PosteriorConfig::LSvgp(LSvgpConfig {
            observations: *observations,
        }),
        Family::InverseFree(config) => PosteriorConfig::InverseFree(*config),
        Family::Odvgp { columns } => {
            let columns = *columns.get_or_insert(DEFAULT_COLUMNS.min(orthogonal));
            if columns > orthogonal {
                return Err(SettingError::TooManyColumns {
                    columns,
                    orthogonal,
                });
            }
            PosteriorConfig::Odvgp(OrthogonallyDecoupledConfig {
                covariance,
                coordinates: coordinates(false),
                columns: (columns < orthogonal).then_some(columns),
                seed,
            })
        }
    })
}
