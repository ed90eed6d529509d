//! The natural-gradient update of one batch of Gaussians.

use burn::tensor::Tensor;

use crate::ops::{Jitter, cholesky};

/// Natural-gradient descent on a loss ℓ of Gaussians `N(m_p, S_p)`, with everything computed that
/// does not depend on the step size γ.
///
/// The natural parameters `S⁻¹m` and `−½S⁻¹` go down the gradient with respect to the expectation
/// parameters `m` and `S + mmᵀ`:
/// `S′⁻¹ = S⁻¹ + 2γ·∂ℓ/∂S`, `m′ = m − γS′·∂ℓ/∂m`
/// (H. Salimbeni, S. Eleftheriadis and J. Hensman, *Natural Gradients in Practice*,
/// arXiv:1803.09151, section 2).
///
/// With `S = WWᵀ` the first is `S′ = W·(I + γG)⁻¹·Wᵀ`, `G = 2Wᵀ(∂ℓ/∂S)W`. The gradient of a
/// lower-triangular W is the lower triangle of `2(∂ℓ/∂S)W`, and the strict upper triangle that it
/// lacks stays strictly upper under the upper-triangular `Wᵀ`: the lower triangle of `Wᵀ·∂ℓ/∂W` is
/// that of G. Nothing is inverted but `I + γG`.
pub(super) struct FullStep {
    /// m, [P, M]
    mean: Tensor<2>,
    /// W, [P, M, M], zeros above the diagonal
    scale: Tensor<3>,
    /// ∂ℓ/∂m, [P, M]
    mean_gradient: Tensor<2>,
    /// The lower triangles of G, [P, M, M].
    curvature: Tensor<3>,
}

impl FullStep {
    /// Prepares the step from means and factors with the gradients of a loss.
    ///
    /// # Shapes
    ///
    /// - `mean`, `mean_gradient`: `[P, M]`
    /// - `scale`, `scale_gradient`: `[P, M, M]`, of which the lower triangles count
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

    /// The means and factors after a step of size γ, unless a covariance is not positive definite.
    pub fn at(&self, step_size: f64) -> Option<(Tensor<2>, Tensor<3>)> {
        let [_, size, _] = self.scale.dims();
        let identity = Tensor::<2>::eye(size, &self.scale.device()).cast(self.scale.dtype());
        let precision = self.curvature.clone() * step_size + identity.unsqueeze(); // lower triangle
        // With rows and columns reversed by J, J(I + γG)J = RRᵀ gives (I + γG)⁻¹ = (JR⁻ᵀJ)(JR⁻ᵀJ)ᵀ
        // and W·JR⁻ᵀJ is lower triangular. Reversal swaps the triangles, hence the transpose.
        let reversed = precision.transpose().flip([1, 2]);
        let factor = cholesky(reversed, WITHOUT_JITTER).ok()?;
        let rows = factor.solve(self.scale.clone().transpose().flip([1])); // R⁻¹JWᵀ
        let scale = rows.flip([1]).transpose().tril(0); // [P, M, M]
        let gradient = self.mean_gradient.clone().unsqueeze_dim::<3>(2); // [P, M, 1]
        let change = (scale.clone()).matmul(scale.clone().transpose().matmul(gradient));
        Some((self.mean.clone() - change.squeeze_dim(2) * step_size, scale))
    }
}

/// A precision that needs jitter is not positive definite: the step was too long.
const WITHOUT_JITTER: Jitter = Jitter {
    initial: 0.0,
    escalations: 0,
};

/// As [`FullStep`] for `S = diag(s²)`: `1/s′² = 1/s² + γ/s·∂ℓ/∂s`, `m′ = m − γs′²·∂ℓ/∂m`.
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
    /// Prepares the step from means and standard deviations with the gradients of a loss, all
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

    /// The means and standard deviations after a step of size γ, unless a variance is not positive.
    pub fn at(&self, step_size: f64) -> Option<(Tensor<2>, Tensor<2>)> {
        let precision = self.curvature.clone() * step_size + 1.0;
        let smallest: f64 = precision.clone().min().into_scalar();
        // NaN is not positive either.
        if smallest > 0.0 {
            let deviation = self.deviation.clone() / precision.sqrt();
            let change = deviation.clone().square() * self.mean_gradient.clone();
            Some((self.mean.clone() - change * step_size, deviation))
        } else {
            None
        }
    }
}
