//! The models with a network in them, from their options.

use burn_gp::process::{PredictedVariance, VarianceCorrection};

use super::{SettingError, at_least_one, positive};
use crate::arguments::{BackboneName, CorrectionName, ModelName, NetworkOptions, RunOptions};

/// The settings of arXiv:2505.18526.
const DEFAULT_BLOCKS: usize = 2;
const DEFAULT_RANK: usize = 128;
const DEFAULT_WEIGHT_DECAY: f64 = 1e-4;

/// The width of the paper is for tens of thousands of rows; of fewer, narrower networks predict better.
const UNITS: [(usize, usize); 2] = [(1000, 32), (10_000, 64)];
const MOST_UNITS: usize = 128;

/// What a kernel sees of a network without a residual, whose outputs cannot begin as the inputs.
const DEFAULT_FEATURES: usize = 2;

/// Networks are trained with far smaller steps than the other parameters, so that the noise is known
/// before they fit it …
const BASIS_RATE: f64 = 3e-4;

/// … and smaller still where they change what is a good model from the start.
const DEEP_KERNEL_RATE: f64 = 1e-4;

/// A model with a network in it.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkSettings {
    /// Which model.
    pub model: ModelName,
    /// The network.
    pub backbone: BackboneName,
    /// The width of its layers, unless by default.
    pub units: Option<usize>,
    /// How many hidden layers or residual blocks it has.
    pub blocks: usize,
    /// Its outputs, unless by default: basis functions, or what a kernel sees.
    pub outputs: Option<usize>,
    /// Whether it begins as the identity, unless by default.
    pub from_identity: Option<bool>,
    /// The penalty of its weights.
    pub weight_decay: f64,
    /// The first learning rate of its weights; that of the other parameters if absent.
    pub network_rate: Option<f64>,
    /// Where the variance that basis functions lack is taken into account.
    pub correction: VarianceCorrection,
}

impl NetworkSettings {
    /// The network that `options` ask for.
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
                // What is said of all parameters is said of these.
                .or(run.learning_rate.is_none().then_some(default_rate))
                .map(|rate| positive("--network-rate", rate))
                .transpose()?,
            correction: correction(options, model)?,
        })
    }

    /// The width of its layers for data of `rows` rows.
    pub fn units(&self, rows: usize) -> usize {
        let fits = UNITS.iter().find(|(most, _)| rows < *most);
        (self.units).unwrap_or(fits.map_or(MOST_UNITS, |&(_, units)| units))
    }

    /// Its outputs for data of `inputs` dimensions. A kernel sees as many as there are inputs: from
    /// two that are made of all of them at random much has to be learnt again.
    pub fn outputs(&self, inputs: usize) -> usize {
        self.outputs.unwrap_or(match self.backbone {
            _ if self.model.has_basis() => DEFAULT_RANK,
            BackboneName::Mlp => DEFAULT_FEATURES,
            BackboneName::Residual | BackboneName::Normalized => inputs,
        })
    }

    /// Whether it begins as the identity for data of `inputs` dimensions: a deep kernel is then that of
    /// the inputs, until the network has learnt better.
    pub fn from_identity(&self, inputs: usize) -> bool {
        let can = self.model.is_deep_kernel()
            && self.backbone != BackboneName::Mlp
            && self.outputs(inputs) == inputs;
        can && self.from_identity.unwrap_or(true)
    }

    /// The options that describe it without any default.
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
