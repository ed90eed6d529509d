//! Matrix products with the full accuracy of the element type on every backend.

#[cfg(feature = "cube")]
mod cube;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::{
    cpu::{CpuMemory, is_on_cpu},
    declaration::{dispatch, operations},
};

/// Matrix products of full accuracy.
pub trait ExactMatmul: Sized {
    /// `AB`. burn's own product may round its inputs to fewer digits on some GPUs (TF32 on NVIDIA's), which
    /// is too inaccurate for kernel matrices; this one never does. On the CPU it is burn's own.
    ///
    /// The linear layers of this library's networks use it, too: a kernel on features is only as accurate as
    /// the features.
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
        if is_on_cpu(&self) {
            return self.matmul(right);
        }
        let (a, b) = (self.dims(), right.dims());
        let fits = D >= 2
            && a[D - 1] == b[D - 2]
            && (a[..D - 2].iter().zip(&b[..D - 2])).all(|(a, b)| a == b || *a == 1 || *b == 1);
        assert!(
            fits,
            "exact_matmul: {a:?} and {b:?}; expected [..., M, K] and [..., K, N]"
        );
        let (left, right) = (repeated(self, b), repeated(right, a));
        dispatch!(exact_matmul(left, right))
    }
}

/// Repeats a batch of one matrix to match the batch dimensions of another tensor.
fn repeated<const D: usize>(tensor: Tensor<D>, other: [usize; D]) -> Tensor<D> {
    let mut shape = tensor.dims();
    for (own, other) in shape[..D - 2].iter_mut().zip(other) {
        *own = if *own == 1 { other } else { *own };
    }
    if shape == tensor.dims() {
        tensor
    } else {
        tensor.expand(shape)
    }
}

operations! {
    /// Backend implementation of the product.
    trait ExactMatmulOps on devices {
        /// `AB` for `[…, M, K]` and `[…, K, N]` with the same batch dimensions.
        fn exact_matmul(left, right) -> FloatTensor<Self> = matrices(left, rows(left), columns(right)),
            |gradient, wanted| [
                wanted[0].then(|| B::exact_matmul(gradient.clone(), B::float_transpose(right))),
                wanted[1].then(|| B::exact_matmul(B::float_transpose(left), gradient)),
            ];
    }
}

impl<B: CpuMemory> ExactMatmulOps for B {
    fn exact_matmul(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
        B::float_matmul(left, right)
    }
}
