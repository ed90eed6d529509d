//! Layers chosen at run time.

use burn::{module::Module, tensor::Tensor};

use super::{GpLayer, Layer, PatchLayer};
use crate::{
    ops::NotPositiveDefinite, patches::PatchGrid, process::Process, variational::Evaluation,
};

/// A layer chosen at run time.
#[allow(
    clippy::large_enum_variant,
    reason = "a stack holds a few, and burn's modules can hold no boxes"
)]
#[derive(Module, Debug)]
pub enum AnyLayer {
    /// Functions of points, or of images as sums over their patches.
    Dense(GpLayer),
    /// Functions evaluated at every patch of an image.
    Patches(PatchLayer<GpLayer>),
}

/// Forwards to the variant's layer.
macro_rules! forward {
    ($self:ident, $layer:ident => $call:expr) => {
        match $self {
            Self::Dense($layer) => $call,
            Self::Patches($layer) => $call,
        }
    };
}

impl AnyLayer {
    /// The inputs of the inducing variables of every set, `[M, D]` each: points or patches.
    pub fn inducing_inputs(&self) -> Vec<Tensor<2>> {
        match self {
            Self::Dense(layer) => layer.inducing_inputs(),
            Self::Patches(layer) => layer.layer().inducing_inputs(),
        }
    }

    /// The patch grid, if the functions are evaluated at patches.
    pub fn grid(&self) -> Option<&PatchGrid> {
        match self {
            Self::Dense(layer) => layer.grid(),
            Self::Patches(layer) => Some(layer.grid()),
        }
    }
}

impl Layer for AnyLayer {
    type Process = Box<dyn Process + Send + Sync>;

    fn evaluate(&self, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        forward!(self, layer => layer.evaluate(x))
    }

    fn condition(&self) -> Result<Self::Process, NotPositiveDefinite> {
        Ok(match self {
            Self::Dense(layer) => Box::new(layer.condition()?),
            Self::Patches(layer) => Box::new(layer.condition()?),
        })
    }

    fn rows_per_input(&self) -> usize {
        forward!(self, layer => layer.rows_per_input())
    }

    fn after_step(self) -> Self {
        match self {
            Self::Dense(layer) => Self::Dense(layer.after_step()),
            Self::Patches(layer) => Self::Patches(layer.after_step()),
        }
    }

    fn synchronized(self) -> Self {
        match self {
            Self::Dense(layer) => Self::Dense(layer.synchronized()),
            Self::Patches(layer) => Self::Patches(layer.synchronized()),
        }
    }
}
