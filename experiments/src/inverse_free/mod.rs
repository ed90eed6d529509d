//! The experiments of S. Cortinovis, L. Aitchison, S. Eleftheriadis and M. van der Wilk, *Inverse-Free
//! Sparse Variational Gaussian Processes*, arXiv:2604.00697.

mod toy;
mod toy_data;
mod toy_variants;
