//! Eigendecompositions and products of matrices in double precision.

use faer::{Accum, Mat, MatRef, Side};

use crate::ops::cpu::{on_threads, product};

/// `A = U·diag(λ)·Uᵀ` for a symmetric matrix without negative eigenvalues.
pub struct Spectrum {
    vectors: Mat<f64>,
    values: Vec<f64>,
}

impl Spectrum {
    /// Decomposes a matrix, of which only the lower triangle is read. `None` if a value is not finite.
    pub fn of(matrix: MatRef<'_, f64>) -> Option<Self> {
        let size = matrix.nrows();
        let is_finite =
            (0..size).all(|row| (0..=row).all(|column| matrix[(row, column)].is_finite()));
        if !is_finite {
            return None;
        }
        let multiply_adds = size * size * size;
        let found = on_threads(multiply_adds, || matrix.self_adjoint_eigen(Side::Lower)).ok()?;
        // Rounding makes eigenvalues of singular matrices negative.
        let values = (found.S().column_vector().iter()).map(|value| value.max(0.0));
        Some(Self {
            values: values.collect(),
            vectors: found.U().to_owned(),
        })
    }

    /// U, with an eigenvector in each column.
    pub fn vectors(&self) -> MatRef<'_, f64> {
        self.vectors.as_ref()
    }

    /// λ
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

/// The product of two matrices.
pub fn times(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(left.nrows(), right.ncols());
    product(out.as_mut(), Accum::Replace, left, right, 1.0);
    out
}

/// The values of a matrix, row by row.
pub fn row_major(matrix: MatRef<'_, f64>) -> Vec<f64> {
    let row = |row: usize| (0..matrix.ncols()).map(move |column| matrix[(row, column)]);
    (0..matrix.nrows()).flat_map(row).collect()
}
