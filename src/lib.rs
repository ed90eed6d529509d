//! Gaussian processes for the [burn] deep-learning framework: operations, kernels, likelihoods,
//! posteriors, layers and inference.
//!
//! The crate `burn-gp` has these pieces and ready-made models under one name.
//!
//! # Features
//!
//! | feature | content |
//! |---|---|
//! | `flex` (default) | the CPU, in single and double precision |
//! | `ndarray` | the CPU by another backend of burn |
//! | `wgpu`, `vulkan`, `metal` | GPUs through WGSL, SPIR-V and Metal, in single precision |
//! | `cuda`, `rocm` | GPUs through CUDA and HIP |
//! | `fusion`, `autotune` | burn's features of these names; needed if your crate enables burn's |
//!
//! Several can be compiled in together. The device of the data decides where a computation runs.

#![deny(missing_docs)]

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

/// The crate of random generators, in the version that this crate takes: likelihoods draw targets from a
/// generator, and Fourier features are drawn from one.
pub use rand;
