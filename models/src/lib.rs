//! Ready-made Gaussian-process models.

mod svgp;

pub use svgp::Svgp;
