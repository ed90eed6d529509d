//! Draws of functions. [`Process::sample`](crate::process::Process::sample) samples at a fixed
//! set of inputs; these draws are functions that can be evaluated anywhere, repeatedly, and
//! differentiated with respect to their inputs.

mod either;
mod fourier_features;
mod inverse_free;
mod mixture;
mod pathwise;
mod separate;
mod with_mean;

pub use either::EitherPaths;
pub use fourier_features::PriorPaths;
pub use mixture::MixedPaths;
pub use pathwise::ConditionedPaths;
pub use separate::SeparatePaths;
pub use with_mean::ShiftedPaths;

pub use crate::process::{PathOptions, Paths, SamplePaths};
