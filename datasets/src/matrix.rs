//! A dense matrix of 64-bit numbers, stored row by row.

/// A dense matrix, row-major: entry (i, j) is `values()[i * columns() + j]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Creates a matrix from its entries, row by row.
    ///
    /// # Panics
    /// When `values.len()` is not `rows * columns`.
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        assert!(
            rows.checked_mul(columns) == Some(values.len()),
            "a {rows} x {columns} matrix cannot be made from {} values",
            values.len()
        );
        Self {
            rows,
            columns,
            values,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All entries, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All entries, row by row, without copying.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Row `index`.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, index: usize) -> &[f64] {
        assert!(
            index < self.rows,
            "row {index} of a {} x {} matrix",
            self.rows,
            self.columns
        );
        &self.values[index * self.columns..(index + 1) * self.columns]
    }

    /// Column `index`, from the first row to the last.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn column(&self, index: usize) -> impl Iterator<Item = f64> + '_ {
        assert!(
            index < self.columns,
            "column {index} of a {} x {} matrix",
            self.rows,
            self.columns
        );
        self.values
            .iter()
            .skip(index)
            .step_by(self.columns)
            .copied()
    }

    /// Replaces NaN in column `index`.
    pub(crate) fn fill_missing(&mut self, index: usize, fill: f64) {
        let column = self.values.iter_mut().skip(index).step_by(self.columns);
        column
            .filter(|value| value.is_nan())
            .for_each(|value| *value = fill);
    }

    /// Entry (`row`, `column`).
    ///
    /// # Panics
    /// When there is no such entry.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        assert!(
            column < self.columns,
            "column {column} of a {} x {} matrix",
            self.rows,
            self.columns
        );
        self.row(row)[column]
    }

    /// The rows with the given `indices`, in that order; an index may occur more than once.
    ///
    /// # Panics
    /// When an index is not smaller than [`rows`](Self::rows).
    pub fn select(&self, indices: &[usize]) -> Self {
        let rows: Vec<&[f64]> = indices.iter().map(|&index| self.row(index)).collect();
        Self::new(indices.len(), self.columns, rows.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_read_back() {
        let matrix = Matrix::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(matrix.row(1), &[4.0, 5.0, 6.0]);
        assert_eq!(matrix.column(1).collect::<Vec<_>>(), vec![2.0, 5.0]);
        assert_eq!(matrix.get(0, 2), 3.0);
        assert_eq!(
            matrix.select(&[1, 0, 1]).values(),
            &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        );
    }

    /// The product of the sizes wraps around to one.
    #[test]
    #[should_panic(expected = "matrix cannot be made from 1 values")]
    fn sizes_whose_product_is_too_large_are_wrong() {
        Matrix::new(usize::MAX, usize::MAX, vec![0.0]);
    }

    #[test]
    #[should_panic(expected = "column 3 of a 2 x 3 matrix")]
    fn an_entry_that_is_not_there_is_named() {
        Matrix::new(2, 3, vec![0.0; 6]).get(1, 3);
    }

    #[test]
    #[should_panic(expected = "row 0 of a 0 x")]
    fn rows_that_are_not_there_are_named_whatever_the_sizes() {
        Matrix::new(0, usize::MAX, Vec::new()).select(&[0, 0]);
    }

    #[test]
    #[should_panic(expected = "a 2 x 3 matrix cannot be made from 5 values")]
    fn a_wrong_number_of_values_is_named() {
        Matrix::new(2, 3, vec![0.0; 5]);
    }
}
