//! Covariance functions.
//!
//! A kernel is a [`Module`] that turns points into covariances. The stationary ones run on the
//! fused operation of [`ops`](crate::ops); sums, products, scalings and restrictions to some input
//! dimensions are kernels made of kernels. [`AnyKernel`] is a kernel chosen at run time from a
//! [`KernelConfig`].

mod active_dimensions;
mod any;
mod combination;
mod constant;
mod linear;
mod scaled;
mod spectrum;
mod stationary;
mod white;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};
use rand::rngs::ChaCha8Rng;

pub use active_dimensions::ActiveDimensions;
pub use any::{AnyKernel, KernelConfig};
pub use combination::{Product, Sum};
pub use constant::Constant;
pub use linear::Linear;
pub use scaled::Scaled;
pub use spectrum::{NoSpectrum, SpectralComponent};
pub use stationary::{StationaryConfig, StationaryKernel};
pub use white::White;

use crate::parameter::Hyperparameter;

/// A covariance function `k(x, x′)`.
///
/// `k` is a function of *which* points are compared, not only of where they lie: the white kernel
/// is the reason why [`matrix`](Self::matrix) is not always `covariance(x, x)`.
pub trait Kernel: Module + ModuleDisplay {
    /// The covariances between two different sets of points.
    ///
    /// # Shapes
    ///
    /// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
    /// - result: `[N1, N2]`
    fn covariance(&self, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<2>;

    /// The symmetric covariance matrix of one set of points.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N, N]`
    fn matrix(&self, x: Tensor<2>) -> Tensor<2> {
        self.covariance(x.clone(), x)
    }

    /// The diagonal of [`matrix`](Self::matrix), without the matrix.
    ///
    /// # Shapes
    ///
    /// - `x`: `[N, D]`
    /// - result: `[N]`
    fn diagonal(&self, x: Tensor<2>) -> Tensor<1>;

    /// The hyperparameters, in the units people read.
    fn hyperparameters(&self) -> Vec<Hyperparameter>;

    /// The kernel as a sum of components with a spectral density, each with `count` frequencies
    /// drawn from it, for inputs of `dimensions` dimensions. What has no spectral density, because
    /// it is not stationary or its functions are not continuous, has the error that this gives
    /// unless it is overridden.
    ///
    /// # Errors
    ///
    /// [`NoSpectrum`], naming the kernel.
    fn spectrum(
        &self,
        _dimensions: usize,
        _count: usize,
        _random: &mut ChaCha8Rng,
    ) -> Result<Vec<SpectralComponent>, NoSpectrum> {
        Err(NoSpectrum::of::<Self>())
    }
}
