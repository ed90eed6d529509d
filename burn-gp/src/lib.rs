//! Gaussian processes for the [burn](https://burn.dev) deep-learning framework.
//!
//! This crate is the library as its users see it: the building blocks of [`burn_gp_core`] and the
//! ready-made models of [`burn_gp_models`] under one name.

pub use burn_gp_core::*;
pub use burn_gp_models::*;

/// The README's examples, compiled and run with the documentation tests.
#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
pub struct Readme;
