//! Approximate inverses of `K + σ²I`.

use burn::tensor::Tensor;

use super::Regression;
use crate::{
    inducing::greedy_variance,
    kernels::KernelModule,
    ops::{
        CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, add_to_diagonal, cholesky, gram,
        number,
    },
};

/// `P = ΛᵀΛ + σ²I` with Λ, [R, N], from the first R pivots of the pivoted Cholesky factorization of
/// K (J. Wenger, G. Pleiss, P. Hennig, J. Cunningham and J. Gardner, *Preconditioning for Scalable
/// Gaussian Process Hyperparameter Optimization*, arXiv:2107.00243).
#[derive(Clone, Debug)]
pub struct Preconditioner {
    /// Λ, [R, N]
    features: Tensor<2>,
    /// The factor of `σ²I + ΛΛᵀ`.
    factor: CholeskyFactor<2>,
    /// σ², [1, 1]
    noise: Tensor<2>,
}

impl Preconditioner {
    /// Creates the preconditioner of a problem with `rank` pivots, or fewer if there are fewer
    /// distinct inputs.
    pub fn new<K: KernelModule>(
        problem: &Regression<'_, K>,
        rank: usize,
    ) -> Result<Self, NotPositiveDefinite> {
        let inputs = problem.inputs.clone();
        let [rows, _] = inputs.dims();
        let mut rank = rank.min(rows);
        // There may be fewer distinct inputs than pivots; any number of pivots makes a valid
        // preconditioner.
        let pivots = loop {
            match greedy_variance(problem.kernel, inputs.clone(), rank.max(1), 0) {
                Ok(pivots) => break pivots,
                Err(_) if rank > 1 => rank /= 2,
                Err(_) => break inputs.clone().narrow(0, 0, 1),
            }
        };
        let jitter = Jitter::for_precision(inputs.dtype());
        let own = cholesky(problem.kernel.matrix_at(pivots.clone()), jitter)?;
        let features = own.solve(problem.kernel.covariance_at(pivots, inputs));
        let noise = problem.noise.clone();
        let factor = cholesky(
            add_to_diagonal(gram(features.clone()), noise.clone()),
            Jitter::NONE,
        )?;
        Ok(Self {
            features,
            factor,
            noise: noise.reshape([1, 1]),
        })
    }

    /// R
    pub fn rank(&self) -> usize {
        let [rank, _] = self.features.dims();
        rank
    }

    /// `P⁻¹B`, [N, C].
    pub fn solve(&self, columns: Tensor<2>) -> Tensor<2> {
        let projected = self.features.clone().exact_matmul(columns.clone());
        let projected = self.factor.solve_transposed(self.factor.solve(projected));
        (columns - self.features.clone().transpose().exact_matmul(projected)) / self.noise.clone()
    }

    /// `(σ²I + ΛΛᵀ)^{-½}·Λ`, [R, N]: rows that span those of Λ, with lengths between zero and one.
    pub fn whitened_features(&self) -> Tensor<2> {
        self.factor.solve(self.features.clone())
    }

    /// `log|P| = (N − R)·log σ² + log|σ²I + ΛΛᵀ|`
    pub fn log_determinant(&self) -> f64 {
        let [rank, rows] = self.features.dims();
        let noise = number(self.noise.clone().reshape([1]));
        (rows - rank) as f64 * noise.ln() + number(self.factor.log_determinant())
    }

    /// Samples of `N(0, P)`, [N, C], from standard normals [N, C] and [R, C].
    pub fn draw(&self, of_noise: Tensor<2>, of_features: Tensor<2>) -> Tensor<2> {
        of_noise * self.noise.clone().sqrt()
            + self.features.clone().transpose().exact_matmul(of_features)
    }
}
