//! The options that only l-svgp and inverse-free have.

use clap::Args;
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{AuxiliaryName, InversionName};

/// The options that only l-svgp and inverse-free have; an absent option has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Inverse-free")]
pub struct PseudoObservationOptions {
    /// Do not precondition the mean of l-svgp and inverse-free by the inverse
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub plain_mean: Option<bool>,
    /// Initial variances of the pseudo-observations [default: 1e-4, in f32 2e-3]
    #[arg(long, value_name = "V")]
    pub pseudo_noise: Option<f64>,
    /// Lower bound of these variances in training [default: 1e-6, in f32 1e-3]
    #[arg(long, value_name = "V")]
    pub pseudo_noise_floor: Option<f64>,
    /// How inverse-free updates its approximate inverse [default: natural]
    #[arg(long, value_name = "WHAT")]
    pub auxiliary: Option<AuxiliaryName>,
    /// Step sizes of the natural-gradient inversion of inverse-free [default: full]
    #[arg(long, value_name = "SIZES")]
    pub inversion: Option<InversionName>,
    /// Residual at which an inversion stops [default: 0.005]
    #[arg(long, value_name = "R")]
    pub inversion_tolerance: Option<f64>,
    /// Maximum number of steps of an inversion [default: 100]
    #[arg(long, value_name = "S")]
    pub inversion_steps: Option<usize>,
    /// Random vectors that estimate the traces in the training bound of inverse-free [default:
    /// none, the traces are exact]
    #[arg(long, value_name = "K")]
    pub probes: Option<usize>,
}
