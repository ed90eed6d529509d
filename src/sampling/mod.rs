//! Draws of functions: what [`Process::sample`](crate::process::Process::sample) gives at a
//! fixed set of inputs, as functions that can be evaluated anywhere, again and again, and
//! differentiated by their inputs.

mod either;
mod fourier_features;
mod inverse_free;
mod mixture;
mod pathwise;
mod separate;
mod with_mean;

use burn::tensor::Tensor;

pub use either::EitherPaths;
pub use fourier_features::PriorPaths;
pub use mixture::MixedPaths;
pub use pathwise::ConditionedPaths;
pub use separate::SeparatePaths;
pub use with_mean::ShiftedPaths;

use crate::kernels::NoSpectrum;

/// How functions are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathOptions {
    /// The number of draws, S.
    pub samples: usize,
    /// Fourier frequencies for each component of the kernel, F: the prior part of the draws has an
    /// error of the order of `1/√F`.
    pub frequencies: usize,
    /// The seed of everything random.
    pub seed: u64,
}

impl PathOptions {
    /// `samples` draws with 1024 frequencies and seed 0.
    pub fn new(samples: usize) -> Self {
        Self {
            samples,
            frequencies: 1024,
            seed: 0,
        }
    }

    /// With another number of frequencies.
    pub fn with_frequencies(mut self, frequencies: usize) -> Self {
        self.frequencies = frequencies;
        self
    }

    /// With another seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }
}

/// Draws of P functions that can be evaluated anywhere.
pub trait Paths {
    /// The values of all draws at `x`, `[N, D]`: the same function at every call. Gradients flow to
    /// `x`.
    ///
    /// # Shapes
    ///
    /// - result: `[S, P, N]`
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3>;
}

/// A process whose functions can be drawn.
pub trait SamplePaths {
    /// The draws.
    type Paths: Paths;

    /// Draws of the functions, independent of each other but for the Fourier frequencies that they
    /// share.
    ///
    /// # Errors
    ///
    /// When the kernel has no spectrum.
    fn paths(&self, options: PathOptions) -> Result<Self::Paths, NoSpectrum>;
}
