//! Access to the values of tensors on the CPU.

use std::borrow::Cow;

use burn::{
    backend::{Backend, DispatchDevice, TensorMetadata, tensor::FloatTensor},
    tensor::{Device, Shape, Tensor, TensorData},
};

use super::{scalar::Scalar, threads};

/// A backend whose tensors are in CPU memory: reading and writing them needs no transfer.
pub trait CpuMemory: Backend {
    /// The values of a tensor, row-major.
    fn read<T: Element>(tensor: &FloatTensor<Self>) -> Cow<'_, [T]>;

    /// The values of a tensor, row-major. Reuses its memory if that is not shared.
    fn take<T: Element>(tensor: FloatTensor<Self>) -> Vec<T> {
        match burn::tensor::try_read_sync(Self::float_into_data(tensor)) {
            Some(Ok(data)) => to_vec(data),
            Some(Err(error)) => panic!("the tensor could not be read: {error:?}"),
            None => panic!("the tensor cannot be read synchronously on this platform"),
        }
    }
}

/// Whether a tensor is in CPU memory.
pub fn is_on_cpu<const D: usize>(tensor: &Tensor<D>) -> bool {
    is_cpu(tensor.device())
}

/// Whether tensors on this device are in CPU memory.
pub(crate) fn is_cpu(device: Device) -> bool {
    match device.without_autodiff().as_dispatch() {
        #[cfg(feature = "flex")]
        DispatchDevice::Flex(_) => true,
        #[cfg(feature = "ndarray")]
        DispatchDevice::NdArray(_) => true,
        _ => false,
    }
}

/// Whether double precision costs little on this device: on CPUs, and on the devices of workers that
/// have it, most of which are CPUs.
pub(crate) fn has_cheap_doubles(device: Device) -> bool {
    #[cfg(feature = "remote")]
    if matches!(
        device.clone().without_autodiff().as_dispatch(),
        DispatchDevice::Remote(_)
    ) {
        return device.supports_dtype(burn::tensor::DType::F64);
    }
    is_cpu(device)
}

/// The two element types, which implement the traits of both burn and the kernels.
pub trait Element: Scalar + burn::tensor::Element {}
impl Element for f32 {}
impl Element for f64 {}

/// Creates a tensor with the given values.
pub fn write<B: Backend, T: Element>(
    values: Vec<T>,
    shape: impl Into<Shape>,
    device: &B::Device,
) -> FloatTensor<B> {
    B::float_from_data(TensorData::new(values, shape.into()), device)
}

/// Creates a tensor with the given values and the shape and device of another.
pub fn write_like<B: Backend, T: Element>(
    values: Vec<T>,
    other: &FloatTensor<B>,
) -> FloatTensor<B> {
    write::<B, T>(values, other.shape(), &other.device())
}

/// Runs `$body` with `$element` standing for the element type of `$tensor`.
macro_rules! with_element {
    ($tensor:expr, $element:ident => $body:expr) => {
        match burn::backend::TensorMetadata::dtype(&$tensor) {
            burn::tensor::DType::F32 => {
                type $element = f32;
                $body
            }
            burn::tensor::DType::F64 => {
                type $element = f64;
                $body
            }
            other => panic!("burn-gp computes in f32 and f64, not in {other:?}"),
        }
    };
}
pub(in crate::ops) use with_element;

/// The number of matrices and their sizes, from a shape `[…, rows, columns]`.
pub fn matrix_dims(shape: &Shape) -> (usize, usize, usize) {
    let rank = shape.num_dims();
    let (rows, columns) = (shape[rank - 2], shape[rank - 1]);
    let batch = (0..rank - 2).map(|axis| shape[axis]).product();
    (batch, rows, columns)
}

/// A shape `[…, rows, columns]` with the leading dimensions of another.
pub fn with_matrix_dims(mut shape: Shape, rows: usize, columns: usize) -> Shape {
    let rank = shape.num_dims();
    shape.as_mut_slice()[rank - 2..].copy_from_slice(&[rows, columns]);
    shape
}

#[cfg(feature = "flex")]
impl CpuMemory for burn::backend::Flex {
    fn read<T: Element>(tensor: &FloatTensor<Self>) -> Cow<'_, [T]> {
        match tensor.as_slice::<T>() {
            Some(values) => Cow::Borrowed(values),
            None => Cow::Owned(to_vec(tensor.clone().into_data())),
        }
    }

    fn take<T: Element>(tensor: FloatTensor<Self>) -> Vec<T> {
        if tensor.is_unique() {
            to_vec(tensor.into_data())
        } else {
            threads::copied(&Self::read::<T>(&tensor))
        }
    }
}

#[cfg(feature = "ndarray")]
impl CpuMemory for burn::backend::NdArray {
    fn read<T: Element>(tensor: &FloatTensor<Self>) -> Cow<'_, [T]> {
        use burn::backend::ndarray::NdArrayTensor;
        let borrowed = match tensor {
            NdArrayTensor::F32(storage) => slice_of(storage.view()).and_then(reinterpret),
            NdArrayTensor::F64(storage) => slice_of(storage.view()).and_then(reinterpret),
            _ => None,
        };
        match borrowed {
            Some(values) => Cow::Borrowed(values),
            None => Cow::Owned(Self::take(tensor.clone())),
        }
    }
}

/// The memory of a standard-layout view, for as long as the array lives.
#[cfg(feature = "ndarray")]
fn slice_of<'a, T>(view: ndarray::ArrayView<'a, T, ndarray::IxDyn>) -> Option<&'a [T]> {
    view.to_slice()
}

#[cfg(feature = "ndarray")]
fn reinterpret<T: Element, U: Element>(values: &[T]) -> Option<&[U]> {
    (<T as burn::tensor::Element>::dtype() == <U as burn::tensor::Element>::dtype())
        .then(|| bytemuck::cast_slice(values))
}

/// The values of tensor data whose type the caller has checked.
fn to_vec<T: Element>(data: TensorData) -> Vec<T> {
    match data.try_into_vec() {
        Ok(values) => values,
        Err(error) => panic!("the type of tensor data differs from that of its tensor: {error:?}"),
    }
}
