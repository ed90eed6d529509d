//! Regression on features, in double precision.

use burn::tensor::{DType, Tensor};

use crate::ops::{
    CholeskyFactor, ExactMatmul, Jitter, NotPositiveDefinite, cholesky, gram, has_cheap_doubles,
};

/// The type for sums over data: double precision where it costs little. The condition number of
/// `I + ΦᵀΦ/σ²` is of order `N·‖φ‖²/σ²`, which is too large for single precision.
pub(in crate::inference) fn precise_type(tensor: &Tensor<2>) -> DType {
    if has_cheap_doubles(tensor.device()) {
        DType::F64
    } else {
        tensor.dtype()
    }
}

/// `B = I + Σ_n φ_nφ_nᵀ/v_n` and `b = Σ_n φ_ny_nᵀ/v_n`, accumulated block by block, for features φ
/// and targets y with noise variances v.
pub(super) struct NormalEquations {
    /// [R, R]
    precision: Tensor<2>,
    /// [R, P]
    projected: Tensor<2>,
}

/// The posterior of the weights, `N(m_p, B⁻¹)`.
pub(super) struct Solution {
    /// B, [R, R]
    pub precision: Tensor<2>,
    /// The factor of B.
    pub factor: CholeskyFactor<2>,
    /// m, [R, P]
    pub mean: Tensor<2>,
}

impl NormalEquations {
    /// The equations without data, which describe the prior.
    pub fn prior(rank: usize, outputs: usize, like: &Tensor<2>) -> Self {
        let (device, dtype) = (like.device(), precise_type(like));
        Self {
            precision: Tensor::<2>::eye(rank, &device).cast(dtype),
            projected: Tensor::zeros([rank, outputs], (&device, dtype)),
        }
    }

    /// Adds data.
    ///
    /// # Shapes
    ///
    /// - `features`: `[N, R]`, `targets`: `[N, P]`, `noise` (v): `[N]` or `[1]`
    pub fn with(self, features: Tensor<2>, targets: Tensor<2>, noise: Tensor<1>) -> Self {
        let dtype = self.precision.dtype();
        let deviation = noise.cast(dtype).sqrt().unsqueeze_dim::<2>(1); // [N, 1]
        let features = features.cast(dtype) / deviation.clone();
        let targets = targets.cast(dtype) / deviation;
        let features = features.transpose(); // [R, N]
        Self {
            projected: self.projected + features.clone().exact_matmul(targets),
            precision: self.precision + gram(features),
        }
    }

    /// Solves for the posterior of the weights.
    pub fn solve(self) -> Result<Solution, NotPositiveDefinite> {
        let factor = cholesky(self.precision.clone(), Jitter::NONE)?;
        let mean = factor.solve_transposed(factor.solve(self.projected));
        Ok(Solution {
            precision: self.precision,
            factor,
            mean,
        })
    }
}
