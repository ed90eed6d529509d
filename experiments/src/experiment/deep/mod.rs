//! The experiments with deep Gaussian processes: Table 1 of S. Cortinovis, L. Aitchison,
//! S. Eleftheriadis and M. van der Wilk, *Inverse-Free Sparse Variational Gaussian Processes*,
//! arXiv:2604.00697, and small data sets in the manner of H. Salimbeni and M. Deisenroth, *Doubly
//! Stochastic Variational Inference for Deep Gaussian Processes*, arXiv:1705.08933.

mod cells;
mod kin40k;
mod plot;
mod protocol;
mod runs;
mod table;
mod uci;

pub(super) use cells::is_of_a_depth;
pub(super) use kin40k::{Kin40kOptions, kin40k};
pub(super) use uci::{DeepUciOptions, uci};
