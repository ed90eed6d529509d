//! Gaussian processes of latent inputs: the Bayesian Gaussian-process latent variable model.
//!
//! The inputs of rows of outputs are unknown and have a standard normal prior. [`LatentInputs`] is their
//! variational distribution, [`BayesianGplvm`] the model with its collapsed bound, and [`LatentProcess`] the
//! functions given the outputs, at given inputs and at uncertain ones.

mod distribution;
mod gplvm;
mod process;
mod statistics;

pub use distribution::LatentInputs;
pub use gplvm::BayesianGplvm;
pub use process::LatentProcess;
