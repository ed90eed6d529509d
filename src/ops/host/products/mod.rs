//! Products of a stationary covariance with vectors on the CPU, the covariance made tile by tile and
//! never stored.

mod blocked;
mod blocks;
mod copies;
mod dense;
mod few_vectors;
mod layout;
mod passes;

pub use blocked::{BlockProduct, BlockProductGradients};
pub use blocks::{BlockPairs, Blocks, Runs};
pub use dense::{Product, ProductGradients};
