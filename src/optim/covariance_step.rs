//! The natural-gradient update of a batch of Gaussians.

use burn::tensor::Tensor;

use crate::ops::{Jitter, cholesky};

/// Natural-gradient descent on a loss ℓ of Gaussians `N(m_p, S_p)`, with everything that does not
/// depend on the step size γ precomputed.
///
/// The natural parameters `S⁻¹m` and `−½S⁻¹` follow the negative gradient with respect to the
/// expectation parameters `m` and `S + mmᵀ`: `S′⁻¹ = S⁻¹ + 2γ·∂ℓ/∂S`, `m′ = m − γS′·∂ℓ/∂m` (H.
/// Salimbeni, S. Eleftheriadis and J. Hensman, *Natural Gradients in Practice*, arXiv:1803.09151,
/// section 2).
///
/// With `S = WWᵀ` the covariance update becomes `S′ = W·(I + γG)⁻¹·Wᵀ`, `G = 2Wᵀ(∂ℓ/∂S)W`. The
/// gradient of a lower-triangular W is the lower triangle of `2(∂ℓ/∂S)W`. Multiplying its missing
/// strict upper triangle by the upper-triangular `Wᵀ` gives a strictly upper triangle, so the lower
/// triangle of `Wᵀ·∂ℓ/∂W` is that of G. Only `I + γG` has to be inverted.
pub(super) struct FullStep {
    /// m, [P, M]
    mean: Tensor<2>,
    /// W, [P, M, M], zeros above the diagonal
    scale: Tensor<3>,
    /// ∂ℓ/∂m, [P, M]
    mean_gradient: Tensor<2>,
    /// The lower triangles of G, [P, M, M]
    curvature: Tensor<3>,
}

impl FullStep {
    /// Prepares the step from means and factors and the gradients of a loss.
    ///
    /// # Shapes
    ///
    /// - `mean`, `mean_gradient`: `[P, M]`
    /// - `scale`, `scale_gradient`: `[P, M, M]`, of which only the lower triangles are used
    pub fn new(
        (mean, scale): (Tensor<2>, Tensor<3>),
        (mean_gradient, scale_gradient): (Tensor<2>, Tensor<3>),
    ) -> Self {
        let scale = scale.tril(0);
        let product = scale.clone().transpose().matmul(scale_gradient.tril(0));
        Self {
            mean,
            scale,
            mean_gradient,
            curvature: product.tril(0),
        }
    }

    /// The means and factors after a step of size γ, or `None` if a covariance is not positive
    /// definite.
    pub fn at(&self, step_size: f64) -> Option<(Tensor<2>, Tensor<3>)> {
        let [_, size, _] = self.scale.dims();
        let identity = Tensor::<2>::eye(size, &self.scale.device()).cast(self.scale.dtype());
        let precision = self.curvature.clone() * step_size + identity.unsqueeze(); // lower triangle
        // Reverse rows and columns with J: J(I + γG)J = RRᵀ gives (I + γG)⁻¹ = (JR⁻ᵀJ)(JR⁻ᵀJ)ᵀ, and
        // W·JR⁻ᵀJ is lower triangular. The reversal swaps the triangles, hence the transpose.
        let reversed = precision.transpose().flip([1, 2]);
        let factor = cholesky(reversed, WITHOUT_JITTER).ok()?;
        let rows = factor.solve(self.scale.clone().transpose().flip([1])); // R⁻¹JWᵀ
        let scale = rows.flip([1]).transpose().tril(0); // [P, M, M]
        let gradient = self.mean_gradient.clone().unsqueeze_dim::<3>(2); // [P, M, 1]
        let change = (scale.clone()).matmul(scale.clone().transpose().matmul(gradient));
        Some((self.mean.clone() - change.squeeze_dim(2) * step_size, scale))
    }
}

/// A precision that needs jitter is not positive definite, because the step was too long.
const WITHOUT_JITTER: Jitter = Jitter {
    initial: 0.0,
    escalations: 0,
};

/// Like [`FullStep`] for `S = diag(s²)`: `1/s′² = 1/s² + γ/s·∂ℓ/∂s`, `m′ = m − γs′²·∂ℓ/∂m`.
pub(super) struct DiagonalStep {
    /// m, [P, M]
    mean: Tensor<2>,
    /// s, [P, M]
    deviation: Tensor<2>,
    /// ∂ℓ/∂m, [P, M]
    mean_gradient: Tensor<2>,
    /// s·∂ℓ/∂s, [P, M]
    curvature: Tensor<2>,
}

impl DiagonalStep {
    /// Prepares the step from means and standard deviations and the gradients of a loss, all
    /// `[P, M]`.
    pub fn new(
        (mean, deviation): (Tensor<2>, Tensor<2>),
        (mean_gradient, deviation_gradient): (Tensor<2>, Tensor<2>),
    ) -> Self {
        Self {
            curvature: deviation.clone() * deviation_gradient,
            mean,
            deviation,
            mean_gradient,
        }
    }

    /// The means and standard deviations after a step of size γ, or `None` if a variance is not
    /// positive.
    pub fn at(&self, step_size: f64) -> Option<(Tensor<2>, Tensor<2>)> {
        let precision = self.curvature.clone() * step_size + 1.0;
        let smallest: f64 = precision.clone().min().into_scalar();
        // This also rejects NaN.
        if smallest > 0.0 {
            let deviation = self.deviation.clone() / precision.sqrt();
            let change = deviation.clone().square() * self.mean_gradient.clone();
            Some((self.mean.clone() - change * step_size, deviation))
        } else {
            None
        }
    }
}
