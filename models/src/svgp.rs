//! The sparse variational Gaussian process.

use burn::{module::Module, tensor::Tensor};
use burn_gp::{
    kernels::Kernel,
    likelihoods::Likelihood,
    ops::NotPositiveDefinite,
    variational::{Evaluation, Posterior},
};

/// A sparse variational Gaussian process: a kernel, a likelihood and a posterior.
///
/// `ELBO = Σ_n E_{q(f_n)}[log p(y_n | f_n)] − KL[q(u) ‖ p(u)]`
/// (J. Hensman, A. Matthews, Z. Ghahramani, *Scalable Variational Gaussian Process
/// Classification*, arXiv:1411.2005, eq. 19).
#[derive(Module, Debug)]
pub struct Svgp<K: Module, L: Module, Q: Module> {
    /// The covariance function.
    pub kernel: K,
    /// The likelihood.
    pub likelihood: L,
    /// The variational posterior.
    pub posterior: Q,
}

impl<K: Kernel, L: Likelihood, Q: Posterior<K>> Svgp<K, L, Q> {
    /// A model of the given pieces.
    pub fn new(kernel: K, likelihood: L, posterior: Q) -> Self {
        Self {
            kernel,
            likelihood,
            posterior,
        }
    }

    /// An unbiased estimate of the evidence lower bound of `data_count` data from a mini-batch,
    /// `[1]`: the likelihood term is scaled up, the divergence is not.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[B, D]`, `targets`: `[B, P]`
    ///
    /// # Errors
    ///
    /// When the covariance of the inducing variables cannot be factored.
    pub fn elbo(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        data_count: usize,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [batch, _] = inputs.dims();
        let Evaluation {
            marginals,
            divergence,
        } = self.posterior.evaluate(&self.kernel, inputs)?;
        let expected = self
            .likelihood
            .expected_log_density(targets, marginals)
            .sum();
        Ok(expected * (data_count as f64 / batch as f64) - divergence)
    }
}
