//! Changes to the diagonal of a matrix.

use burn::{
    backend::Dispatch,
    tensor::{Int, Tensor},
};

use super::extension::LinearAlgebra;

/// `matrix + value·I`, without the identity; for a batch, each member with a value of its own.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`, `value`: one a batch member (`[1]` without batch dimensions)
/// - result: `[…, M, M]`
///
/// # Panics
///
/// If the matrices are not square or there is another number of values.
#[track_caller]
pub fn add_to_diagonal<const D: usize>(matrix: Tensor<D>, value: Tensor<1>) -> Tensor<D> {
    let (dims, [values]) = (matrix.dims(), value.dims());
    let (batch, sides) = dims.split_at(D - 2);
    assert!(
        sides[0] == sides[1] && values == batch.iter().product::<usize>(),
        "add_to_diagonal: matrix {dims:?}, value [{values}]; expected [..., M, M] and one value a \
         matrix"
    );
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::add_to_diagonal(
        matrix.into_dispatch(),
        value.into_dispatch(),
    ))
}

/// `matrix + diag(diagonal)`; for a batch, each member with a diagonal of its own, one after the
/// other.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`, `diagonal`: M numbers a batch member, flat
/// - result: `[…, M, M]`
///
/// # Panics
///
/// If the matrices are not square or the diagonals have another length.
#[track_caller]
pub fn add_diagonal<const D: usize>(matrix: Tensor<D>, diagonal: Tensor<1>) -> Tensor<D> {
    let (dims, [values]) = (matrix.dims(), diagonal.dims());
    assert!(
        dims[D - 2] == dims[D - 1] && values == dims[..D - 1].iter().product::<usize>(),
        "add_diagonal: matrix {dims:?}, diagonal [{values}]; expected [..., M, M] and M values a \
         matrix"
    );
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::add_to_diagonal(
        matrix.into_dispatch(),
        diagonal.into_dispatch(),
    ))
}

/// The diagonal of every matrix.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`
/// - result: one row a batch member, `[batch, M]`
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
/// - result: one a batch member (`[1]` without batch dimensions)
pub(crate) fn mean_diagonal<const D: usize>(matrix: Tensor<D>) -> Tensor<1> {
    let size = matrix.dims()[D - 1];
    diagonals(matrix)
        .sum_dim(1)
        .mul_scalar(1.0 / size as f64)
        .squeeze_dim(1)
}
