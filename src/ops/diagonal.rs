//! Changes to the diagonal of a matrix.

use burn::{backend::Dispatch, tensor::Tensor};

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
