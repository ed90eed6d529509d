//! Gaussian processes as layers of networks.
//!
//! A [`Layer`] maps input rows to distributions of function values. [`GpLayer`] consists of a
//! kernel, a mean and a posterior; with a convolutional kernel and inducing patches it is the
//! output layer of an image model. [`PatchLayer`] applies a layer to every patch of an image and
//! returns a feature map. [`Stack`] passes draws from each layer to the next, which gives a deep
//! Gaussian process. All of them work with any posterior.
//!
//! A layer can be used in any burn network, before and after other modules:
//!
//! ```
//! use burn::{module::Module, nn::{Linear, LinearConfig}, tensor::{Device, Tensor}};
//! use burn_gp_core::{
//!     layers::{GpLayer, GpLayerConfig, Layer},
//!     likelihoods::{Gaussian, Likelihood},
//! };
//!
//! #[derive(Module, Debug)]
//! struct Net {
//!     features: Linear,
//!     head: GpLayer,
//!     likelihood: Gaussian,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::default().autodiff();
//! let net = Net {
//!     features: LinearConfig::new(5, 2).init(&device),
//!     head: GpLayerConfig::new(2, 1).with_inducing(16).init(&device),
//!     likelihood: Gaussian::new(0.1, &device),
//! };
//! let (x, y) = (Tensor::<2>::ones([8, 5], &device), Tensor::<2>::ones([8, 1], &device));
//! let values = net.head.evaluate(net.features.forward(x))?;
//! let loss = net.likelihood.negative_elbo(y, values.marginals, values.kl, 1000);
//! let gradients = loss.backward();
//! # assert!(net.features.weight.grad(&gradients).is_some());
//! # Ok(())
//! # }
//! ```

mod basis_config;
mod config;
mod error;
mod gp_layer;
mod image_config;
mod noise;
mod patch_layer;
mod stack;

use burn::tensor::Tensor;

pub use basis_config::{BasisLayer, BasisLayerConfig};
pub use config::GpLayerConfig;
pub use error::LayerError;
pub use gp_layer::GpLayer;
pub use image_config::{ConvGpLayerConfig, PatchLayerConfig, convolutional_layer};
pub use noise::LayerNoise;
pub use patch_layer::PatchLayer;
pub use stack::{Propagation, Stack, StackProcess};

use crate::{
    custom::{AnyModule, BoxedModule, of_type, of_type_mut},
    ops::NotPositiveDefinite,
    patches::PatchGrid,
    process::{Marginals, Process},
    variational::Evaluation,
};

/// Functions of input rows, with a trained distribution.
pub trait Layer: AnyModule {
    /// The marginals of the functions at `x`, `[N, D]`, and the KL divergence of the distribution
    /// of their inducing variables from the prior.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn evaluate(&self, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite>;

    /// The process for prediction, on the device without autodiff.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn condition(&self) -> Result<Box<dyn Process + Send + Sync>, NotPositiveDefinite>;

    /// The number of rows the kernel evaluates per input: one, unless inputs are images and the
    /// kernel evaluates every patch. Memory is proportional to it.
    fn rows_per_input(&self) -> usize {
        1
    }

    /// Updates the state that the layer keeps between optimizer steps. Call it after every step.
    fn after_step(&mut self) {}

    /// Recomputes the state that the layer keeps between optimizer steps. Call it before the first
    /// step and after changing parameters from outside.
    fn synchronize(&mut self) {}

    /// The inputs of the inducing variables of every set, `[M, D]` each: points, or patches of images.
    fn inducing_inputs(&self) -> Vec<Tensor<2>> {
        Vec::new()
    }

    /// The patches, if inputs are images and the layer evaluates functions of their patches.
    fn grid(&self) -> Option<&PatchGrid> {
        None
    }

    /// The marginals of the functions at `x`, `[N, D]`. [`draw`](Marginals::draw) samples from
    /// them, as inputs for the next layer of a network.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn forward(&self, x: Tensor<2>) -> Result<Marginals, NotPositiveDefinite> {
        Ok(self.evaluate(x)?.marginals)
    }
}

/// A layer of any type.
pub type AnyLayer = BoxedModule<dyn Layer>;

impl<L: Layer> From<L> for AnyLayer {
    fn from(layer: L) -> Self {
        Self::new(
            layer,
            |module| of_type::<L>(module),
            |module| of_type_mut::<L>(module),
        )
    }
}
