//! Data and two sets of inducing variables in whitened coordinates.

use burn::tensor::Tensor;

use super::CollapsedOrthogonal;
use crate::ops::{BlockFactor, ExactMatmul, NotPositiveDefinite, cholesky};

/// The covariances of the data with the whitened variables `L⁻¹u` and `L_v⁻¹v_⊥`.
#[derive(Clone)]
pub(super) struct Features {
    /// `Λ = L⁻¹K_uf`, [M, N]
    pub inducing: Tensor<2>,
    /// `Γ = L_v⁻¹C_vf`, [M2, N]
    pub orthogonal: Tensor<2>,
}

impl Features {
    /// The detached features, on the device without autodiff.
    pub fn inner(self) -> Self {
        Self {
            inducing: self.inducing.inner(),
            orthogonal: self.orthogonal.inner(),
        }
    }

    /// `Λᵀb + Γᵀc`, [N, P], for b, [M, P], and c, [M2, P].
    pub fn combine(&self, [inducing, orthogonal]: [Tensor<2>; 2]) -> Tensor<2> {
        let inducing = self.inducing.clone().transpose().exact_matmul(inducing);
        inducing + self.orthogonal.clone().transpose().exact_matmul(orthogonal)
    }
}

impl CollapsedOrthogonal {
    /// The factor of the joint covariance of all inducing variables; the Schur complement is
    /// `C_vv`.
    pub(super) fn factor(&self) -> Result<BlockFactor, NotPositiveDefinite> {
        let (inducing, orthogonal, kernel) = (&self.inducing, &self.orthogonal, &self.kernel);
        let leading = cholesky(inducing.kuu(kernel).squeeze_dim(0), self.jitter)?;
        let cross = inducing.kuv(kernel, orthogonal).squeeze_dim(0);
        let trailing = orthogonal.kuu(kernel).squeeze_dim(0);
        BlockFactor::new(leading, cross, trailing, self.jitter)
    }

    /// The features of `inputs`, [N, D].
    pub(super) fn features(&self, factor: &BlockFactor, inputs: Tensor<2>) -> Features {
        let (inducing, orthogonal) = factor.solve(
            self.inducing
                .kuf(&self.kernel, inputs.clone())
                .squeeze_dim(0),
            self.orthogonal.kuf(&self.kernel, inputs).squeeze_dim(0),
        );
        Features {
            inducing,
            orthogonal,
        }
    }
}
