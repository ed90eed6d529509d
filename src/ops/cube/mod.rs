//! Building blocks that operations share on GPUs: views of tensors, new tensors, launches, and matrix
//! products of full accuracy. They do not depend on any operation.
//!
//! # Rules for kernels
//!
//! - Kernels only use operations that every runtime has: no plane (subgroup) instructions, no atomics, no
//!   dynamic cube counts, at most 16 KiB of shared memory.
//! - A kernel reads its inputs by their strides, or after [`contiguous`], because CUDA pads rows.
//! - Sums are trees or have few terms, so that they stay accurate in single precision.
//! - No step may depend on the order of operations: Mesa's compiler turns `n·a + n·b` into `n·(a + b)`, and
//!   compensated sums may lose their compensation.

pub mod exponential;
mod finite;
mod gemm;
pub mod logarithm;
mod reduction;
pub mod sums;
mod work;

use std::ops::Range;

use burn::{
    backend::TensorMetadata,
    tensor::{DType, Shape},
};
use burn_cubecl::{
    cubecl::{
        self,
        prelude::{CubeCount, CubeDim},
    },
    kernel::{into_contiguous, slice, untile},
    ops::numeric::{empty_device_contiguous_dtype, ones_client, zeros_client},
};

pub use burn_cubecl::{CubeBackend, tensor::CubeTensor};
pub use finite::{is_finite, is_nan};
pub use gemm::{Entries, Form, Part, Target, product, product_of};
pub use reduction::{REDUCING, Reduction, combine, reduce};
pub use sums::row_sums;
pub use work::{Argument, count_operations, work_so_far};

/// The element type of a kernel for tensors of this type.
pub fn element(tensor: &CubeTensor) -> cubecl::ir::ElemType {
    burn::backend::cubecl::dtype_to_storage_type(tensor.dtype)
}

/// The tensor with its values row by row, without gaps; copied only if necessary.
pub fn contiguous(tensor: CubeTensor) -> CubeTensor {
    into_contiguous(tensor)
}

/// A tensor that a kernel may change: the tensor itself if its values lie row by row and it has no other
/// owner, otherwise a copy.
pub fn writable(tensor: CubeTensor) -> CubeTensor {
    let tensor = contiguous(tensor);
    if tensor.can_mut() || tensor.shape().num_elements() == 0 {
        return tensor;
    }
    let (client, device, dtype) = (tensor.client.clone(), tensor.device.clone(), tensor.dtype);
    let kind = element(&tensor);
    let copy = cubecl::std::tensor::into_contiguous(&client, tensor.binding(), kind);
    CubeTensor::new(client, copy.handle, *copy.metadata, device, dtype)
}

/// A tensor of unspecified values, with the device and the type of another.
pub fn empty_like(other: &CubeTensor, shape: impl Into<Shape>) -> CubeTensor {
    empty_of(other, shape, other.dtype)
}

/// A tensor of unspecified values and the given type, on the device of another.
pub fn empty_of(other: &CubeTensor, shape: impl Into<Shape>, dtype: DType) -> CubeTensor {
    let (client, device) = (other.client.clone(), other.device.clone());
    empty_device_contiguous_dtype(client, device, shape.into(), dtype)
}

/// Zeros, with the device and the type of another tensor.
pub fn zeros_like(other: &CubeTensor, shape: impl Into<Shape>) -> CubeTensor {
    let (client, device) = (other.client.clone(), other.device.clone());
    zeros_client(client, device, shape.into(), other.dtype)
}

/// Ones, with the device and the type of another tensor.
pub fn ones_like(other: &CubeTensor, shape: impl Into<Shape>) -> CubeTensor {
    let (client, device) = (other.client.clone(), other.device.clone());
    ones_client(client, device, shape.into(), other.dtype)
}

/// A view of matrices `[…, rows, columns]` as `[batch, rows, columns]`. Rows and columns keep their strides;
/// joining several batch dimensions may require a copy.
pub fn matrices(tensor: CubeTensor) -> CubeTensor {
    let tensor = untile(tensor);
    let shape = tensor.shape();
    let rank = shape.num_dims();
    if rank > 3 {
        let batch = shape.as_slice()[..rank - 2].iter().product();
        let shape = Shape::new([batch, shape[rank - 2], shape[rank - 1]]);
        return with_shape(contiguous(tensor), shape);
    }
    if rank == 3 {
        return tensor;
    }
    let mut tensor = tensor;
    let strides = tensor.meta.strides();
    let strides = [shape[0] * strides[0], strides[0], strides[1]];
    *tensor.meta = cubecl::zspace::metadata::Metadata::new(
        Shape::new([1, shape[0], shape[1]]),
        cubecl::zspace::Strides::new(&strides),
    );
    tensor
}

/// The same values in another shape.
///
/// # Panics
///
/// If the tensor is not contiguous or has a different number of values.
pub fn with_shape(tensor: CubeTensor, shape: impl Into<Shape>) -> CubeTensor {
    burn_cubecl::ops::reshape(tensor, shape.into())
}

/// The transposed matrices, as a view.
pub fn transposed(tensor: CubeTensor) -> CubeTensor {
    let mut tensor = untile(tensor);
    let rank = tensor.meta.num_dims();
    tensor.meta.swap(rank - 2, rank - 1);
    tensor
}

/// Some rows and columns of matrices `[batch, rows, columns]`: a view if their memory layout allows it,
/// otherwise a copy.
pub fn block(tensor: CubeTensor, rows: Range<usize>, columns: Range<usize>) -> CubeTensor {
    let batch = tensor.shape()[0];
    slice(tensor, &[0..batch, rows, columns])
}

/// Threads in a cube of one dimension.
pub const THREADS: u32 = 64;

/// Cubes of [`THREADS`] threads, with at least one thread per item.
pub fn cubes_for(tensor: &CubeTensor, items: usize) -> (CubeCount, CubeDim) {
    let dim = CubeDim::new_1d(THREADS);
    let count = cubecl::calculate_cube_count_elemwise(&tensor.client, items, dim);
    (count, dim)
}
