//! The options of models with a network.

use burn_gp::features::NetworkName;
use clap::Args;
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{CorrectionName, choices::named};

/// The options that only models with a network have; an absent option has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Networks")]
pub struct NetworkOptions {
    /// Network of dbk, svdbk, bll, dkl, sdkl and svdkl [default: normalized]
    #[arg(long, value_name = "NETWORK", value_parser = named(NetworkName::all()))]
    pub backbone: Option<NetworkName>,
    /// Width of the network [default: 32 for fewer than 1000 training rows, 64 for fewer than
    /// 10000, else 128]
    #[arg(long, value_name = "COUNT")]
    pub units: Option<usize>,
    /// Number of blocks of a residual network, or of hidden layers of mlp [default: 2]
    #[arg(long, value_name = "COUNT")]
    pub blocks: Option<usize>,
    /// Number of basis functions of dbk, svdbk and bll [default: 128]
    #[arg(long, value_name = "R")]
    pub rank: Option<usize>,
    /// Number of outputs of the network of dkl, sdkl and svdkl, which are the inputs of the kernel
    /// [default: as many as inputs; mlp 2]
    #[arg(long, value_name = "H")]
    pub features: Option<usize>,
    /// Whether the network of dkl, sdkl and svdkl starts as the identity: the last weights are zero
    /// and the inputs are added to the outputs [default: true if there are as many outputs as
    /// inputs; mlp false]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub from_identity: Option<bool>,
    /// Weight decay: the penalty λ/2·‖θ‖² of the network's weights in the loss per datum [default:
    /// 1e-4]
    #[arg(long, value_name = "LAMBDA")]
    pub weight_decay: Option<f64>,
    /// Initial learning rate of the network [default: --learning-rate if given, else 0.0003, and
    /// 0.0001 for dkl, sdkl and svdkl]
    #[arg(long, value_name = "R")]
    pub network_rate: Option<f64>,
    /// Do not correct for the variance that the basis functions of dbk and svdbk miss, in training
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
    /// Whether the training loss includes the penalty for the missed variance [default: true]
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub training_correction: Option<bool>,
    /// How predictions correct for the missed variance [default: reweighted; svdbk added]
    #[arg(long, value_name = "HOW")]
    pub prediction_correction: Option<CorrectionName>,
}
