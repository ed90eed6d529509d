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

/// The mean of the diagonal of every matrix.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`
/// - result: one a batch member (`[1]` without batch dimensions)
pub(crate) fn mean_diagonal<const D: usize>(matrix: Tensor<D>) -> Tensor<1> {
    let dims = matrix.dims();
    let (size, batch) = (dims[D - 1], dims[..D - 2].iter().product::<usize>());
    let diagonal = Tensor::<1, Int>::arange(0..size as i64, &matrix.device()) * (size as i64 + 1);
    let diagonals = matrix.reshape([batch, size * size]).select(1, diagonal); // [batch, M]
    diagonals
        .sum_dim(1)
        .mul_scalar(1.0 / size as f64)
        .squeeze_dim(1)
}
