//! The interface of models that predict function values.

use burn::tensor::Tensor;

use crate::{
    ops::NotPositiveDefinite,
    process::{Marginals, Process},
};

/// Functions whose value at an input is an equally weighted mixture of S Gaussians: one for a
/// single Gaussian process, one per draw of the hidden layers for a deep one.
pub trait Predictive {
    /// The Gaussians at `x`, `[N, D]`, each with means and variances `[N, P]`.
    fn components(&self, x: Tensor<2>) -> Vec<Marginals>;

    /// The maximum number of rows a kernel evaluates per input, which memory is proportional to.
    fn rows_per_input(&self) -> usize;

    /// Draws `samples` joint samples of the functions at `x`, `[N, D]`. Equal seeds give equal
    /// samples.
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

/// One of two types, chosen at run time.
#[derive(Clone, Debug)]
pub enum EitherPredictive<A, B> {
    /// The first type.
    First(A),
    /// The second type.
    Second(B),
}

impl<A, B> EitherPredictive<A, B> {
    /// The functions, if they have the first type.
    pub fn first(&self) -> Option<&A> {
        match self {
            Self::First(functions) => Some(functions),
            Self::Second(_) => None,
        }
    }

    /// The functions, if they have the second type.
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
