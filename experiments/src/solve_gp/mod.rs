//! The experiments of J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference for
//! Gaussian Processes*, arXiv:1910.10596.

mod cost;
mod models;
mod operations;
mod snelson;
