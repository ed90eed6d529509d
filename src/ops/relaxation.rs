//! The terms of an inverse-free bound as one operation.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use burn::{backend::Dispatch, tensor::Tensor};

use super::{extension::LinearAlgebra, host::relaxation::Widths};

/// Carries an answer about a tensor's memory past the tensor interface.
#[derive(Clone, Debug, Default)]
pub struct MemoryAnswer(Arc<AtomicBool>);

impl MemoryAnswer {
    /// Answers whether the memory is the host's own.
    pub fn answer(&self, is_on_host: bool) {
        self.0.store(is_on_host, Ordering::Relaxed);
    }
}

/// Whether a tensor lies in the host's own memory, where [`relaxed_terms`] computes.
pub(crate) fn is_on_host<const D: usize>(tensor: &Tensor<D>) -> bool {
    let answer = MemoryAnswer::default();
    <Dispatch as LinearAlgebra>::ask_memory(tensor.clone().into_dispatch(), answer.clone());
    answer.0.load(Ordering::Relaxed)
}

/// The symmetric matrices of [`relaxed_terms`] and a constant L, `[M, M]` or a batch.
pub(crate) struct RelaxedMatrices<const D: usize> {
    pub kuu: Tensor<D>,
    /// s̃, flat
    pub variances: Tensor<1>,
    pub lower: Tensor<D>,
}

/// `k_nᵀP_R·k_n`, v, `Σ vᵀK_uu·v` and the estimate of `tr(K̃T − P_R·K_uu)`, zero without probes, for
/// `P_R = 2T − TK̃T`, `T = LLᵀ`, `K̃ = K_uu + S̃` and `v = P_R·m̃` or `m̃`. Neither L nor the probes
/// have a gradient.
///
/// # Shapes
///
/// - `kuf`: `[…, M, N]`, `mean` (m̃): `[…, M, R]`, `probes`: `[…, M, K]`
/// - result: one row a matrix, N + M·R + 2 numbers
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
    // What is not read may be any tensor.
    let probes = probes.unwrap_or_else(|| mean.clone().detach());
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::relaxed_terms(
        matrices.kuu.into_dispatch(),
        matrices.variances.into_dispatch(),
        matrices.lower.into_dispatch(),
        kuf.into_dispatch(),
        mean.into_dispatch(),
        probes.into_dispatch(),
        widths,
    ))
}
