//! Experiments of papers on Gaussian processes, with the published values beside ours.
//!
//! A table of training runs is a file in the folder `studies`. An experiment that is more than such
//! a grid has code of its own, in the module of its paper. [`ExperimentCommand`] is the command line
//! of all of them.

mod command;
mod computation_aware;
mod deep_basis;
mod inverse_free;
mod scaling;
mod solve_gp;
mod studies;

pub use command::{ExperimentCommand, OtherExperiment, run};
