//! The options of models with a network in them.

use clap::Args;
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{BackboneName, CorrectionName};

/// What only models with a network in them have; what is absent has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Networks")]
pub struct NetworkOptions {
    /// The network of dbk, svdbk, bll, dkl, sdkl and svdkl [default: normalized]
    #[arg(long, value_name = "NETWORK")]
    pub backbone: Option<BackboneName>,
    /// Width of its layers [default: 32 for fewer than 1000 training rows, 64 for fewer than 10000,
    /// else 128]
    #[arg(long, value_name = "COUNT")]
    pub units: Option<usize>,
    /// Blocks of residual networks, hidden layers of mlp [default: 2]
    #[arg(long, value_name = "COUNT")]
    pub blocks: Option<usize>,
    /// Basis functions of dbk, svdbk and bll [default: 128]
    #[arg(long, value_name = "R")]
    pub rank: Option<usize>,
    /// Outputs of the network of dkl, sdkl and svdkl, which the kernel sees [default: as many as
    /// inputs; mlp 2]
    #[arg(long, value_name = "H")]
    pub features: Option<usize>,
    /// Whether the network of dkl, sdkl and svdkl begins as the identity, its last weights at zero and
    /// the inputs added to its outputs [default: true where these are as many; mlp false]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub from_identity: Option<bool>,
    /// The penalty λ/2·‖θ‖² of the network's weights in the loss per datum [default: 1e-4]
    #[arg(long, value_name = "LAMBDA")]
    pub weight_decay: Option<f64>,
    /// First learning rate of the network's weights [default: that of the other parameters if it is
    /// given, else 0.0003, and 0.0001 for dkl, sdkl and svdkl]
    #[arg(long, value_name = "R")]
    pub network_rate: Option<f64>,
    /// Leave the variance that the basis functions of dbk and svdbk lack where it is, in training
    /// and in prediction
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        conflicts_with_all = ["training_correction", "prediction_correction"]
    )]
    pub no_correction: Option<bool>,
    /// Whether training has the penalty of that variance [default: true]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub training_correction: Option<bool>,
    /// How predictions have that variance [default: reweighted; svdbk added]
    #[arg(long, value_name = "HOW")]
    pub prediction_correction: Option<CorrectionName>,
}
