//! A bound from a triangular root of the inverse covariance, analogous to a whitened posterior.

use burn::tensor::Tensor;

use super::Evaluation;
use crate::{
    ops::{
        ExactMatmul, column_products, column_squares, diagonals, gaussian_kl,
        transposed_triangular_product,
    },
    process::{Marginals, nonnegative},
};

/// An alternative bound for whitened variables, from covariances and a lower-triangular R that
/// approximates a root of `K_uu⁻¹` (S. Cortinovis, L. Aitchison, S. Eleftheriadis and M. van der
/// Wilk, *Inverse-Free Sparse Variational Gaussian Processes*, arXiv:2604.00697).
///
/// With `A = RᵀK_uu·R`, `q(u) = N(K_uu·R·m̃, K_uu + K_uu·R(A − 2I + S̃)Rᵀ·K_uu)`:
/// `μ = K_fu·R·m̃`, `σ² = k_ff + k_fuᵀR(A − 2I + S̃)Rᵀk_fu`, and
/// `KL ≤ ½(m̃ᵀA·m̃ − log|S̃| + tr((S̃ − 3I + A)A) + M) + ½(tr A − M − log|A|)`, with equality at
/// `RRᵀ = K_uu⁻¹`. Only `log|A| = 2Σ log R_ii + log|K_uu|` needs a factorization; if R is kept at
/// the optimum of the last term, that term can be left out.
#[derive(Clone, Debug)]
pub struct RootBound {
    /// K_uu, `[M, M]`.
    pub kuu: Tensor<2>,
    /// K_uf, `[M, N]`.
    pub kuf: Tensor<2>,
    /// The prior variances at the inputs, `[N]`.
    pub prior_variance: Tensor<1>,
    /// R, `[M, M]`, with zeros above its positive diagonal.
    pub root: Tensor<2>,
}

impl RootBound {
    /// Computes the marginals and the bound on the KL divergence for `m̃`, `[1, M]`, and a
    /// lower-triangular W with `S̃ = WWᵀ`, `[M, M]`, with zeros above the diagonal.
    /// `log_determinant` is `log|K_uu|`, `[1]`; without it the bound leaves out
    /// `½(tr A − M − log|A|)`.
    pub fn evaluate(
        &self,
        mean: Tensor<2>,
        scale: Tensor<2>,
        log_determinant: Option<Tensor<1>>,
    ) -> Evaluation {
        let [_, size] = mean.dims();
        let root = || self.root.clone();
        let rows = transposed_triangular_product(root(), self.kuu.clone()); // RᵀK_uu
        let inner = transposed_triangular_product(root(), rows.transpose()); // A
        let features = transposed_triangular_product(root(), self.kuf.clone()); // RᵀK_uf, [M, N]
        let spread = transposed_triangular_product(scale.clone(), features.clone()); // WᵀRᵀK_uf
        let bent = inner.clone().exact_matmul(features.clone());
        let variance = self.prior_variance.clone()
            + column_squares(spread)
            + column_products(features.clone(), bent)
            - column_squares(features.clone()) * 2.0;

        // ½(‖W‖²_F + ‖m̃‖² − M) − Σ log W_ii is the KL divergence from a standard normal.
        let standard = gaussian_kl(mean.clone(), scale.clone().unsqueeze());
        let bent_mean = mean.clone().exact_matmul(inner.clone()); // m̃ᵀA
        let shift = (bent_mean * mean.clone()).sum() - mean.clone().square().sum();
        let bent_scale = inner.clone().exact_matmul(scale.clone()); // AW
        let squares = column_products(bent_scale, scale.clone()).sum()
            - column_squares(scale).sum()
            + column_squares(inner.clone()).sum();
        let trace = diagonals(inner).sum();
        let own = (shift + squares - trace.clone() * 3.0) * 0.5 + size as f64;
        let rest = log_determinant.map(|log_determinant| {
            let roots = diagonals(root()).log().sum() * 2.0;
            (trace - roots - log_determinant - size as f64) * 0.5
        });
        let kl = standard + own;
        Evaluation {
            marginals: Marginals {
                mean: mean.exact_matmul(features).transpose(),
                variance: nonnegative(variance.unsqueeze_dim(1)),
            },
            kl: match rest {
                Some(rest) => kl + rest,
                None => kl,
            },
        }
    }
}
