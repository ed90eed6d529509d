//! Gaussian processes as layers of networks.
//!
//! A [`Layer`] turns rows of numbers into distributions of functions' values at them. [`GpLayer`] is
//! a kernel, a mean and a posterior, whatever they are: over inducing patches, with a convolutional
//! kernel, it is the output layer of an image model. [`PatchLayer`] has a layer look at every patch
//! of an image and gives a feature map. [`Stack`] draws from some layers and gives the draws to the
//! next: a deep Gaussian process. None of them knows what posterior it holds.
//!
//! A layer stands in any burn network, with other modules before and behind it:
//!
//! ```
//! use burn::{module::Module, nn::{Linear, LinearConfig}, tensor::{DType, Device, Distribution, Tensor}};
//! use burn_gp::{
//!     inducing::InducingPoints,
//!     kernels::{StationaryConfig, StationaryKernel},
//!     layers::{GpLayer, Layer},
//!     likelihoods::{Gaussian, Likelihood},
//!     means::ZeroMean,
//!     ops::{Jitter, Stationary},
//!     variational::{CovarianceShape, VariationalGaussian, Whitened},
//! };
//!
//! #[derive(Module, Debug)]
//! struct Net {
//!     features: Linear,
//!     head: GpLayer<StationaryKernel, ZeroMean, Whitened<InducingPoints>>,
//!     likelihood: Gaussian,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::default();
//! let points = Tensor::random([16, 2], Distribution::Normal(0.0, 1.0), &device);
//! let net = Net {
//!     features: LinearConfig::new(5, 2).init(&device),
//!     head: GpLayer::new(
//!         StationaryConfig::new(Stationary::SquaredExponential).init(2, &device),
//!         ZeroMean::new(1),
//!         Whitened::new(
//!             InducingPoints::new(points),
//!             VariationalGaussian::standard(16, 1, CovarianceShape::Full, &device),
//!             Jitter::for_precision(DType::F32),
//!         ),
//!     ),
//!     likelihood: Gaussian::new(0.1, &device),
//! }
//! .train();
//! let device = device.autodiff();
//! let (x, y) = (Tensor::<2>::ones([8, 5], &device), Tensor::<2>::ones([8, 1], &device));
//! let values = net.head.evaluate(net.features.forward(x))?;
//! let bound = net.likelihood.expected_log_density(y, values.marginals).sum() - values.divergence;
//! let gradients = bound.neg().backward();
//! # assert!(net.features.weight.grad(&gradients).is_some());
//! # Ok(())
//! # }
//! ```

mod any;
mod gp_layer;
mod noise;
mod patch_layer;
mod predictive;
mod stack;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

pub use any::{AnyLayer, AnyLayerProcess, ConvolutionalLayer, DenseLayer};
pub use gp_layer::GpLayer;
pub use noise::LayerNoise;
pub use patch_layer::{PatchLayer, PatchProcess};
pub use predictive::{EitherPredictive, Predictive};
pub use stack::{Propagation, Stack, StackProcess};

use crate::{
    ops::NotPositiveDefinite,
    process::{Marginals, Process},
    variational::Evaluation,
};

/// Functions of rows of numbers, with a distribution that is trained.
pub trait Layer: Module + ModuleDisplay {
    /// The process that [`condition`](Self::condition) gives.
    type Process: Process;

    /// The marginals of the functions at `x`, `[N, D]`, and the divergence of the distribution of
    /// their inducing variables from the prior.
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
    fn condition(&self) -> Result<Self::Process, NotPositiveDefinite>;

    /// How many rows the kernel sees for each input, of which memory grows with the number: one,
    /// unless an input is an image of which it sees every patch.
    fn rows_per_input(&self) -> usize {
        1
    }

    /// The layer after an optimizer's step, with whatever it keeps between steps brought up to date.
    fn after_step(self) -> Self {
        self
    }

    /// The layer with whatever it keeps between steps up to date, before the first step and after
    /// parameters were set from outside.
    fn refreshed(self) -> Self {
        self
    }

    /// The marginals of the functions at `x`, `[N, D]`; [`draw`](Marginals::draw) from them what the
    /// next layer of a network takes.
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    fn forward(&self, x: Tensor<2>) -> Result<Marginals, NotPositiveDefinite> {
        Ok(self.evaluate(x)?.marginals)
    }
}
