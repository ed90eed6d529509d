//! Models with a network.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    features::{NetworkConfig, NetworkName, ResidualNetworkConfig, Standardization},
    process::VarianceCorrection,
};
use burn_gp_datasets::Matrix;
use burn_gp_models::{
    BasisConfig, DbkConfig, DeepKernelConfig, ExactConfig, LastLayerConfig, ModelConfig,
    SgprConfig, SvdbkConfig, SvgpConfig,
    training::{MiniBatchTraining, NetworkTraining},
};

use super::{
    inducing::{inducing, initializer},
    mini_batch::mini_batch,
    parts::{Parts, kernel_of},
    posterior::{covariance, posterior},
    units::parameters_in_units,
};
use crate::arguments::{CorrectionName, ModelName, NormalizationName, RunOptions};
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::{
    MOST_PARTS, MOST_SIZE, MOST_VALUES, at_most, count, from_one_to, positive, within,
};

/// The defaults of arXiv:2505.18526.
const DEFAULT_BLOCKS: usize = 2;
const DEFAULT_RANK: usize = 128;

/// Numbers of rows, and the default width for fewer rows. The paper's width is for tens of thousands of rows;
/// narrower networks predict better on less data.
const UNITS: [(usize, usize); 2] = [(1000, 32), (10_000, 64)];
const MOST_UNITS: usize = 128;

/// The default number of features of a network without residual connections, which cannot start as the
/// identity.
const DEFAULT_FEATURES: usize = 2;

/// Checks the options of a model with a network, and fills in defaults that do not depend on the data. `given`
/// are the options without defaults.
pub(super) fn check(given: &RunOptions, checked: &mut RunOptions) -> Result<(), OptionError> {
    let model = checked.model();
    mini_batch(checked)?;
    match model.has_basis() {
        true => from_one_to(MOST_SIZE, "--rank", checked.rank)?,
        false => from_one_to(MOST_SIZE, "--features", checked.features)?,
    };
    weight_decay(checked)?;
    from_one_to(MOST_SIZE, "--units", checked.units)?;
    form(checked)?;
    normalization(checked);
    network_rate(given, checked)?;
    correction(checked)?;
    covariance(checked);
    if model.has_inducing() {
        initializer(checked)?;
    }
    Ok(())
}

/// The network and the number of its blocks.
fn form(resolved: &mut RunOptions) -> Result<(NetworkName, usize), OptionError> {
    let backbone = (resolved.backbone).get_or_insert_with(NetworkName::of::<ResidualNetworkConfig>);
    let backbone = *backbone;
    Ok((
        backbone,
        count(MOST_PARTS, "--blocks", &mut resolved.blocks, DEFAULT_BLOCKS)?,
    ))
}

fn normalization(resolved: &mut RunOptions) -> NormalizationName {
    *(resolved.normalization).get_or_insert(NormalizationName::Layer)
}

/// The settings of training that do not depend on the number of rows.
pub(super) fn training(
    given: &RunOptions,
    resolved: &mut RunOptions,
) -> Result<MiniBatchTraining, OptionError> {
    Ok(MiniBatchTraining {
        weight_decay: weight_decay(resolved)?,
        network_rate: network_rate(given, resolved)?,
        ..mini_batch(resolved)?
    })
}

fn weight_decay(resolved: &mut RunOptions) -> Result<f64, OptionError> {
    let value = *(resolved.weight_decay).get_or_insert(NetworkTraining::WEIGHT_DECAY);
    let is_within = value >= 0.0 && value.is_finite();
    let range = "be zero or a positive number";
    within("--weight-decay", value, is_within, range)
}

/// The initial learning rate of the network. `None` for the rate of the other parameters, which is used if only
/// that rate is given.
fn network_rate(given: &RunOptions, resolved: &mut RunOptions) -> Result<Option<f64>, OptionError> {
    let default = match resolved.model().has_basis() {
        true => NetworkTraining::BASIS.learning_rate,
        false => NetworkTraining::DEEP_KERNEL.learning_rate,
    };
    let default = given.learning_rate.is_none().then_some(default);
    resolved.network_rate = resolved.network_rate.or(default);
    (resolved.network_rate)
        .map(|rate| positive("--network-rate", rate))
        .transpose()
}

/// The model.
pub(super) fn model(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<ModelConfig, OptionError> {
    let (network, outputs) = network(resolved, data)?;
    match resolved.model().has_basis() {
        true => basis_model(resolved, data, network, outputs),
        false => deep_kernel(resolved, data, network, outputs),
    }
}

fn basis_model(
    resolved: &mut RunOptions,
    data: &PreparedData,
    network: NetworkConfig,
    outputs: usize,
) -> Result<ModelConfig, OptionError> {
    let parameters = parameters_in_units(resolved, None, data)?;
    let parts = Parts::new(resolved, data, parameters)?;
    let (mean, gaussian, parameters) = (parts.mean, parts.gaussian, parts.parameters);
    Ok(match resolved.model() {
        ModelName::Svdbk => ModelConfig::from(SvdbkConfig {
            basis: BasisConfig::new(network, outputs),
            mean,
            likelihood: parts.likelihood,
            correction: correction(resolved)?,
            covariance: covariance(resolved),
            parameters,
        }),
        ModelName::Bll => ModelConfig::from(LastLayerConfig {
            basis: BasisConfig::new(network, outputs),
            mean,
            likelihood: gaussian,
            parameters,
        }),
        _ => ModelConfig::from(DbkConfig {
            basis: BasisConfig::integrated(network, outputs),
            mean,
            likelihood: gaussian,
            correction: correction(resolved)?,
            parameters,
        }),
    })
}

fn deep_kernel(
    resolved: &mut RunOptions,
    data: &PreparedData,
    network: NetworkConfig,
    features: usize,
) -> Result<ModelConfig, OptionError> {
    let kernel = kernel_of(resolved, features)?;
    let parameters = parameters_in_units(resolved, None, data)?;
    let parts = Parts::new(resolved, data, parameters)?;
    let (mean, gaussian, parameters) = (parts.mean, parts.gaussian, parts.parameters);
    Ok(match resolved.model() {
        ModelName::Dkl => ModelConfig::from(DeepKernelConfig {
            network,
            features,
            model: ExactConfig {
                kernel,
                mean,
                likelihood: gaussian,
                parameters,
            },
        }),
        ModelName::Sdkl => ModelConfig::from(DeepKernelConfig {
            network,
            features,
            model: SgprConfig {
                kernel,
                mean,
                likelihood: gaussian,
                inducing: inducing(resolved, data)?,
                parameters,
            },
        }),
        _ => ModelConfig::from(DeepKernelConfig {
            network,
            features,
            model: SvgpConfig {
                mean,
                posterior: posterior(resolved)?,
                inducing: inducing(resolved, data)?,
                parameters,
                ..SvgpConfig::new(kernel, parts.likelihood)
            },
        }),
    })
}

/// The network and the number of its outputs.
fn network(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<(NetworkConfig, usize), OptionError> {
    let (model, seed) = (resolved.model(), resolved.seed());
    let (rows, inputs) = (data.training_rows(), data.dimensions());
    let (backbone, blocks) = form(resolved)?;
    let normalization = normalization(resolved);
    let fits = UNITS.iter().find(|(most, _)| rows < *most);
    let width = *(resolved.units).get_or_insert(fits.map_or(MOST_UNITS, |&(_, units)| units));
    at_most("--units", width, (MOST_VALUES / blocks).isqrt(), || {
        format!("the network has {blocks} blocks of this width")
    })?;
    // By default a deep kernel has as many features as inputs. Fewer random mixtures of the inputs would lose
    // information that must be learned again.
    let mut network = backbone.config();
    let can_be_identity = network.can_be_identity();
    let outputs = match can_be_identity {
        _ if model.has_basis() => *resolved.rank.get_or_insert(DEFAULT_RANK),
        true => *resolved.features.get_or_insert(inputs),
        false => *resolved.features.get_or_insert(DEFAULT_FEATURES),
    };
    let residual = ResidualNetworkConfig {
        width,
        blocks,
        // In full-batch training, a network with standardized inputs separates the rows from the start, and
        // fits them before the noise variance has grown.
        standardization: (model.has_batches() && normalization == NormalizationName::Layer)
            .then(|| standardization(&data.train.inputs)),
        normalization: normalization.into(),
        from_identity: model.is_deep_kernel()
            && from_identity(resolved, can_be_identity, [outputs, inputs])?,
        seed,
        ..ResidualNetworkConfig::default()
    };
    network.set_like(&residual);
    Ok((network, outputs))
}

/// Whether the network starts as the identity, so that the initial deep kernel is a kernel on the inputs.
fn from_identity(
    resolved: &mut RunOptions,
    can_be_identity: bool,
    [features, inputs]: [usize; 2],
) -> Result<bool, OptionError> {
    let can = can_be_identity && features == inputs;
    match *resolved.from_identity.get_or_insert(can) {
        true if !can => Err(OptionError::FromIdentity { features, inputs }),
        starts => Ok(starts),
    }
}

/// The standardization of the training inputs.
fn standardization(inputs: &Matrix) -> Standardization {
    let shape = [inputs.rows(), inputs.columns()];
    let points = TensorData::new(inputs.values().to_vec(), shape);
    Standardization::of(&Tensor::from_data(points, (&Device::flex(), DType::F64)))
}

/// How the model corrects for the variance that the basis functions miss.
fn correction(resolved: &mut RunOptions) -> Result<VarianceCorrection, OptionError> {
    let default = match resolved.model() {
        ModelName::Svdbk => CorrectionName::Added,
        _ => CorrectionName::Reweighted,
    };
    if resolved.no_correction.take() == Some(true) {
        let given = [
            (
                "--training-correction",
                resolved.training_correction.is_some(),
            ),
            (
                "--prediction-correction",
                resolved.prediction_correction.is_some(),
            ),
        ];
        if let Some((second, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(OptionError::Exclusive {
                first: "--no-correction",
                second,
            });
        }
        resolved.training_correction = Some(false);
        resolved.prediction_correction = Some(CorrectionName::Features);
    }
    Ok(VarianceCorrection {
        training: *resolved.training_correction.get_or_insert(true),
        prediction: (*resolved.prediction_correction.get_or_insert(default)).into(),
    })
}
