//! The natural-gradient update of a batch of Gaussians.

use burn::tensor::{Bool, Tensor};

use super::on_device::{is_positive, select, select_number};
use crate::ops::{
    CholeskyFactor, ExactMatmul, Jitter, cholesky, cholesky_unchecked, lower_of_transposed_product,
    number, reversed_precision, solve_reversed,
};

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
/// triangle of `Wᵀ·∂ℓ/∂W` is that of G. Only `I + γG` must be inverted.
pub(super) struct FullStep {
    /// m, [P, M]
    mean: Tensor<2>,
    /// W, [P, M, M], in the lower triangles
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
        Self {
            curvature: lower_of_transposed_product(scale.clone(), scale_gradient),
            mean,
            scale,
            mean_gradient,
        }
    }

    /// The means and factors after a step of size γ, or `None` if a covariance is not positive
    /// definite.
    pub fn at(&self, step_size: f64) -> Option<(Tensor<2>, Tensor<3>)> {
        let factor = cholesky(self.precision(step_size), WITHOUT_JITTER).ok()?;
        let (change, scale) = self.after(&factor);
        Some((self.mean.clone() - change * step_size, scale))
    }

    /// The means and factors after a step of the first of several sizes for which all covariances
    /// are positive definite, and whether there is one, `[1]`. All sizes are tried at once and the
    /// device chooses among them, so that the CPU does not wait.
    pub fn at_first(&self, step_sizes: &[f64]) -> ((Tensor<2>, Tensor<3>), Tensor<1, Bool>) {
        let [outputs, size, _] = self.scale.dims();
        let precisions = step_sizes.iter().map(|&size| self.precision(size));
        let precisions = Tensor::cat(precisions.collect(), 0); // [C·P, M, M]
        let (factors, status) = cholesky_unchecked(precisions, WITHOUT_JITTER);
        let [rows, _] = status.dims();
        let failures = status.narrow(1, 0, 1).reshape([rows / outputs, outputs]);
        let fits = failures
            .sum_dim(1)
            .squeeze_dim::<1>(1)
            .lower_equal_elem(0.0); // [C]
        let lowers = factors
            .lower()
            .reshape([step_sizes.len(), outputs, size, size]);
        let lowers = (0..step_sizes.len())
            .map(|index| lowers.clone().narrow(0, index, 1).squeeze_dim::<3>(0));
        let lower = select(&fits, lowers.collect());
        let step_size = select_number(&fits, step_sizes, &self.mean);
        let (change, scale) = self.after(&CholeskyFactor::from_nonsingular(lower));
        let mean = self.mean.clone() - change * step_size.unsqueeze();
        ((mean, scale), fits.any())
    }

    /// `J(I + γG)J` with the reversal J of rows and columns, by its lower triangle.
    fn precision(&self, step_size: f64) -> Tensor<3> {
        reversed_precision(self.curvature.clone(), step_size)
    }

    /// `S′·∂ℓ/∂m` and the factor of `S′`. `J(I + γG)J = RRᵀ` gives `(I + γG)⁻¹ = (JR⁻ᵀJ)(JR⁻ᵀJ)ᵀ`, and
    /// `W·JR⁻ᵀJ` is lower triangular.
    fn after(&self, factor: &CholeskyFactor<3>) -> (Tensor<2>, Tensor<3>) {
        let scale = solve_reversed(self.scale.clone(), factor);
        let gradient = self.mean_gradient.clone().unsqueeze_dim::<3>(2); // [P, M, 1]
        let change = (scale.clone()).exact_matmul(scale.clone().transpose().exact_matmul(gradient));
        (change.squeeze_dim(2), scale)
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
        let smallest = number(precision.clone().min());
        // This also rejects NaN.
        if smallest > 0.0 {
            let (change, deviation) = self.after(precision);
            Some((self.mean.clone() - change * step_size, deviation))
        } else {
            None
        }
    }

    /// Like [`FullStep::at_first`].
    pub fn at_first(&self, step_sizes: &[f64]) -> ((Tensor<2>, Tensor<2>), Tensor<1, Bool>) {
        let precisions = step_sizes
            .iter()
            .map(|&size| self.curvature.clone() * size + 1.0);
        let precisions: Vec<_> = precisions.collect();
        let fits = precisions
            .iter()
            .map(|precision| is_positive(precision.clone()));
        let fits = Tensor::cat(fits.collect(), 0); // [C]
        let step_size = select_number(&fits, step_sizes, &self.mean);
        let (change, deviation) = self.after(select(&fits, precisions));
        let mean = self.mean.clone() - change * step_size.unsqueeze();
        ((mean, deviation), fits.any())
    }

    /// `s′²·∂ℓ/∂m` and `s′`, from `s²/s′²`.
    fn after(&self, precision: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let deviation = self.deviation.clone() / precision.sqrt();
        let change = deviation.clone().square() * self.mean_gradient.clone();
        (change, deviation)
    }
}
