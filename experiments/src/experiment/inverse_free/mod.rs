//! The experiments of S. Cortinovis, L. Aitchison, S. Eleftheriadis and M. van der Wilk, *Inverse-Free
//! Sparse Variational Gaussian Processes*, arXiv:2604.00697.

mod cells;
mod hutchinson;
mod method;
mod regression;
mod table;
mod toy;
mod toy_data;
mod toy_table;
mod toy_variants;
mod uci;
mod uci_plot;
mod uci_protocol;

pub(super) use hutchinson::{HutchinsonOptions, hutchinson};
pub(super) use toy::{ToyOptions, toy};
pub(super) use uci::{UciOptions, uci};
