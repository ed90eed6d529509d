//! The experiments of J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference for
//! Gaussian Processes*, arXiv:1910.10596.

mod ablation;
mod cifar;
mod columns;
mod cost;
mod models;
mod operations;
mod published;
mod regression;
mod regression_table;
mod snelson;

pub(super) use ablation::{AblationOptions, ablation};
pub(super) use cifar::{ConvCifarOptions, DeepConvCifarOptions, conv_cifar, deep_conv_cifar};
pub(super) use cost::{CostOptions, cost};
pub(super) use regression::{RegressionOptions, regression};
pub(super) use snelson::{SnelsonOptions, snelson};
