//! Operations on the diagonal of a matrix.

#[cfg(feature = "cube")]
mod cube;

use burn::{
    backend::{TensorMetadata, tensor::FloatTensor},
    tensor::{Int, Tensor},
};

use crate::ops::{
    backward::{record, split},
    cpu::{CpuMemory, Scalar, matrix_dims, member, update_members, with_element, write},
    declaration::{dispatch, operations},
};

/// `matrix + value·I`, without forming the identity. In a batch, each member has its own value.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`, `value`: one per batch member (`[1]` without batch dimensions)
/// - result: `[…, M, M]`
///
/// # Panics
///
/// If the matrices are not square or the number of values is wrong.
#[track_caller]
pub fn add_to_diagonal<const D: usize>(matrix: Tensor<D>, value: Tensor<1>) -> Tensor<D> {
    let (dims, [values]) = (matrix.dims(), value.dims());
    let (batch, sides) = dims.split_at(D - 2);
    assert!(
        sides[0] == sides[1] && values == batch.iter().product::<usize>(),
        "add_to_diagonal: matrix {dims:?}, value [{values}]; expected [..., M, M] and one value per \
         matrix"
    );
    dispatch!(add_to_diagonal(matrix, value))
}

/// `matrix + diag(diagonal)`. In a batch, each member has its own diagonal; these are concatenated.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`, `diagonal`: M values per batch member, flat
/// - result: `[…, M, M]`
///
/// # Panics
///
/// If the matrices are not square or the diagonals have the wrong length.
#[track_caller]
pub fn add_diagonal<const D: usize>(matrix: Tensor<D>, diagonal: Tensor<1>) -> Tensor<D> {
    let (dims, [values]) = (matrix.dims(), diagonal.dims());
    assert!(
        dims[D - 2] == dims[D - 1] && values == dims[..D - 1].iter().product::<usize>(),
        "add_diagonal: matrix {dims:?}, diagonal [{values}]; expected [..., M, M] and M values per \
         matrix"
    );
    dispatch!(add_to_diagonal(matrix, diagonal))
}

/// The diagonal of every matrix.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`
/// - result: one row per batch member, `[batch, M]`
pub(crate) fn diagonals<const D: usize>(matrix: Tensor<D>) -> Tensor<2> {
    let dims = matrix.dims();
    let (size, batch) = (dims[D - 1], dims[..D - 2].iter().product::<usize>());
    let diagonal = Tensor::<1, Int>::arange(0..size as i64, &matrix.device()) * (size as i64 + 1);
    matrix.reshape([batch, size * size]).select(1, diagonal)
}

/// The mean of the diagonal of every matrix.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`
/// - result: one per batch member (`[1]` without batch dimensions)
pub(crate) fn mean_diagonal<const D: usize>(matrix: Tensor<D>) -> Tensor<1> {
    let size = matrix.dims()[D - 1];
    diagonals(matrix)
        .sum_dim(1)
        .mul_scalar(1.0 / size as f64)
        .squeeze_dim(1)
}

operations! {
    /// Backend implementation of the sum.
    trait DiagonalOps on devices {
        /// `A + value·I` for A, [M, M], or a batch with one value per member; or `A + diag(value)` with
        /// one value per diagonal entry.
        fn add_to_diagonal(matrix, value) -> FloatTensor<Self> = like(matrix),
            {
                let ([matrix, value], nodes) = split::<B, C, _>([matrix, value]);
                let each = value.shape()[0] > matrix_dims(&matrix.shape()).0;
                let sum = B::add_to_diagonal(matrix, value);
                record::<B, C, _, _>(nodes, each, sum, |each, gradient, wanted: [bool; 2]| {
                    let sum = if each { B::diagonal } else { B::trace };
                    let value = wanted[1].then(|| sum(gradient.clone()));
                    [Some(gradient), value]
                })
            };
    } backward {
        /// The diagonals of square matrices, concatenated.
        fn diagonal(matrix) -> FloatTensor<Self> = vector(matrix, members(matrix) * rows(matrix));

        /// The trace of each square matrix, one per batch member.
        fn trace(matrix) -> FloatTensor<Self> = vector(matrix, members(matrix));
    }
}

impl<B: CpuMemory> DiagonalOps for B {
    fn add_to_diagonal(matrix: FloatTensor<B>, value: FloatTensor<B>) -> FloatTensor<B> {
        let (batch, _, _) = matrix_dims(&matrix.shape());
        with_element!(matrix, T => {
            let added = B::read::<T>(&value);
            let each = added.len() > batch;
            update_members::<B, T>(matrix, |index, mut out| {
                let size = out.nrows();
                for i in 0..size {
                    out[(i, i)] += added[if each { index * size + i } else { index }];
                }
            })
        })
    }

    fn diagonal(matrix: FloatTensor<B>) -> FloatTensor<B> {
        let (batch, size, _) = matrix_dims(&matrix.shape());
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let entries = values.chunks_exact((size * size).max(1));
            let diagonals = entries.flat_map(|matrix| matrix.iter().copied().step_by(size + 1));
            write::<B, T>(diagonals.collect(), [batch * size], &matrix.device())
        })
    }

    fn trace(matrix: FloatTensor<B>) -> FloatTensor<B> {
        let (batch, size, _) = matrix_dims(&matrix.shape());
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let trace = |index| {
                let matrix = member(&values, index, size, size);
                let sum: f64 = (0..size).map(|i| matrix[(i, i)].to_f64()).sum();
                <T as Scalar>::from_f64(sum)
            };
            write::<B, T>((0..batch).map(trace).collect(), [batch], &matrix.device())
        })
    }
}
