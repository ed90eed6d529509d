//! Draws of functions. [`Process::sample`](crate::process::Process::sample) samples at a fixed
//! set of inputs; these draws are functions that can be evaluated anywhere, repeatedly, and
//! differentiated with respect to their inputs.

mod inverse_free;
mod mixture;
mod pathwise;
mod prior;
mod separate;
mod weights;
mod with_mean;

pub use prior::PriorPaths;

pub use crate::process::{PathOptions, Paths, SamplePaths};
