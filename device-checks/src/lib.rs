//! Checks of a device: [`parity`] compares its results with those of the CPU, and [`device_step`] measures its training
//! steps. The program `burn-gp` runs them as `devices check`.
//!
//! # Features
//!
//! The features are those of [`burn_gp_models`]: the backends that are compiled in. The comparison needs `flex`, the
//! default.

#![deny(missing_docs)]

mod caught;
pub mod device_step;
pub mod parity;
