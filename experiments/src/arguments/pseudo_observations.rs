//! The options of the models l-svgp and inverse-free alone.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{AuxiliaryName, InversionName};

/// What only l-svgp and inverse-free have; what is absent has its default.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PseudoObservationOptions {
    /// The mean of l-svgp and inverse-free as it is, not preconditioned by the inverse
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        help_heading = "Inverse-free models"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plain_mean: Option<bool>,
    /// First variances of their pseudo-observations [default: 1e-4, in f32 2e-3]
    #[arg(
        long,
        value_name = "V",
        allow_negative_numbers = true,
        help_heading = "Inverse-free models"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pseudo_noise: Option<f64>,
    /// What training keeps these variances above [default: 1e-6, in f32 1e-3]
    #[arg(
        long,
        value_name = "V",
        allow_negative_numbers = true,
        help_heading = "Inverse-free models"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pseudo_noise_floor: Option<f64>,
    /// What keeps inverse-free's approximate inverse up to date [default: natural]
    #[arg(long, value_name = "WHAT", help_heading = "Inverse-free models")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auxiliary: Option<AuxiliaryName>,
    /// Step sizes of its natural-gradient inversion [default: full]
    #[arg(long, value_name = "SIZES", help_heading = "Inverse-free models")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inversion: Option<InversionName>,
    /// The residual at which an inversion stops [default: 0.005]
    #[arg(
        long,
        value_name = "R",
        allow_negative_numbers = true,
        help_heading = "Inverse-free models"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inversion_tolerance: Option<f64>,
    /// The steps of an inversion, at most [default: 100]
    #[arg(
        long,
        value_name = "S",
        allow_negative_numbers = true,
        help_heading = "Inverse-free models"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inversion_steps: Option<usize>,
    /// Random vectors that estimate the traces of inverse-free's bound in training [default: none,
    /// the traces are exact]
    #[arg(
        long,
        value_name = "K",
        allow_negative_numbers = true,
        help_heading = "Inverse-free models"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<usize>,
}

impl PseudoObservationOptions {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These options, completed by those of `earlier`; variances are left behind with their
    /// floating-point type.
    pub fn over(self, earlier: Self, own_dtype: bool) -> Self {
        let variance = |own: Option<f64>, earlier: Option<f64>| match own_dtype {
            true => own,
            false => own.or(earlier),
        };
        Self {
            plain_mean: self.plain_mean.or(earlier.plain_mean),
            pseudo_noise: variance(self.pseudo_noise, earlier.pseudo_noise),
            pseudo_noise_floor: variance(self.pseudo_noise_floor, earlier.pseudo_noise_floor),
            auxiliary: self.auxiliary.or(earlier.auxiliary),
            inversion: self.inversion.or(earlier.inversion),
            inversion_tolerance: self.inversion_tolerance.or(earlier.inversion_tolerance),
            inversion_steps: self.inversion_steps.or(earlier.inversion_steps),
            probes: self.probes.or(earlier.probes),
        }
    }

    /// The options that both models have, and whether they are given.
    pub fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--plain-mean", self.plain_mean.is_some()),
            ("--pseudo-noise", self.pseudo_noise.is_some()),
            ("--pseudo-noise-floor", self.pseudo_noise_floor.is_some()),
        ]
    }

    /// The options of inverse-free alone, and whether they are given.
    pub fn given_to_inverse_free(&self) -> [(&'static str, bool); 5] {
        [
            ("--auxiliary", self.auxiliary.is_some()),
            ("--inversion", self.inversion.is_some()),
            ("--inversion-tolerance", self.inversion_tolerance.is_some()),
            ("--inversion-steps", self.inversion_steps.is_some()),
            ("--probes", self.probes.is_some()),
        ]
    }
}
