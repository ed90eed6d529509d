//! Leave-one-out predictions of regression in closed form.

use std::f64::consts::PI;

use burn::{module::Module, tensor::Tensor};

use super::{Collapsed, Exact, check_rows, low_rank::precision};
use crate::{
    kernels::KernelModule,
    ops::{ExactMatmul, Jitter, NotPositiveDefinite, cholesky, column_squares, gram},
};

/// The predictive distribution of each training target given all the others, at the current
/// hyperparameters: `N(y_n | μ_n, v_n)`, noise included (Rasmussen and Williams, *Gaussian Processes
/// for Machine Learning*, 2006, section 5.4.2).
///
/// It judges hyperparameters by rows that the prediction did not use. The hyperparameters themselves
/// were fitted to all rows, so models with many of them look slightly better than they are.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inference::Exact, kernels::{KernelConfig, StationaryConfig}, likelihoods::GaussianConfig,
///     means::MeanConfig,
/// };
///
/// # fn main() -> Result<(), burn_gp_core::ops::NotPositiveDefinite> {
/// let place = (&Device::default(), DType::F64);
/// let model = Exact::new(
///     KernelConfig::from(StationaryConfig::rbf()).init(1, place),
///     MeanConfig::zero().init(1, 1, place),
///     GaussianConfig::default().init(place),
/// );
/// let x = Tensor::<2>::from_data([[0.0], [0.5], [1.0]], place);
/// let y = Tensor::<2>::from_data([[0.1], [0.4], [0.8]], place);
/// let others = model.leave_one_out(x, y.clone())?;
/// assert_eq!(others.mean.dims(), [3, 1]);
/// assert_eq!(others.log_density(y).dims(), [3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LeaveOneOut {
    /// μ, `[N, P]`
    pub mean: Tensor<2>,
    /// v, `[N]`
    pub variance: Tensor<1>,
}

impl LeaveOneOut {
    /// From the residuals `r = y − m(X)`, `α = C⁻¹r`, both `[N, P]`, and `q = diag(C⁻¹)`, `[N]`: `μ
    /// = y − α/q` and `v = 1/q + u` with a variance `u`, `[N]`, that the other rows do not reduce.
    pub(super) fn new(
        targets: Tensor<2>,
        weights: Tensor<2>,
        precision: Tensor<1>,
        unexplained: Option<Tensor<1>>,
    ) -> Self {
        let variance = precision.recip(); // 1/q
        let mean = targets - weights * variance.clone().unsqueeze_dim(1);
        Self {
            mean,
            variance: match unexplained {
                Some(unexplained) => variance + unexplained,
                None => variance,
            },
        }
    }

    /// `Σ_p log N(y_np | μ_np, v_n)`.
    ///
    /// # Shapes
    ///
    /// - `targets`: `[N, P]`
    /// - result: `[N]`
    pub fn log_density(&self, targets: Tensor<2>) -> Tensor<1> {
        let [_, outputs] = targets.dims();
        let squares = (targets - self.mean.clone())
            .square()
            .sum_dim(1)
            .squeeze_dim::<1>(1);
        let constant = (self.variance.clone() * (2.0 * PI)).log() * outputs as f64;
        (squares / self.variance.clone() + constant) * -0.5
    }
}

impl<K: KernelModule> Exact<K> {
    /// The prediction of each target from all the others. Time N³, memory N².
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When the covariance matrix cannot be factored.
    pub fn leave_one_out(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<LeaveOneOut, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let this = self.valid();
        let rows = this.rows(inputs.inner(), targets.inner());
        let residual = (this.mean()).residual(rows.targets.clone(), rows.inputs.clone());
        let factor = cholesky(this.covariance(&rows), Jitter::NONE)?;
        let [count, _] = residual.dims();
        let identity = Tensor::<2>::eye(count, &residual.device()).cast(residual.dtype());
        let inverse = factor.solve(identity); // L⁻¹, [N, N]
        let precision = column_squares(inverse.clone()); // diag(C⁻¹) = colsum((L⁻¹)²)
        let weights = inverse.transpose().exact_matmul(factor.solve(residual)); // α = L⁻ᵀL⁻¹r
        Ok(rows.leave_one_out(weights, precision, None, this.likelihood().noise()))
    }
}

impl Collapsed {
    /// The prediction of each target from all the others, under the model that
    /// [`condition`](Self::condition) predicts with: the covariance `C = Q + σ²I` of the
    /// targets, and the variance `diag(K − Q)` of the part that the targets do not determine. Time
    /// N·M², memory N·M.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]`, `targets`: `[N, P]`
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn leave_one_out(
        &self,
        inputs: Tensor<2>,
        targets: Tensor<2>,
    ) -> Result<LeaveOneOut, NotPositiveDefinite> {
        check_rows(&inputs, &targets);
        let this = self.valid();
        let rows = this.rows(inputs.inner(), targets.inner());
        let residual = (this.mean()).residual(rows.targets.clone(), rows.inputs.clone());
        let equal = this.equal_noise(&rows);
        let (residual, noise) = (equal.residual(residual), equal.noise.clone());
        let (features, unexplained) = this.features(rows.inputs.clone())?; // Λ, diag(K − Q)
        let features = equal.features(features);
        let precision = precision(gram(features.clone()), noise.clone()); // B = I + σ⁻²ΛΛᵀ
        let weighted = cholesky(precision, Jitter::NONE)?.solve(features); // V = R⁻¹Λ, [M, N]
        // C⁻¹ = σ⁻²(I − σ⁻²VᵀV)
        let explained = column_squares(weighted.clone()) / noise.clone();
        let diagonal = (explained.neg() + 1.0) / noise.clone();
        let fitted = weighted
            .clone()
            .transpose()
            .exact_matmul(weighted.exact_matmul(residual.clone()));
        let noise = noise.unsqueeze_dim(1);
        let weights = (residual - fitted / noise.clone()) / noise;
        Ok(rows.leave_one_out(
            equal.residual(weights),
            equal.variances(diagonal),
            Some(unexplained.clamp_min(0.0)),
            this.likelihood().noise(),
        ))
    }
}
