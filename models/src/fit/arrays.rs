//! Arrays of the crate `ndarray` as matrices.

use ndarray::{ArrayBase, Data, Ix1, Ix2, RawData};

use super::matrix::{Matrix, Number};

/// Rows and columns of any memory layout.
///
/// ```
/// use burn_gp_models::Matrix;
/// use ndarray::{Array, array, s};
///
/// let table = array![[1.0_f32, 2.0, 0.5], [3.0, 4.0, 0.7]];
/// assert_eq!(Matrix::from(&table.slice(s![.., ..2])).dims(), [2, 2]);
/// assert_eq!(Matrix::from(Array::linspace(0.0, 1.0, 5)).dims(), [5, 1]);
/// ```
impl<T: Number, S: Data<Elem = T>> From<&ArrayBase<S, Ix2>> for Matrix {
    fn from(array: &ArrayBase<S, Ix2>) -> Self {
        let (rows, columns) = array.dim();
        Self::of_numbers(array.iter().copied(), [rows, columns])
    }
}

/// Numbers as one column.
impl<T: Number, S: Data<Elem = T>> From<&ArrayBase<S, Ix1>> for Matrix {
    fn from(array: &ArrayBase<S, Ix1>) -> Self {
        Self::of_numbers(array.iter().copied(), [array.len(), 1])
    }
}

/// Arrays by value, like references to them.
impl<S: RawData, D> From<ArrayBase<S, D>> for Matrix
where
    Self: for<'a> From<&'a ArrayBase<S, D>>,
{
    fn from(array: ArrayBase<S, D>) -> Self {
        (&array).into()
    }
}
