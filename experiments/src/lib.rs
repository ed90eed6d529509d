//! Experiments from papers on Gaussian processes, with the published values beside ours.
//!
//! A table of training runs is a study in the folder `tables`. An experiment that is more than such
//! a grid has its own code in the module of its paper. [`ExperimentCommand`] is the command line of
//! all experiments.

// The standard macros panic if the terminal is closed or the disk is full; those of `burn_gp_runs` do not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod command;
mod computation_aware;
mod deep_basis;
mod figure;
mod inverse_free;
mod scaling;
mod solve_gp;
mod tables;

pub use command::{ExperimentCommand, run};
pub use figure::Figure;
