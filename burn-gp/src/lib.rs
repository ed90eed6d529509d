//! Gaussian processes for the [burn](https://burn.dev) deep-learning framework.
//!
//! This crate is the library as its users see it: the building blocks of [`burn_gp_core`] and the
//! ready-made models of [`burn_gp_models`] under one name.
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

pub use burn_gp_core::*;
pub use burn_gp_models::*;

/// The README's examples, compiled and run with the documentation tests.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
pub struct Readme;
