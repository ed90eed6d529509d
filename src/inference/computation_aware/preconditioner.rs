//! Approximate inverses of `K + σ²I`, or of `K + D` with noise D of each row.

use burn::tensor::Tensor;

use super::Regression;
use crate::{
    inducing::greedy_variance,
    inference::row_noise::EqualNoise,
    kernels::KernelModule,
    ops::{
        CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, add_to_diagonal, cholesky, gram,
        number,
    },
};

/// `P = ΛᵀΛ + σ²I` with Λ, [R, N], from the first R pivots of the pivoted Cholesky factorization of
/// K (J. Wenger, G. Pleiss, P. Hennig, J. Cunningham and J. Gardner, *Preconditioning for Scalable
/// Gaussian Process Hyperparameter Optimization*, arXiv:2107.00243).
///
/// If each row has its own noise, `P = ΛᵀΛ + D = D^½(Λ′ᵀΛ′ + I)D^½` with `Λ′ = ΛD^{-½}`, and Λ and σ² below are Λ′ and one.
#[derive(Clone, Debug)]
pub struct Preconditioner {
    /// Λ, [R, N]
    features: Tensor<2>,
    /// The factor of `σ²I + ΛΛᵀ`.
    factor: CholeskyFactor<2>,
    /// The division by `D^½`, and σ².
    equal: EqualNoise,
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
        let equal = EqualNoise::of(problem.noise.clone());
        let features = equal.features(own.solve(problem.kernel.covariance_at(pivots, inputs)));
        let factor = cholesky(
            add_to_diagonal(gram(features.clone()), equal.noise.clone()),
            Jitter::NONE,
        )?;
        Ok(Self {
            features,
            factor,
            equal,
        })
    }

    /// R
    pub fn rank(&self) -> usize {
        let [rank, _] = self.features.dims();
        rank
    }

    /// `P⁻¹B`, [N, C].
    pub fn solve(&self, columns: Tensor<2>) -> Tensor<2> {
        let columns = self.equal.residual(columns);
        let projected = self.features.clone().exact_matmul(columns.clone());
        let projected = self.factor.solve_transposed(self.factor.solve(projected));
        let rest = columns - self.features.clone().transpose().exact_matmul(projected);
        self.equal.residual(rest / self.noise())
    }

    /// σ², [1, 1].
    fn noise(&self) -> Tensor<2> {
        self.equal.noise.clone().reshape([1, 1])
    }

    /// `(σ²I + ΛΛᵀ)^{-½}·Λ`, [R, N]: rows that span those of Λ, with lengths between zero and one. With noise of each row,
    /// they are multiplied by `D^{-½}` and span the rows of `P⁻¹` times the covariances with the pivots.
    pub fn whitened_features(&self) -> Tensor<2> {
        self.equal
            .features(self.factor.solve(self.features.clone()))
    }

    /// `log|P| = (N − R)·log σ² + log|σ²I + ΛΛᵀ|`, with noise of each row also `+ log|D|`.
    pub fn log_determinant(&self) -> f64 {
        let [rank, rows] = self.features.dims();
        let noise = number(self.equal.noise.clone());
        let divided = (rows - rank) as f64 * noise.ln() + number(self.factor.log_determinant());
        let none = self.equal.noise.zeros_like();
        divided - 2.0 * number(self.equal.log_density(none, 1)) // Σ_n log D_n^{-½}
    }

    /// Samples of `N(0, P)`, [N, C], from standard normals [N, C] and [R, C].
    pub fn draw(&self, of_noise: Tensor<2>, of_features: Tensor<2>) -> Tensor<2> {
        let divided = of_noise * self.noise().sqrt()
            + self.features.clone().transpose().exact_matmul(of_features);
        self.equal.undivided(divided)
    }
}
