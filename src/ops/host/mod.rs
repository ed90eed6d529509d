//! The operations on the CPU: plain functions on borrowed row-major memory, without burn.

pub mod adam;
pub mod cholesky;
pub mod covariance;
mod covariance_by_products;
pub mod elementwise;
pub mod inversion;
mod lanes;
pub mod layer_normalization;
pub mod moments;
pub(crate) mod nearest;
pub mod normal;
pub mod patches;
mod points;
pub mod products;
mod profile;
pub mod relaxation;
pub mod scalar;
pub mod special;
mod substitution;
pub mod tanh;
pub(crate) mod threads;
pub mod triangular;
mod vectorized;
