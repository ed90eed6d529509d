//! Gaussian processes for the [burn] deep-learning framework: operations, kernels, likelihoods,
//! posteriors, layers and inference.
//!
//! The crate `burn-gp` re-exports this crate and adds ready-made models.
//!
//! # Features
//!
//! | feature | content |
//! |---|---|
//! | `flex` (default) | the CPU, in single and double precision |
//! | `ndarray` | the CPU through another backend of burn |
//! | `wgpu`, `vulkan`, `metal` | GPUs through WGSL, SPIR-V and Metal, in single precision |
//! | `cuda`, `rocm` | GPUs through CUDA and HIP |
//! | `fusion`, `autotune` | burn's features of the same names; enable them if your crate enables burn's |
//!
//! Several can be compiled in together. The device of the data decides where a computation runs.

#![deny(missing_docs)]

pub mod custom;
pub mod features;
pub mod inducing;
pub mod inference;
pub mod kernels;
pub mod latent_inputs;
pub mod layers;
pub mod likelihoods;
pub mod means;
pub mod metrics;
pub mod neighbors;
pub mod ops;
pub mod optim;
pub mod parameter;
pub mod patches;
pub mod point_processes;
pub mod process;
mod random;
pub mod sampling;
pub mod variational;

/// Transformations of targets.
pub use burn_gp_transforms as transforms;

/// The `rand` crate, in the version that this crate uses to draw targets and Fourier features.
pub use rand;
