//! Products of a stationary covariance with vectors on the CPU, the covariance made tile by tile and
//! never stored.

mod blocked;
mod blocks;
mod dense;
mod layout;
mod passes;

pub use blocked::{BlockProduct, BlockProductGradients};
pub use blocks::{BlockPairs, Blocks};
pub use dense::{Product, ProductGradients};
