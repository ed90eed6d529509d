//! Autodiff for tensors and modules that are used together.

use burn::{module::Module, tensor::Tensor};

/// The module on the device of `tensor`, with autodiff if the tensor has it.
pub(crate) fn tracked_like<const D: usize, M: Module>(tensor: &Tensor<D>, module: M) -> M {
    if tensor.is_autodiff() {
        module.train()
    } else {
        module
    }
}

/// Both tensors, with autodiff if one of them has it.
pub(crate) fn both_tracked<const A: usize, const B: usize>(
    first: Tensor<A>,
    second: Tensor<B>,
) -> (Tensor<A>, Tensor<B>) {
    if first.is_autodiff() || second.is_autodiff() {
        (first.autodiff(), second.autodiff())
    } else {
        (first, second)
    }
}
