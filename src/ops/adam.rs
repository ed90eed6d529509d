//! A step of Adam on one parameter, as one operation.

// For the whole file: the attribute macro repeats the name where an attribute of the trait does not
// reach.
#![allow(deprecated, reason = "ndarray stays supported beside flex")]

use burn::{
    backend::{Backend, Dispatch, TensorMetadata, backend_extension, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    host::adam::{AdamStep, adam_in_place},
    host_access::{HostAccess, with_element, write},
};

/// What each backend supplies. The default runs on the backend's own elementwise operations.
#[backend_extension(
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda")),
)]
pub trait AdamUpdate: Backend {
    /// The parameter and the two moments after the step, from the parameter, its gradient and the
    /// moments before.
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

/// Implements [`AdamUpdate`] in place for a backend whose tensors are in the host's memory.
#[cfg(any(feature = "flex", feature = "ndarray"))]
macro_rules! in_place {
    ($backend:ty) => {
        impl AdamUpdate for $backend {
            fn adam(
                parameter: FloatTensor<Self>,
                gradient: FloatTensor<Self>,
                first: FloatTensor<Self>,
                second: FloatTensor<Self>,
                step: AdamStep,
            ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
                on_host::<Self>(parameter, gradient, (first, second), step)
            }
        }
    };
}

#[cfg(feature = "flex")]
in_place!(burn::backend::Flex);

#[cfg(feature = "ndarray")]
in_place!(burn::backend::NdArray);

#[cfg(any(feature = "wgpu", feature = "cuda"))]
impl AdamUpdate for burn::backend::Cube {}

/// One pass over the tensors' memory, in place for those that nobody else holds.
fn on_host<B: HostAccess>(
    parameter: FloatTensor<B>,
    gradient: FloatTensor<B>,
    (first, second): (FloatTensor<B>, FloatTensor<B>),
    step: AdamStep,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let (shape, device) = (parameter.shape(), parameter.device());
    with_element!(parameter, T => {
        let old = B::read::<T>(&parameter);
        let [mut new, mut first, mut second] = [gradient, first, second].map(B::take::<T>);
        adam_in_place(&old, &mut new, (&mut first, &mut second), step);
        let tensor = |values: Vec<T>| write::<B, T>(values, shape.clone(), &device);
        (tensor(new), tensor(first), tensor(second))
    })
}

/// The parameter and the two moments after a step, from the parameter, its gradient and the
/// moments before; without autodiff, all of one shape.
pub(crate) fn adam<const D: usize>(
    parameter: Tensor<D>,
    gradient: Tensor<D>,
    [first, second]: [Tensor<D>; 2],
    step: AdamStep,
) -> (Tensor<D>, [Tensor<D>; 2]) {
    let (parameter, first, second) = <Dispatch as AdamUpdate>::adam(
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
