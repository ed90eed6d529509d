//! Matrix products that keep every digit of the element type on every backend.

#[cfg(feature = "cube")]
pub(super) mod cube;

use burn::tensor::Tensor;

#[cfg(feature = "cube")]
use super::cpu::is_on_cpu;

/// Products of matrices that keep every digit.
pub trait ExactMatmul: Sized {
    /// `AB`. burn's own product may round its inputs to fewer digits on some GPUs (TF32 on
    /// NVIDIA's), which a kernel matrix does not survive; this one never does. On the CPU it is
    /// burn's own.
    ///
    /// Networks keep burn's product, in which fewer digits do no harm and special units of a GPU
    /// compute several times faster.
    ///
    /// # Shapes
    ///
    /// - `self` (A): `[…, M, K]`, `right` (B): `[…, K, N]`; a batch dimension of one is repeated
    /// - result: `[…, M, N]`
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    fn exact_matmul(self, right: Self) -> Self;
}

impl<const D: usize> ExactMatmul for Tensor<D> {
    #[track_caller]
    fn exact_matmul(self, right: Self) -> Self {
        #[cfg(feature = "cube")]
        if !is_on_cpu(&self) {
            return cube::exact_matmul(self, right);
        }
        self.matmul(right)
    }
}
