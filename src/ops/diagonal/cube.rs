//! Diagonals on GPUs.

use burn::{backend::TensorMetadata, tensor::Shape};
use burn_cubecl::cubecl::{
    self,
    prelude::*,
    zspace::{Strides, metadata::Metadata},
};

use super::DiagonalOps;
use crate::ops::cube::{
    Argument, CubeBackend, CubeTensor, contiguous, cubes_for, element, matrices, row_sums,
    with_shape, writable,
};

impl DiagonalOps for CubeBackend {
    /// Works in place on a matrix that is not shared.
    fn add_to_diagonal(matrix: CubeTensor, value: CubeTensor) -> CubeTensor {
        let matrix = writable(matrix);
        let target = matrices(matrix.clone());
        let (batch, size) = (target.shape()[0], target.shape()[1]);
        if batch * size == 0 {
            return matrix;
        }
        let value = contiguous(value);
        let each = value.shape()[0] > batch;
        let (client, dtype) = (matrix.client.clone(), element(&matrix));
        let (cubes, dim) = cubes_for(&matrix, batch * size);
        // SAFETY: the kernel checks a thread's index against the number of diagonal entries; there is one
        // value for each.
        unsafe {
            add_kernel::launch_unchecked(
                &client,
                cubes,
                dim,
                target.required_address_type(),
                value.argument(),
                target.argument(),
                each,
                dtype,
            );
        }
        matrix
    }

    fn diagonal(matrix: CubeTensor) -> CubeTensor {
        let rows = view(matrix);
        let count = rows.shape().num_elements();
        with_shape(contiguous(rows), [count])
    }

    fn trace(matrix: CubeTensor) -> CubeTensor {
        row_sums(view(matrix))
    }
}

/// The diagonals as the rows of a matrix, `[batch, M]`, without a copy.
fn view(matrix: CubeTensor) -> CubeTensor {
    let mut matrix = matrices(matrix);
    let (shape, strides) = (matrix.shape(), matrix.meta.strides().clone());
    *matrix.meta = Metadata::new(
        Shape::new([shape[0], shape[1]]),
        Strides::new(&[strides[0], strides[1] + strides[2]]),
    );
    matrix
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn add_kernel<F: Float>(
    value: &Tensor<F>,
    matrix: &mut Tensor<F>,
    #[comptime] each: bool,
    #[define(F)] _dtype: ElemType,
) {
    let size = matrix.shape(1);
    let (member, row) = (ABSOLUTE_POS / size, ABSOLUTE_POS % size);
    if member >= matrix.shape(0) {
        terminate!();
    }
    let source = if comptime!(each) {
        ABSOLUTE_POS
    } else {
        member
    };
    let place = (member * size + row) * size + row;
    matrix[place] += value[source];
}
