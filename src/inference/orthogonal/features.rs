//! Data and two sets of inducing variables in whitened coordinates.

use burn::tensor::Tensor;

use super::CollapsedOrthogonal;
use crate::{
    inducing::InducingVariables,
    kernels::KernelModule,
    ops::{BlockFactor, ExactMatmul, NotPositiveDefinite, cholesky},
};

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

impl<K: KernelModule, I: InducingVariables<K>> CollapsedOrthogonal<K, I> {
    /// The factor of the joint covariance of all inducing variables; the Schur complement is
    /// `C_vv`.
    pub(super) fn factor(&self) -> Result<BlockFactor, NotPositiveDefinite> {
        let (inducing, orthogonal, kernel) = (&self.inducing, &self.orthogonal, &self.kernel);
        let leading = cholesky(inducing.kuu(kernel), self.jitter)?;
        let cross = inducing.kuv(kernel, orthogonal);
        BlockFactor::new(leading, cross, orthogonal.kuu(kernel), self.jitter)
    }

    /// The features of `inputs`, [N, D].
    pub(super) fn features(&self, factor: &BlockFactor, inputs: Tensor<2>) -> Features {
        let (inducing, orthogonal) = factor.solve(
            self.inducing.kuf(&self.kernel, inputs.clone()),
            self.orthogonal.kuf(&self.kernel, inputs),
        );
        Features {
            inducing,
            orthogonal,
        }
    }
}
