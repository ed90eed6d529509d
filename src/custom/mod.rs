//! Components of other crates.
//!
//! A crate registers the configuration of its own kernel, likelihood, posterior, mean or network in one line.
//! From then on the component works like those of this crate: in configurations of models, in saved models
//! and in all computations.

mod choice;
mod configs;
mod map;
mod module;
mod registration;

#[doc(hidden)]
pub use burn::tensor::TensorCreationOptions;
pub use inventory;
#[doc(hidden)]
pub use serde;

pub use choice::{Choice, Choices};
pub(crate) use configs::configs;
pub(crate) use map::map_kind;
pub use module::CustomModule;
pub(crate) use module::{AnyModule, into_type, of_type};
pub use registration::{CustomConfig, Registration};
pub(crate) use registration::{Fields, Kind, checked, deserialize, kind, names, read, registered};
