//! Components chosen at run time.
//!
//! Every kernel, likelihood, posterior, mean, network and model registers its configuration in one line, whether it is
//! of this crate or of another. From then on it works in configurations of models, in saved models and in all
//! computations.

mod boxed_module;
mod component;

#[doc(hidden)]
pub use burn::tensor::TensorCreationOptions;
pub use inventory;
#[doc(hidden)]
pub use serde;
#[doc(hidden)]
pub use serde_json;

pub use boxed_module::{AnyModule, BoxedModule};
#[doc(hidden)]
pub use boxed_module::{of_type, of_type_mut};
pub(crate) use component::component_kind;
pub use component::{
    AnyDefinition, ComponentConfig, ComponentName, Entry, Kind as ComponentKind, Registered,
    Registration,
};
