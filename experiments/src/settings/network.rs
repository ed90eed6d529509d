//! The models with a network in them, from their options.

use burn_gp::inference::{PredictedVariance, VarianceCorrection};

use super::{SettingError, at_least_one};
use crate::arguments::{BackboneName, CorrectionName, ModelName, NetworkOptions};

/// The settings of arXiv:2505.18526.
const DEFAULT_UNITS: usize = 128;
const DEFAULT_BLOCKS: usize = 2;
const DEFAULT_RANK: usize = 128;
const DEFAULT_FEATURES: usize = 2;
const DEFAULT_WEIGHT_DECAY: f64 = 1e-4;

/// A model with a network in it.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSettings {
    /// Which model.
    pub model: ModelName,
    /// The network.
    pub backbone: BackboneName,
    /// The width of its layers.
    pub units: usize,
    /// How many hidden layers or residual blocks it has.
    pub blocks: usize,
    /// Its outputs: basis functions, or what a kernel sees.
    pub outputs: usize,
    /// The penalty of its weights.
    pub weight_decay: f64,
    /// Where the variance that basis functions lack is taken into account.
    pub correction: VarianceCorrection,
}

impl NetworkSettings {
    /// The network that `options` ask for.
    pub(super) fn new(options: &NetworkOptions, model: ModelName) -> Result<Self, SettingError> {
        let outputs = match model.has_basis() {
            true => at_least_one("--rank", options.rank)?.unwrap_or(DEFAULT_RANK),
            false => at_least_one("--features", options.features)?.unwrap_or(DEFAULT_FEATURES),
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
            backbone: options.backbone.unwrap_or(BackboneName::Normalised),
            units: at_least_one("--units", options.units)?.unwrap_or(DEFAULT_UNITS),
            blocks: at_least_one("--blocks", options.blocks)?.unwrap_or(DEFAULT_BLOCKS),
            outputs,
            weight_decay,
            correction: correction(options, model)?,
        })
    }

    /// The options that describe it without any default.
    pub(super) fn options(&self) -> NetworkOptions {
        let basis = self.model.has_basis();
        let correction = (self.model.has_correction()).then_some(self.correction);
        NetworkOptions {
            backbone: Some(self.backbone),
            units: Some(self.units),
            blocks: Some(self.blocks),
            rank: basis.then_some(self.outputs),
            features: (!basis).then_some(self.outputs),
            weight_decay: Some(self.weight_decay),
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
