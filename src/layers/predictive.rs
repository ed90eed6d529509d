//! What predicts function values.

use burn::tensor::Tensor;

use crate::{
    ops::NotPositiveDefinite,
    process::{Marginals, Process},
};

/// Functions whose value at an input is distributed as a mixture of S Gaussians with equal weights:
/// one for a Gaussian process, one a draw of the layers before the last for a deep one.
pub trait Predictive {
    /// The Gaussians at `x`, `[N, D]`, each with means and variances `[N, P]`.
    fn components(&self, x: Tensor<2>) -> Vec<Marginals>;

    /// How many rows a kernel sees at most for each input, of which memory grows with the number.
    fn rows_per_input(&self) -> usize;

    /// `samples` draws of the functions at `x`, `[N, D]`, together over all inputs: the same ones for
    /// the same seed.
    ///
    /// # Shapes
    ///
    /// - result: `[S, P, N]`
    ///
    /// # Errors
    ///
    /// When a covariance cannot be factored.
    fn draws(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite>;
}

impl<P: Process> Predictive for P {
    fn components(&self, x: Tensor<2>) -> Vec<Marginals> {
        vec![self.marginals(x)]
    }

    fn rows_per_input(&self) -> usize {
        Process::rows_per_input(self)
    }

    fn draws(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        self.sample(x, samples, seed)
    }
}

/// One of two kinds, known at run time.
#[derive(Clone, Debug)]
pub enum EitherPredictive<A, B> {
    /// Of the first kind.
    First(A),
    /// Of the second kind.
    Second(B),
}

impl<A, B> EitherPredictive<A, B> {
    /// The functions, if they are of the first kind.
    pub fn first(&self) -> Option<&A> {
        match self {
            Self::First(functions) => Some(functions),
            Self::Second(_) => None,
        }
    }

    /// The functions, if they are of the second kind.
    pub fn second(&self) -> Option<&B> {
        match self {
            Self::First(_) => None,
            Self::Second(functions) => Some(functions),
        }
    }
}

impl<A: Predictive, B: Predictive> Predictive for EitherPredictive<A, B> {
    fn components(&self, x: Tensor<2>) -> Vec<Marginals> {
        match self {
            Self::First(functions) => functions.components(x),
            Self::Second(functions) => functions.components(x),
        }
    }

    fn rows_per_input(&self) -> usize {
        match self {
            Self::First(functions) => functions.rows_per_input(),
            Self::Second(functions) => functions.rows_per_input(),
        }
    }

    fn draws(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        match self {
            Self::First(functions) => functions.draws(x, samples, seed),
            Self::Second(functions) => functions.draws(x, samples, seed),
        }
    }
}
