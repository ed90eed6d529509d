//! Moments of Gaussian variables under a linear map that is first solved with a Cholesky factor.
//!
//! A training step of a sparse posterior solves with the factor of its prior and projects the variables with
//! the solution. On the CPU, the solution is projected a few columns at a time, while they are still in the
//! cache of the thread that computed them. On GPUs these are two operations.

mod cpu;
mod kernels;

use burn::{
    backend::{Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    CholeskyFactor,
    backward::{record, split},
    cpu::is_on_cpu,
    declaration::operations,
    marginals_minus_prior, moments,
};

operations! {
    /// Backend implementation of the moments.
    trait SolvedMomentOps on cpu {
        /// `[Aᵀm_p ; colsum((W_pᵀA)²) − colsum(A²)]`, [2, P, N], for `A = L⁻¹B`.
        fn solved_moments(factor, rhs, mean, scale) -> FloatTensor<Self>,
            {
                let ([factor, rhs, mean, scale], nodes) =
                    split::<B, C, _>([factor, rhs, mean, scale]);
                let [moments, solution, projected] = B::solved_moments_with_intermediates(
                    factor.clone(), rhs, mean.clone(), scale.clone(),
                );
                let saved = [factor, solution, mean, scale, projected];
                record::<B, C, _, _>(nodes, saved, moments, |saved, gradient, wanted| {
                    let [factor, rhs, ..]: [bool; 4] = wanted;
                    B::solved_moments_backward(saved, gradient, [factor, rhs])
                })
            };
    } backward {
        /// The moments, `[2, P, N]`, and the tensors that their gradients need: the solution `A = L⁻¹B`, [M, N],
        /// and `V_p = W_pᵀA`, [P, M, N].
        fn solved_moments_with_intermediates(factor, rhs, mean, scale) -> [FloatTensor<Self>; 3];

        /// The cotangent of the factor and the gradients of B, m and W, from L, A, m, W and V. The first two are
        /// computed only if wanted.
        fn solved_moments_backward([factor, solution, mean, scale, projected], gradient; wanted: [bool; 2])
            -> [Option<FloatTensor<Self>>; 4];
    }
}

impl<const D: usize> CholeskyFactor<D> {
    /// [`marginals_minus_prior`] of the basis `A = L⁻¹B` of a single factor: the means `Aᵀm_p` and the variances
    /// `diag(Aᵀ(W_pW_pᵀ − I)A)`.
    ///
    /// # Shapes
    ///
    /// - `rhs` (B): `[M, N]`, or `[1, M, N]`
    /// - `mean` (m): `[P, M]`
    /// - `scale` (W): `[P, M, M]`, of which only the lower triangles are read
    /// - result: means `[N, P]` and differences of variances `[N, P]`
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    pub fn marginals_minus_prior(
        &self,
        rhs: Tensor<D>,
        mean: Tensor<2>,
        scale: Tensor<3>,
    ) -> (Tensor<2>, Tensor<2>) {
        let factor = self.triangle.clone();
        let (sizes, [p, m]) = (rhs.dims(), mean.dims());
        let mut expected = [1; D];
        expected[D - 2..].copy_from_slice(&[m, sizes[D - 1]]);
        assert!(
            sizes == expected && factor.dims()[D - 1] == m && scale.dims() == [p, m, m],
            "CholeskyFactor::marginals_minus_prior: factor {:?}, right-hand side {sizes:?}, mean [{p}, {m}], scale \
             {:?}; expected [M, M], [M, N], [P, M], [P, M, M]",
            factor.dims(),
            scale.dims()
        );
        if !is_on_cpu(&rhs) {
            let factor = CholeskyFactor::from_triangle(factor.reshape([m, m]));
            let basis = factor.solve(rhs.reshape([m, sizes[D - 1]]));
            return marginals_minus_prior(basis, mean, scale);
        }
        moments::means_and_variances(<Dispatch as Dispatched>::solved_moments(
            factor.into_dispatch(),
            rhs.into_dispatch(),
            mean.into_dispatch(),
            scale.into_dispatch(),
        ))
    }
}
