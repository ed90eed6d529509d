//! Changes to the diagonal of a matrix.

use burn::{
    backend::Dispatch,
    tensor::{Int, Tensor},
};

use super::extension::LinearAlgebra;

/// `matrix + value·I`, without the identity.
///
/// # Shapes
///
/// - `matrix`: `[M, M]`, `value`: `[1]`
/// - result: `[M, M]`
///
/// # Panics
///
/// If the matrix is not square or there is more than one value.
#[track_caller]
pub fn add_to_diagonal(matrix: Tensor<2>, value: Tensor<1>) -> Tensor<2> {
    let ([rows, columns], [values]) = (matrix.dims(), value.dims());
    assert!(
        rows == columns && values == 1,
        "add_to_diagonal: matrix [{rows}, {columns}], value [{values}]; expected [M, M], [1]"
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
