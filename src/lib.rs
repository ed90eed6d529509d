//! Gaussian processes for the [burn] deep-learning framework.

pub mod custom;
pub mod features;
pub mod inducing;
pub mod inference;
pub mod kernels;
pub mod layers;
pub mod likelihoods;
pub mod means;
pub mod metrics;
pub mod ops;
pub mod optim;
pub mod parameter;
pub mod patches;
pub mod point_processes;
pub mod process;
mod random;
pub mod sampling;
pub mod variational;
