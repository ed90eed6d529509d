//! Models with a network.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_gp_core::{
    features::{NetworkConfig, NetworkName, ResidualNetworkConfig, Standardization},
    process::VarianceCorrection,
};
use burn_gp_datasets::Matrix;
use burn_gp_models::BasisConfig;

use crate::arguments::{CorrectionName, ModelFields, NormalizationName, RunOptions, read};
use crate::option_error::OptionError;
use crate::preparation::PreparedData;
use crate::ranges::{MOST_VALUES, at_most};

/// The default of arXiv:2505.18526.
const DEFAULT_BLOCKS: usize = 2;

/// Numbers of rows, and the default width for fewer rows. The paper's width is for tens of thousands of rows;
/// narrower networks predict better on less data.
const UNITS: [(usize, usize); 2] = [(1000, 32), (10_000, 64)];
const MOST_UNITS: usize = 128;

/// The network, the number of its blocks and their normalization, with their defaults filled in.
pub(super) fn fill(resolved: &mut RunOptions) -> (NetworkName, usize, NormalizationName) {
    let residual = NetworkName::of::<ResidualNetworkConfig>;
    (
        *resolved.backbone.get_or_insert_with(residual),
        *resolved.blocks.get_or_insert(DEFAULT_BLOCKS),
        *(resolved.normalization).get_or_insert(NormalizationName::Layer),
    )
}

/// Sets the network of the model: in front of a kernel, or as its basis functions.
pub(super) fn set_network(
    model: &mut ModelFields,
    network: NetworkConfig,
    outputs: usize,
) -> Result<(), OptionError> {
    let Some(own) = model.get("basis").cloned() else {
        model.set("features", &outputs);
        model.set("network", &network);
        return Ok(());
    };
    let (own, new): (BasisConfig, _) = (read("basis", own)?, BasisConfig::new(network, outputs));
    // The default scale depends on the number of functions.
    let is_default = own.scale == BasisConfig::new(own.network, own.rank).scale;
    let scale = if is_default { new.scale } else { own.scale };
    model.set("basis", &BasisConfig { scale, ..new });
    Ok(())
}

/// The network and the number of its outputs.
pub(super) fn network(
    resolved: &mut RunOptions,
    data: &PreparedData,
) -> Result<(NetworkConfig, usize), OptionError> {
    let (model, seed) = (resolved.model_fields(), resolved.seed());
    let has_basis = model.has("basis.rank");
    let (rows, inputs) = (data.training_rows(), data.dimensions());
    let (backbone, blocks, normalization) = fill(resolved);
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
        _ if has_basis => *(resolved.rank).get_or_insert(model.count("basis.rank")),
        true => *resolved.features.get_or_insert(inputs),
        false => *(resolved.features).get_or_insert(model.count("features")),
    };
    let residual = ResidualNetworkConfig {
        width,
        blocks,
        // In full-batch training, a network with standardized inputs separates the rows from the start, and
        // fits them before the noise variance has grown.
        standardization: (model.has_batches() && normalization == NormalizationName::Layer)
            .then(|| standardization(&data.train.inputs)),
        normalization: normalization.into(),
        from_identity: !has_basis && from_identity(resolved, can_be_identity, [outputs, inputs])?,
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
pub(super) fn correction(resolved: &mut RunOptions) -> Result<VarianceCorrection, OptionError> {
    // A posterior of mini-batches has no weights of the rows.
    let default = match resolved.model_fields().has_batches() {
        true => CorrectionName::Added,
        false => CorrectionName::Reweighted,
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
