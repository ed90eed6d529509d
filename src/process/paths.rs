//! Draws of functions that can be evaluated anywhere.

use burn::tensor::Tensor;

use derive_setters::Setters;

use super::Process;
use crate::kernels::NoFunctionDraws;

/// Options for drawing functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
pub struct PathOptions {
    /// The number of draws, S.
    pub samples: usize,
    /// Random features of each kind, F: Fourier frequencies per component of a stationary kernel,
    /// threshold units of an arc-cosine kernel. The prior part of the draws has an error of order
    /// `1/√F`, and none for kernels with finitely many features.
    pub frequencies: usize,
    /// The seed for all randomness.
    pub seed: u64,
}

impl PathOptions {
    /// Creates options for `samples` draws with 1024 frequencies and seed 0.
    pub fn new(samples: usize) -> Self {
        Self {
            samples,
            frequencies: 1024,
            seed: 0,
        }
    }
}

/// Draws of P functions that can be evaluated anywhere.
pub trait Paths: Send + Sync {
    /// The values of all draws at `x`, `[N, D]`. Every call evaluates the same functions. Gradients
    /// flow to `x`.
    ///
    /// # Shapes
    ///
    /// - result: `[S, P, N]`
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3>;
}

/// A process from which functions can be drawn.
pub trait SamplePaths: Process + Send + Sync {
    /// Draws functions, which are independent except that they share random features.
    ///
    /// # Errors
    ///
    /// When the kernel has no [features](crate::kernels::PriorFeatures), like the white kernel, or
    /// too many, or when the inducing variables are not function values.
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws>;
}
