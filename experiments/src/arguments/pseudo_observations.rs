//! The options of the models l-svgp and inverse-free alone.

use clap::Args;
use merge::{Merge, option::overwrite_none};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{AuxiliaryName, InversionName};

/// What only l-svgp and inverse-free have; what is absent has its default.
#[skip_serializing_none]
#[derive(Args, Clone, Debug, Default, Merge, PartialEq, Serialize, Deserialize)]
#[merge(strategy = overwrite_none)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Inverse-free")]
pub struct PseudoObservationOptions {
    /// The mean of l-svgp and inverse-free as it is, not preconditioned by the inverse
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub plain_mean: Option<bool>,
    /// First variances of their pseudo-observations [default: 1e-4, in f32 2e-3]
    #[arg(long, value_name = "V")]
    pub pseudo_noise: Option<f64>,
    /// What training keeps these variances above [default: 1e-6, in f32 1e-3]
    #[arg(long, value_name = "V")]
    pub pseudo_noise_floor: Option<f64>,
    /// What keeps inverse-free's approximate inverse up to date [default: natural]
    #[arg(long, value_name = "WHAT")]
    pub auxiliary: Option<AuxiliaryName>,
    /// Step sizes of its natural-gradient inversion [default: full]
    #[arg(long, value_name = "SIZES")]
    pub inversion: Option<InversionName>,
    /// The residual at which an inversion stops [default: 0.005]
    #[arg(long, value_name = "R")]
    pub inversion_tolerance: Option<f64>,
    /// The steps of an inversion, at most [default: 100]
    #[arg(long, value_name = "S")]
    pub inversion_steps: Option<usize>,
    /// Random vectors that estimate the traces of inverse-free's bound in training [default: none,
    /// the traces are exact]
    #[arg(long, value_name = "K")]
    pub probes: Option<usize>,
}
