//! Components of other crates.
//!
//! A crate registers the configuration of its own kernel, likelihood, posterior, mean or network in one line.
//! From then on the component works like those of this crate: in configurations of models, in saved models
//! and in all computations.

mod boxed_module;
mod choice;
mod component;
mod configs;
mod registration;

#[doc(hidden)]
pub use burn::tensor::TensorCreationOptions;
pub use inventory;
#[doc(hidden)]
pub use serde;
#[doc(hidden)]
pub use serde_json;

pub use boxed_module::{AnyModule, BoxedModule};
pub(crate) use boxed_module::{into_type, of_type, of_type_mut};
pub use choice::{Choice, Choices};
pub(crate) use component::component_kind;
pub use component::{
    AnyDefinition, ComponentConfig, ComponentName, Entry, Kind as ComponentKind, Registered,
};
pub(crate) use configs::configs;
pub use registration::{CustomConfig, Registration};
pub(crate) use registration::{Fields, Kind, checked, deserialize, kind, names, read, registered};
