//! The options of models with a network in them.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{BackboneName, CorrectionName};

/// What only models with a network in them have; what is absent has its default.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkOptions {
    /// The network of dbk, svdbk, bll, dkl, sdkl and svdkl [default: normalized]
    #[arg(long, value_name = "NETWORK", help_heading = "Networks")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backbone: Option<BackboneName>,
    /// Width of its layers [default: 32 for fewer than 1000 training rows, 64 for fewer than 10000,
    /// else 128]
    #[arg(
        long,
        value_name = "COUNT",
        allow_negative_numbers = true,
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<usize>,
    /// Blocks of residual networks, hidden layers of mlp [default: 2]
    #[arg(
        long,
        value_name = "COUNT",
        allow_negative_numbers = true,
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<usize>,
    /// Basis functions of dbk, svdbk and bll [default: 128]
    #[arg(
        long,
        value_name = "R",
        allow_negative_numbers = true,
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Outputs of the network of dkl, sdkl and svdkl, which the kernel sees [default: as many as
    /// inputs; mlp 2]
    #[arg(
        long,
        value_name = "H",
        allow_negative_numbers = true,
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub features: Option<usize>,
    /// Whether the network of dkl, sdkl and svdkl begins as the identity, its last weights at zero and
    /// the inputs added to its outputs [default: true where these are as many; mlp false]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_identity: Option<bool>,
    /// The penalty λ/2·‖θ‖² of the network's weights in the loss per datum [default: 1e-4]
    #[arg(
        long,
        value_name = "LAMBDA",
        allow_negative_numbers = true,
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_decay: Option<f64>,
    /// First learning rate of the network's weights [default: that of the other parameters if it is
    /// given, else 0.0003, and 0.0001 for dkl, sdkl and svdkl]
    #[arg(
        long,
        value_name = "R",
        allow_negative_numbers = true,
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_rate: Option<f64>,
    /// Leave the variance that the basis functions of dbk and svdbk lack where it is, in training
    /// and in prediction
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        conflicts_with_all = ["training_correction", "prediction_correction"],
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_correction: Option<bool>,
    /// Whether training has the penalty of that variance [default: true]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Networks"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_correction: Option<bool>,
    /// How predictions have that variance [default: reweighted; svdbk added]
    #[arg(long, value_name = "HOW", help_heading = "Networks")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction_correction: Option<CorrectionName>,
}

impl NetworkOptions {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These options, completed by those of `earlier`; what excludes each other is not mixed.
    pub fn over(self, earlier: Self) -> Self {
        let own_whole = self.no_correction.is_some();
        let own_part = self.training_correction.is_some() || self.prediction_correction.is_some();
        Self {
            backbone: self.backbone.or(earlier.backbone),
            units: self.units.or(earlier.units),
            blocks: self.blocks.or(earlier.blocks),
            rank: self.rank.or(earlier.rank),
            features: self.features.or(earlier.features),
            from_identity: self.from_identity.or(earlier.from_identity),
            weight_decay: self.weight_decay.or(earlier.weight_decay),
            network_rate: self.network_rate.or(earlier.network_rate),
            no_correction: (self.no_correction).or(earlier.no_correction.filter(|_| !own_part)),
            training_correction: (self.training_correction)
                .or(earlier.training_correction.filter(|_| !own_whole)),
            prediction_correction: (self.prediction_correction)
                .or(earlier.prediction_correction.filter(|_| !own_whole)),
        }
    }

    /// The options of every model with a network, and whether they are given.
    pub fn given(&self) -> [(&'static str, bool); 5] {
        [
            ("--backbone", self.backbone.is_some()),
            ("--units", self.units.is_some()),
            ("--blocks", self.blocks.is_some()),
            ("--weight-decay", self.weight_decay.is_some()),
            ("--network-rate", self.network_rate.is_some()),
        ]
    }

    /// The options of the corrected variance, and whether they are given.
    pub fn given_to_correction(&self) -> [(&'static str, bool); 3] {
        [
            ("--no-correction", self.no_correction.is_some()),
            ("--training-correction", self.training_correction.is_some()),
            (
                "--prediction-correction",
                self.prediction_correction.is_some(),
            ),
        ]
    }
}
