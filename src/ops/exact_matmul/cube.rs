//! Exact products on GPUs, with gradients.

use burn::{
    backend::{Autodiff, Backend, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

use crate::ops::{
    backward::{CheckpointStrategy, Record, record_inputs},
    cube::{CubeBackend, CubeTensor, Part, Target, product},
    dispatch::dispatch,
};

/// Implementation on GPUs.
#[backend_extension(Autodiff, Cube)]
pub trait ExactMatmulOps: Backend {
    /// `AB` for `[…, M, K]` and `[…, K, N]` with the same batch dimensions.
    fn exact_matmul(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl ExactMatmulOps for CubeBackend {
    fn exact_matmul(left: CubeTensor, right: CubeTensor) -> CubeTensor {
        product(left, right, Target::New, Part::Whole)
    }
}

impl<B: ExactMatmulOps, C: CheckpointStrategy> ExactMatmulOps for Autodiff<B, C> {
    record_inputs!(
        ExactMatmulOps,
        exact_matmul(left, right),
        |gradient, wanted| {
            [
                wanted[0].then(|| B::exact_matmul(gradient.clone(), B::float_transpose(right))),
                wanted[1].then(|| B::exact_matmul(B::float_transpose(left), gradient)),
            ]
        }
    );
}

/// The product of tensors on a GPU.
#[track_caller]
pub fn exact_matmul<const D: usize>(left: Tensor<D>, right: Tensor<D>) -> Tensor<D> {
    let (a, b) = (left.dims(), right.dims());
    let fits = D >= 2
        && a[D - 1] == b[D - 2]
        && (a[..D - 2].iter().zip(&b[..D - 2])).all(|(a, b)| a == b || *a == 1 || *b == 1);
    assert!(
        fits,
        "exact_matmul: {a:?} and {b:?}; expected [..., M, K] and [..., K, N]"
    );
    let repeated = |tensor: Tensor<D>, other: [usize; D]| {
        let mut shape = tensor.dims();
        for (own, other) in shape[..D - 2].iter_mut().zip(other) {
            *own = if *own == 1 { other } else { *own };
        }
        if shape == tensor.dims() {
            tensor
        } else {
            tensor.expand(shape)
        }
    };
    let (left, right) = (repeated(left, b), repeated(right, a));
    dispatch!(ExactMatmulOps::exact_matmul(left, right))
}
