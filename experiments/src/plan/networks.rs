//! The models with networks that settings and data ask for.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp::{
    features::{
        FirstWeights, NetworkConfig, Normalization, PerceptronConfig, ResidualNetworkConfig,
        Standardization,
    },
    kernels::KernelConfig,
    likelihoods::{GaussianConfig, LikelihoodConfig},
    means::MeanConfig,
    parameter::ParameterConfig,
    process::CovarianceShape,
    variational::{PosteriorConfig, WhitenedConfig},
};
use burn_gp_models::{
    BasisConfig, DbkConfig, DeepKernelConfig, ExactConfig, InducingConfig, LastLayerConfig,
    ModelConfig, SgprConfig, SvdbkConfig, SvgpConfig, training::MiniBatchTraining,
};

use burn_gp_datasets::Matrix;

use super::training::mini_batch;
use crate::arguments::{BackboneName, ModelName};
use crate::preparation::PreparedData;
use crate::settings::{Length, NetworkSettings, SettingError, VariationalSettings};

/// Steps on all rows unless told otherwise.
const DEFAULT_STEPS: usize = 2000;

/// The parts of models with networks. Each model uses some of them.
pub(super) struct Pieces {
    pub kernel: KernelConfig,
    pub mean: MeanConfig,
    /// Of models that have no other likelihood.
    pub noise: GaussianConfig,
    pub likelihood: LikelihoodConfig,
    pub covariance: CovarianceShape,
    pub inducing: InducingConfig,
    pub parameters: ParameterConfig,
    /// Of the network.
    pub seed: u64,
}

/// Writes what the size of the data decides into `settings`.
///
/// # Errors
///
/// When a network is to begin as the identity and cannot.
pub(super) fn resolve(
    settings: &mut NetworkSettings,
    rows: usize,
    inputs: usize,
) -> Result<(), SettingError> {
    let (asked, can) = (settings.from_identity, settings.from_identity(inputs));
    if settings.model.is_deep_kernel() && asked == Some(true) && !can {
        return Err(SettingError::FromIdentity {
            features: settings.outputs(inputs),
            inputs,
        });
    }
    settings.units = Some(settings.units(rows));
    settings.outputs = Some(settings.outputs(inputs));
    settings.from_identity = (settings.model.is_deep_kernel()).then_some(can);
    Ok(())
}

/// The model of `pieces` for `data`.
pub(super) fn config(
    pieces: Pieces,
    settings: &NetworkSettings,
    data: &PreparedData,
) -> ModelConfig {
    let network = network(settings, data, pieces.seed);
    let outputs = settings.outputs(data.dimensions());
    let basis = BasisConfig::new(network.clone(), outputs);
    let Pieces {
        kernel,
        mean,
        noise,
        likelihood,
        covariance,
        inducing,
        parameters,
        ..
    } = pieces;
    let correction = settings.correction;
    match settings.model {
        ModelName::Svdbk => ModelConfig::Svdbk(SvdbkConfig {
            basis,
            mean,
            likelihood,
            correction,
            covariance,
            parameters,
        }),
        ModelName::Bll => ModelConfig::LastLayer(LastLayerConfig {
            basis,
            mean,
            likelihood: noise,
            parameters,
        }),
        ModelName::Dkl => ModelConfig::Dkl(DeepKernelConfig {
            network,
            features: outputs,
            model: ExactConfig {
                kernel,
                mean,
                likelihood: noise,
                parameters,
            },
        }),
        ModelName::Sdkl => ModelConfig::Sdkl(DeepKernelConfig {
            network,
            features: outputs,
            model: SgprConfig {
                kernel,
                mean,
                likelihood: noise,
                inducing,
                parameters,
            },
        }),
        ModelName::Svdkl => ModelConfig::Svdkl(DeepKernelConfig {
            network,
            features: outputs,
            model: SvgpConfig {
                mean,
                posterior: PosteriorConfig::Whitened(WhitenedConfig { covariance }),
                inducing,
                parameters,
                ..SvgpConfig::new(kernel, likelihood)
            },
        }),
        _ => ModelConfig::Dbk(DbkConfig {
            basis: BasisConfig::integrated(network, outputs),
            mean,
            likelihood: noise,
            correction,
            parameters,
        }),
    }
}

fn network(settings: &NetworkSettings, data: &PreparedData, seed: u64) -> NetworkConfig {
    let units = settings.units(data.train.len());
    let residual = ResidualNetworkConfig {
        width: units,
        blocks: settings.blocks,
        from_identity: settings.from_identity(data.dimensions()),
        seed,
        ..ResidualNetworkConfig::default()
    };
    match settings.backbone {
        BackboneName::Mlp => PerceptronConfig {
            hidden: vec![units; settings.blocks],
            first_weights: FirstWeights::FanIn,
            seed,
            ..PerceptronConfig::default()
        }
        .into(),
        BackboneName::Residual => ResidualNetworkConfig {
            normalization: Normalization::None,
            ..residual
        }
        .into(),
        BackboneName::Normalized => ResidualNetworkConfig {
            // Trained on all rows at once, a network that tells rows apart from the start has fitted
            // them before the noise variance has grown.
            standardization: (settings.model.has_batches())
                .then(|| standardization(&data.train.inputs)),
            normalization: Normalization::Layer,
            ..residual
        }
        .into(),
    }
}

/// That of the training rows.
fn standardization(inputs: &Matrix) -> Standardization {
    let shape = [inputs.rows(), inputs.columns()];
    let points = TensorData::new(inputs.values().to_vec(), shape);
    Standardization::of(&Tensor::from_data(points, (&Device::flex(), DType::F64)))
}

/// The training by Adam, on all rows as one batch where the model has no other.
pub(super) fn training(
    variational: &VariationalSettings,
    settings: &NetworkSettings,
    length: Option<Length>,
    data: &PreparedData,
    seed: u64,
) -> MiniBatchTraining {
    let rows = data.train.len();
    let (weight_decay, network_rate) = (settings.weight_decay, settings.network_rate);
    if settings.model.has_batches() {
        return MiniBatchTraining {
            weight_decay,
            network_rate,
            ..mini_batch(variational, length, rows, seed)
        };
    }
    let variational = VariationalSettings {
        batch_size: rows,
        ..variational.clone()
    };
    let length = length.unwrap_or(Length::Steps(DEFAULT_STEPS));
    MiniBatchTraining {
        weight_decay,
        network_rate,
        ..mini_batch(&variational, Some(length), rows, seed)
    }
}
