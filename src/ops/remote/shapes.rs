//! Shapes and types of results.

use burn::{
    backend::{Remote, TensorMetadata, tensor::FloatTensor},
    tensor::{DType, Shape},
};

use crate::ops::{
    cholesky::Status,
    cpu::{matrix_dims, with_matrix_dims},
};

type Tensor = FloatTensor<Remote>;

/// The shape and the type of one result.
#[derive(Clone, Debug)]
pub struct Output {
    pub shape: Shape,
    pub dtype: DType,
}

/// A result with the type of a tensor and a different shape.
pub fn shaped(tensor: &Tensor, shape: impl Into<Shape>) -> Output {
    Output {
        shape: shape.into(),
        dtype: tensor.dtype(),
    }
}

/// A result with the shape and the type of a tensor.
pub fn like(tensor: &Tensor) -> Output {
    shaped(tensor, tensor.shape())
}

/// `[length]`
pub fn vector(tensor: &Tensor, length: usize) -> Output {
    shaped(tensor, [length])
}

/// `[…, rows, columns]` with the batch dimensions of a tensor.
pub fn matrices(tensor: &Tensor, rows: usize, columns: usize) -> Output {
    shaped(tensor, with_matrix_dims(tensor.shape(), rows, columns))
}

/// The length of the first dimension.
pub fn outer(tensor: &Tensor) -> usize {
    tensor.shape()[0]
}

/// The second-to-last dimension.
pub fn rows(tensor: &Tensor) -> usize {
    matrix_dims(&tensor.shape()).1
}

/// The last dimension.
pub fn columns(tensor: &Tensor) -> usize {
    matrix_dims(&tensor.shape()).2
}

/// The number of matrices in a batch.
pub fn members(tensor: &Tensor) -> usize {
    matrix_dims(&tensor.shape()).0
}

/// The status of a factorization. It has the type of the matrix, as on GPUs.
pub fn status(matrix: &Tensor) -> Output {
    shaped(matrix, [members(matrix), Status::WIDTH])
}

/// The wanted gradients of tensors.
pub fn wanted_of<const N: usize>(tensors: [&Tensor; N], wanted: [bool; N]) -> [Option<Output>; N] {
    core::array::from_fn(|index| wanted[index].then(|| like(tensors[index])))
}

/// One sum for each column of each matrix.
pub fn column_sums(matrices: &Tensor) -> Output {
    let mut shape: Vec<usize> = matrices.shape().to_vec();
    shape.remove(shape.len() - 2);
    shaped(matrices, shape)
}
