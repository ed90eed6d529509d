//! Models with a network.

use burn_gp::process::{PredictedVariance, VarianceCorrection};

use super::{SettingError, at_least_one, positive};
use crate::arguments::{BackboneName, CorrectionName, ModelName, NetworkOptions, RunOptions};

/// The defaults of arXiv:2505.18526.
const DEFAULT_BLOCKS: usize = 2;
const DEFAULT_RANK: usize = 128;
const DEFAULT_WEIGHT_DECAY: f64 = 1e-4;

/// Widths for fewer than so many rows. The paper's width is for tens of thousands of rows; narrower
/// networks predict better on less data.
const UNITS: [(usize, usize); 2] = [(1000, 32), (10_000, 64)];
const MOST_UNITS: usize = 128;

/// The default number of features of a network without a residual. Such a network cannot start as
/// the identity.
const DEFAULT_FEATURES: usize = 2;

/// The learning rate of networks in basis models. It is much smaller than that of the other
/// parameters, because the noise should be learned before the network fits it.
const BASIS_RATE: f64 = 3e-4;

/// The learning rate of networks in deep kernels. It is smaller still, because the initial model is
/// already good.
const DEEP_KERNEL_RATE: f64 = 1e-4;

/// The settings of a model with a network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSettings {
    /// The name of the model.
    pub model: ModelName,
    /// The network.
    pub backbone: BackboneName,
    /// The width of the hidden layers; the default if absent.
    pub units: Option<usize>,
    /// The number of hidden layers or residual blocks.
    pub blocks: usize,
    /// The number of outputs, which are basis functions or inputs of a kernel; the default if
    /// absent.
    pub outputs: Option<usize>,
    /// Whether the network starts as the identity; the default if absent.
    pub from_identity: Option<bool>,
    /// The weight decay.
    pub weight_decay: f64,
    /// The initial learning rate of the weights; that of the other parameters if absent.
    pub network_rate: Option<f64>,
    /// Where the model adds the variance that the basis functions miss.
    pub correction: VarianceCorrection,
}

impl NetworkSettings {
    /// Reads the network from `options`.
    pub(super) fn new(run: &RunOptions, model: ModelName) -> Result<Self, SettingError> {
        let options = &run.network;
        let default_rate = match model.has_basis() {
            true => BASIS_RATE,
            false => DEEP_KERNEL_RATE,
        };
        let outputs = match model.has_basis() {
            true => at_least_one("--rank", options.rank)?,
            false => at_least_one("--features", options.features)?,
        };
        let weight_decay = options.weight_decay.unwrap_or(DEFAULT_WEIGHT_DECAY);
        if !(weight_decay >= 0.0 && weight_decay.is_finite()) {
            return Err(SettingError::Negative {
                option: "--weight-decay",
                value: weight_decay,
            });
        }
        Ok(Self {
            model,
            backbone: options.backbone.unwrap_or(BackboneName::Normalized),
            units: at_least_one("--units", options.units)?,
            blocks: at_least_one("--blocks", options.blocks)?.unwrap_or(DEFAULT_BLOCKS),
            outputs,
            from_identity: options.from_identity,
            weight_decay,
            network_rate: (options.network_rate)
                // A learning rate given for all parameters also applies to the network.
                .or(run.learning_rate.is_none().then_some(default_rate))
                .map(|rate| positive("--network-rate", rate))
                .transpose()?,
            correction: correction(options, model)?,
        })
    }

    /// The width of the hidden layers for data with `rows` rows.
    pub fn units(&self, rows: usize) -> usize {
        let fits = UNITS.iter().find(|(most, _)| rows < *most);
        (self.units).unwrap_or(fits.map_or(MOST_UNITS, |&(_, units)| units))
    }

    /// The number of outputs for data with `inputs` inputs. A deep kernel takes as many features as
    /// there are inputs, because two random mixtures of all inputs would lose much that must be
    /// learned again.
    pub fn outputs(&self, inputs: usize) -> usize {
        self.outputs.unwrap_or(match self.backbone {
            _ if self.model.has_basis() => DEFAULT_RANK,
            BackboneName::Mlp => DEFAULT_FEATURES,
            BackboneName::Residual | BackboneName::Normalized => inputs,
        })
    }

    /// Whether the network starts as the identity for data with `inputs` inputs. The initial deep
    /// kernel is then a kernel on the inputs themselves.
    pub fn from_identity(&self, inputs: usize) -> bool {
        let can = self.model.is_deep_kernel()
            && self.backbone != BackboneName::Mlp
            && self.outputs(inputs) == inputs;
        can && self.from_identity.unwrap_or(true)
    }

    /// Converts the network back to options, with all defaults filled in.
    pub(super) fn options(&self) -> NetworkOptions {
        let basis = self.model.has_basis();
        let correction = (self.model.has_correction()).then_some(self.correction);
        NetworkOptions {
            backbone: Some(self.backbone),
            units: self.units,
            blocks: Some(self.blocks),
            rank: self.outputs.filter(|_| basis),
            features: self.outputs.filter(|_| !basis),
            from_identity: self.from_identity.filter(|_| !basis),
            weight_decay: Some(self.weight_decay),
            network_rate: self.network_rate,
            no_correction: None,
            training_correction: correction.map(|correction| correction.training),
            prediction_correction: correction.map(|correction| match correction.prediction {
                PredictedVariance::Features => CorrectionName::Features,
                PredictedVariance::Added => CorrectionName::Added,
                PredictedVariance::Reweighted => CorrectionName::Reweighted,
            }),
        }
    }
}

fn correction(
    options: &NetworkOptions,
    model: ModelName,
) -> Result<VarianceCorrection, SettingError> {
    if options.no_correction == Some(true) {
        let part = [
            (
                "--training-correction",
                options.training_correction.is_some(),
            ),
            (
                "--prediction-correction",
                options.prediction_correction.is_some(),
            ),
        ];
        return match part.into_iter().find(|(_, given)| *given) {
            Some((second, _)) => Err(SettingError::Exclusive {
                first: "--no-correction",
                second,
            }),
            None => Ok(VarianceCorrection::NONE),
        };
    }
    let default = match model {
        ModelName::Svdbk => CorrectionName::Added,
        _ => CorrectionName::Reweighted,
    };
    Ok(VarianceCorrection {
        training: options.training_correction.unwrap_or(true),
        prediction: match options.prediction_correction.unwrap_or(default) {
            CorrectionName::Features => PredictedVariance::Features,
            CorrectionName::Added => PredictedVariance::Added,
            CorrectionName::Reweighted => PredictedVariance::Reweighted,
        },
    })
}
