//! The stationary covariance functions that have a fused operation, and code that these operations share.

#[cfg(feature = "cube")]
pub(super) mod cube;
mod pairs;
mod points;
pub(super) mod profile;
mod rates;

use serde::{Deserialize, Serialize};

pub(super) use pairs::{PairSums, Weights, profiles, profiles_and_slopes};
pub(super) use points::{
    Block, GROUP, LANES, LaneBlocks, ROWS, RowGroups, add_totals, expand, gather, inverses,
    rows_at_once, scaled,
};
pub(super) use profile::{Profile, with_profile};
#[doc(hidden)]
pub use rates::profile_rate;

/// The profile φ of a stationary covariance `k(x, x′) = σ²·φ(r²)`, where
/// `r² = Σ_d (x_d − x′_d)²/ℓ_d²`.
///
/// Each is a function of r² with its own derivative, which avoids differentiating a square root at
/// zero. Formulas: Rasmussen and Williams, *Gaussian Processes for Machine Learning* (2006),
/// §4.2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stationary {
    /// `φ = exp(−r²/2)`: the squared exponential, or radial basis function.
    SquaredExponential,
    /// `φ = exp(−r)`: Matérn with ν = 1/2.
    Matern12,
    /// `φ = (1 + √3·r)·exp(−√3·r)`: Matérn with ν = 3/2.
    Matern32,
    /// `φ = (1 + √5·r + 5r²/3)·exp(−√5·r)`: Matérn with ν = 5/2.
    Matern52,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(Stationary in Self::ALL);

impl Stationary {
    /// Every kind.
    pub const ALL: [Self; 4] = [
        Self::SquaredExponential,
        Self::Matern12,
        Self::Matern32,
        Self::Matern52,
    ];
}
