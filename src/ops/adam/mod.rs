//! An Adam step on one parameter as a single operation.

mod cpu;

use burn::{
    backend::{Backend, Dispatch, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

/// The constants of one Adam step: with `m ← β₁m + (1 − β₁)g` and `v ← β₂v + (1 − β₂)g²`,
/// `θ ← θ − a·m/(√v + e)`.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep {
    /// β₁
    pub beta_1: f64,
    /// β₂
    pub beta_2: f64,
    /// a
    pub rate: f64,
    /// e
    pub epsilon: f64,
}

/// Backend implementation of the step. The default uses the backend's own operations.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda")),
)]
pub trait AdamOps: Backend {
    /// The parameter and the two moments after the step, from the parameter, its gradient and the
    /// previous moments.
    fn adam(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let moved = |moment, keep: f64, change| {
            Self::float_add(
                Self::float_mul_scalar(moment, keep.into()),
                Self::float_mul_scalar(change, (1.0 - keep).into()),
            )
        };
        let square = Self::float_mul(gradient.clone(), gradient.clone());
        let first = moved(first, step.beta_1, gradient);
        let second = moved(second, step.beta_2, square);
        let size = Self::float_sqrt(second.clone());
        let size = Self::float_add_scalar(size, step.epsilon.into());
        let change = Self::float_div(first.clone(), size);
        let change = Self::float_mul_scalar(change, step.rate.into());
        (Self::float_sub(parameter, change), first, second)
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
impl AdamOps for burn::backend::Cube {}

/// The parameter and the two moments after a step, from the parameter, its gradient and the
/// previous moments. All tensors have the same shape and are without autodiff.
pub(crate) fn adam<const D: usize>(
    parameter: Tensor<D>,
    gradient: Tensor<D>,
    [first, second]: [Tensor<D>; 2],
    step: AdamStep,
) -> (Tensor<D>, [Tensor<D>; 2]) {
    let (parameter, first, second) = <Dispatch as AdamOps>::adam(
        parameter.into_dispatch(),
        gradient.into_dispatch(),
        first.into_dispatch(),
        second.into_dispatch(),
        step,
    );
    (
        Tensor::from_dispatch(parameter),
        [first, second].map(Tensor::from_dispatch),
    )
}
