//! Dense matrices in double precision. Every operation is a plain loop that follows its definition.

use std::ops::{Index, IndexMut};

/// A row-major matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

impl Index<(usize, usize)> for Dense {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.values[row * self.columns + column]
    }
}

impl IndexMut<(usize, usize)> for Dense {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.values[row * self.columns + column]
    }
}

/// The values of the matrices, concatenated.
pub fn flatten(members: &[Dense]) -> Vec<f64> {
    members
        .iter()
        .flat_map(|member| member.values.clone())
        .collect()
}

impl Dense {
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), rows * columns, "matrix of {rows} x {columns}");
        Self {
            rows,
            columns,
            values,
        }
    }

    pub fn from_function(
        rows: usize,
        columns: usize,
        mut entry: impl FnMut(usize, usize) -> f64,
    ) -> Self {
        let mut values = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            for j in 0..columns {
                values.push(entry(i, j));
            }
        }
        Self::new(rows, columns, values)
    }

    pub fn identity(size: usize) -> Self {
        Self::from_function(size, size, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, i)]).collect()
    }

    pub fn transposed(&self) -> Self {
        Self::from_function(self.columns, self.rows, |i, j| self[(j, i)])
    }

    pub fn lower(&self) -> Self {
        let entry = |i, j| if j <= i { self[(i, j)] } else { 0.0 };
        Self::from_function(self.rows, self.columns, entry)
    }

    pub fn scaled(&self, factor: f64) -> Self {
        let values = self.values.iter().map(|value| value * factor).collect();
        Self::new(self.rows, self.columns, values)
    }

    pub fn plus(&self, other: &Self) -> Self {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns));
        let values = self.values.iter().zip(&other.values);
        Self::new(
            self.rows,
            self.columns,
            values.map(|(a, b)| a + b).collect(),
        )
    }

    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.scaled(-1.0))
    }

    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        let mut product = Self::new(
            self.rows,
            other.columns,
            vec![0.0; self.rows * other.columns],
        );
        for i in 0..self.rows {
            for k in 0..self.columns {
                let factor = self[(i, k)];
                for j in 0..other.columns {
                    product[(i, j)] += factor * other[(k, j)];
                }
            }
        }
        product
    }

    pub fn trace(&self) -> f64 {
        self.diagonal().iter().sum()
    }

    /// The lower Cholesky factor.
    pub fn cholesky(&self) -> Self {
        let size = self.rows;
        let mut factor = Self::new(size, size, vec![0.0; size * size]);
        for i in 0..size {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| factor[(i, k)] * factor[(j, k)]).sum();
                let rest = self[(i, j)] - sum;
                factor[(i, j)] = if i == j {
                    assert!(rest > 0.0, "reference Cholesky: pivot {i} is {rest}");
                    rest.sqrt()
                } else {
                    rest / factor[(j, j)]
                };
            }
        }
        factor
    }

    /// `L⁻¹B` for this lower-triangular matrix.
    pub fn solve_lower(&self, rhs: &Self) -> Self {
        let mut solution = rhs.clone();
        for i in 0..self.rows {
            for column in 0..rhs.columns {
                let sum: f64 = (0..i).map(|k| self[(i, k)] * solution[(k, column)]).sum();
                solution[(i, column)] = (rhs[(i, column)] - sum) / self[(i, i)];
            }
        }
        solution
    }

    /// `L⁻ᵀB` for this lower-triangular matrix.
    pub fn solve_lower_transposed(&self, rhs: &Self) -> Self {
        let mut solution = rhs.clone();
        for i in (0..self.rows).rev() {
            for column in 0..rhs.columns {
                let sum: f64 = (i + 1..self.rows)
                    .map(|k| self[(k, i)] * solution[(k, column)])
                    .sum();
                solution[(i, column)] = (rhs[(i, column)] - sum) / self[(i, i)];
            }
        }
        solution
    }

    /// `K⁻¹B` for this positive-definite matrix.
    pub fn solve(&self, rhs: &Self) -> Self {
        let factor = self.cholesky();
        factor.solve_lower_transposed(&factor.solve_lower(rhs))
    }

    /// The inverse of this positive-definite matrix.
    pub fn inverse(&self) -> Self {
        self.solve(&Self::identity(self.rows))
    }

    /// The log-determinant of this positive-definite matrix.
    pub fn log_determinant(&self) -> f64 {
        let pivots = self.cholesky().diagonal();
        pivots.iter().map(|pivot| 2.0 * pivot.ln()).sum()
    }
}

/// `mean_j cos ω_jᵀδ` of concatenated frequencies.
pub fn mean_cosine(frequencies: &[f64], difference: &[f64]) -> f64 {
    let each = frequencies.chunks_exact(difference.len());
    let count = each.len() as f64;
    let phase = |w: &[f64]| -> f64 { w.iter().zip(difference).map(|(w, d)| w * d).sum() };
    each.map(|w| phase(w).cos()).sum::<f64>() / count
}
