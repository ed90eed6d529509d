//! Processes of any kind, among them mixtures.

use std::any::Any;

use burn::tensor::Tensor;

use super::{Marginals, Process};
use crate::ops::NotPositiveDefinite;

/// A process of any kind: functions whose value at an input is an equally weighted mixture of S Gaussians,
/// one for a Gaussian [`Process`], one per draw of the hidden layers for a deep one. `Any` gives its type back.
pub trait AnyProcess: Any {
    /// The Gaussians at `x`, `[N, D]`, each with means and variances `[N, P]`.
    fn components(&self, x: Tensor<2>) -> Vec<Marginals>;

    /// The maximum number of rows a kernel evaluates per input. Memory is proportional to it.
    fn rows_per_input(&self) -> usize;

    /// The number of inputs whose predictions should be asked for together, because they improve each other; see
    /// [`Process::joint_inputs`].
    fn joint_inputs(&self) -> usize {
        1
    }

    /// The means of every layer at `x`, `[N, D]`, each evaluated at the means of the previous
    /// layer. A Gaussian process has a single layer.
    fn layer_means(&self, x: Tensor<2>) -> Vec<Tensor<2>>;

    /// Whether the Gaussians are draws of hidden layers.
    fn has_hidden_layers(&self) -> bool {
        false
    }

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

impl<P: Process + 'static> AnyProcess for P {
    fn components(&self, x: Tensor<2>) -> Vec<Marginals> {
        vec![self.marginals(x)]
    }

    fn rows_per_input(&self) -> usize {
        Process::rows_per_input(self)
    }

    fn joint_inputs(&self) -> usize {
        Process::joint_inputs(self)
    }

    fn layer_means(&self, x: Tensor<2>) -> Vec<Tensor<2>> {
        vec![self.marginals(x).mean]
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
