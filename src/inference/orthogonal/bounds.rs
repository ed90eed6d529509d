//! Bounds for other distributions over the orthogonal inducing variables.

use burn::tensor::Tensor;

use super::{
    CollapsedOrthogonal,
    features::Features,
    optimum::{Precisions, optimal_means},
};
use crate::{
    inference::{
        check_rows,
        low_rank::{log_density_of_fit, low_rank_log_density},
    },
    kernels::KernelModule,
    ops::{CholeskyFactor, ExactMatmul, NotPositiveDefinite, column_squares, gram},
    process::VariationalGaussian,
};

/// The part of a bound that depends on the optimal mean.
pub(super) struct Fit {
    /// The features of the data.
    pub features: Features,
    /// `−½Σ_p [y_pᵀ(U + σ²I)⁻¹y_p + log|Q + σ²I| + N·log 2π]`, `[1]`
    pub log_density: Tensor<1>,
    /// The factor of `B_v`.
    pub orthogonal_factor: CholeskyFactor<2>,
}

impl CollapsedOrthogonal {
    /// The fit of the optimal mean, with `yᵀ(U + σ²I)⁻¹y = min ‖y − Λᵀb − Γᵀc‖²/σ² + ‖b‖² + ‖c‖²`
    /// over b and c.
    pub(super) fn fit(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Fit, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let features = self.features(&self.factor()?, inputs.clone());
        let noise = self.likelihood.noise();
        let targets = self.mean.residual(targets, inputs);
        let squares = [
            gram(features.inducing.clone()),
            gram(features.orthogonal.clone()),
        ];
        let precisions = Precisions::new(squares, &noise);
        let [factor, orthogonal_factor] = precisions.factors()?;
        // At the minimum, the derivatives with respect to b and c are zero, so no gradient needs to
        // flow through them.
        let Features {
            inducing,
            orthogonal,
        } = features.clone().inner();
        let inner = targets.clone().inner();
        let [_, orthogonal_precision] = precisions.0;
        let means = optimal_means(
            factor.clone().inner(),
            orthogonal_precision.inner(),
            inducing
                .clone()
                .exact_matmul(orthogonal.clone().transpose()),
            [
                inducing.exact_matmul(inner.clone()),
                orthogonal.exact_matmul(inner),
            ],
            noise.clone().inner(),
        )?;
        let [inducing, orthogonal] = means.clone().map(|mean| mean.square().sum());
        let penalty = inducing + orthogonal; // ‖b‖² + ‖c‖²
        let error = targets - features.combine(means); // [N, P]
        let log_determinant = factor.log_determinant();
        Ok(Fit {
            log_density: log_density_of_fit(error, penalty, log_determinant, noise),
            features,
            orthogonal_factor,
        })
    }

    /// The bound of the orthogonally decoupled posterior, `q(v_⊥) = N(m_v, C_vv)`, at its optimal
    /// `q(u)` and `m_v`. It is the maximum of arXiv:1910.10596, eq. 10, summed over outputs:
    /// `−½yᵀ(U + σ²I)⁻¹y − ½log|Q + σ²I| − ½N·log 2π − tr(K − Q)/(2σ²)` (H. Salimbeni, C.-A. Cheng,
    /// B. Boots and M. Deisenroth, *Orthogonally Decoupled Variational Gaussian Processes*, 2018).
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn decoupled_bound(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        let [_, outputs] = targets.dims();
        let fit = self.fit(inputs.clone(), targets)?;
        let unexplained = self.kernel().diagonal_at(inputs) - column_squares(fit.features.inducing);
        let penalty = unexplained.sum() / self.likelihood.noise();
        Ok(fit.log_density - penalty * (0.5 * outputs as f64))
    }

    /// The bound at the optimal `q(u)` for any `q(v_⊥) = N(L_v·m_p, L_v·S_p·L_vᵀ)`, where
    /// `orthogonal` = `N(m_p, S_p)` is over the whitened variables `L_v⁻¹v_⊥` (arXiv:1910.10596,
    /// eq. 9): `Σ_p log N(y_p | Γᵀm_p, Q + σ²I) − tr(K − U + ΓᵀS_pΓ)/(2σ²) − KL[N(m_p, S_p) ‖ N(0,
    /// I)]`.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    /// - `orthogonal`: P Gaussians over M2 variables
    /// - result: `[1]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn bound(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
        orthogonal: &VariationalGaussian,
    ) -> Result<Tensor<1>, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let [_, outputs] = targets.dims();
        let noise = self.likelihood.noise();
        let features = self.features(&self.factor()?, inputs.clone());
        let explained =
            column_squares(features.inducing.clone()) + column_squares(features.orthogonal.clone());
        let unexplained = (self.kernel().diagonal_at(inputs.clone()) - explained).sum();
        let moments = orthogonal.moments();
        let (mean, variance) = moments.clone().project(features.orthogonal); // [N, P]
        let residual = self.mean.residual(targets, inputs) - mean;
        let density = low_rank_log_density(features.inducing, residual, noise.clone())?;
        let spread = (variance.sum() + unexplained * outputs as f64) / noise;
        Ok(density - spread * 0.5 - moments.kl_from_standard())
    }
}
