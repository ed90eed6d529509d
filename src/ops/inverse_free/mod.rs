//! The terms of an inverse-free bound as a single operation.

mod cpu;
mod terms;

use burn::{
    backend::{AutodiffBackend, Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    backward::{record, split},
    declaration::operations,
};
pub(super) use terms::Widths;

operations! {
    /// Backend implementation of the terms. On GPUs they are composed of other operations.
    trait InverseFreeOps on cpu {
        /// The terms of an inverse-free bound, [.., N + M·R + 2], and the values kept for the backward
        /// pass, [.., M, …], in the order of [`Widths::saved`]. L and the probes receive no gradient.
        fn relaxed_terms(kuu, variances, lower, kuf, mean, probes; widths: Widths)
            -> (FloatTensor<Self>, Vec<FloatTensor<Self>>),
            {
                let ([kuu, variances, kuf, mean], nodes) =
                    split::<B, C, _>([kuu, variances, kuf, mean]);
                let [lower, probes] = [lower, probes].map(|tensor| tensor.into_primitive());
                let matrices = [kuu, variances, lower];
                let [kuu, variances, lower] = matrices.clone();
                let (terms, saved) =
                    B::relaxed_terms(kuu, variances, lower, kuf, mean, probes, widths);
                let state = (matrices, saved.clone(), widths);
                let terms = record::<B, C, _, _>(nodes, state, terms, |state, gradient, _| {
                    let (matrices, saved, widths) = state;
                    B::relaxed_terms_backward(matrices, gradient, saved, widths).map(Some)
                });
                (terms, saved.into_iter().map(Self::from_inner).collect())
            };
    } backward {
        /// The gradients of K_uu, s̃, K_uf and m̃, from K_uu, s̃, L and the saved values.
        fn relaxed_terms_backward(
            [kuu, variances, lower], gradient; saved: Vec<FloatTensor<Self>>, widths: Widths
        ) -> [FloatTensor<Self>; 4];
    }
}

/// The symmetric matrices of [`relaxed_terms`] and a constant L, `[M, M]` or a batch.
pub(crate) struct RelaxedMatrices<const D: usize> {
    pub kuu: Tensor<D>,
    /// s̃, flat
    pub variances: Tensor<1>,
    pub lower: Tensor<D>,
}

/// `k_nᵀP_R·k_n`, v, `Σ vᵀK_uu·v` and the estimate of `tr(K̃T − P_R·K_uu)`, which is zero without probes.
/// Here `P_R = 2T − TK̃T`, `T = LLᵀ`, `K̃ = K_uu + S̃` and `v = P_R·m̃` or `m̃`. L and the probes have no
/// gradient. Only for tensors in CPU memory.
///
/// # Shapes
///
/// - `kuf`: `[…, M, N]`, `mean` (m̃): `[…, M, R]`, `probes`: `[…, M, K]`
/// - result: one row per matrix, with N + M·R + 2 values
pub(crate) fn relaxed_terms<const D: usize>(
    matrices: RelaxedMatrices<D>,
    kuf: Tensor<D>,
    mean: Tensor<D>,
    probes: Option<Tensor<D>>,
    preconditioned: bool,
) -> Tensor<2> {
    let columns = |matrix: &Tensor<D>| matrix.dims()[D - 1];
    let widths = Widths {
        data: columns(&kuf),
        means: columns(&mean),
        probes: probes.as_ref().map_or(0, columns),
        preconditioned,
    };
    // Without probes, any tensor will do because it is never read.
    let probes = probes.unwrap_or_else(|| mean.clone().detach());
    let (terms, _) = <Dispatch as Dispatched>::relaxed_terms(
        matrices.kuu.into_dispatch(),
        matrices.variances.into_dispatch(),
        matrices.lower.into_dispatch(),
        kuf.into_dispatch(),
        mean.into_dispatch(),
        probes.into_dispatch(),
        widths,
    );
    Tensor::from_dispatch(terms)
}
