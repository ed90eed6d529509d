//! Processes without some of the rows that they are conditioned on.

use std::collections::BTreeSet;

use burn::tensor::{Int, Tensor, TensorData};

use super::UpdateError;
use crate::{
    inducing::InducingPoints,
    ops::{CholeskyFactor, numbers},
    process::{ConditionedProcess, WhitenedCovariance, WithMean},
};

impl WithMean<ConditionedProcess> {
    /// The process without some of the rows that it is conditioned on, as after
    /// [`Exact::condition`](super::Exact::condition). The parameters stay, and so does this process. The result is that of
    /// conditioning on the other rows.
    ///
    /// Without row i, with `l` the entries of column i of the factor below the diagonal, the rows after it get the factor of
    /// `L₃₃L₃₃ᵀ + llᵀ` (P. Gill, G. Golub, W. Murray and M. Saunders, *Methods for Modifying Matrix Factorizations*,
    /// 1974, method C1). Nothing is subtracted, so that it does not fail. Time (N − i)² for each row, in double precision
    /// on the CPU.
    ///
    /// # Shapes
    ///
    /// - `rows`: zero-based, in the order in which the rows were given; repetitions count once
    ///
    /// # Errors
    ///
    /// When the process is not conditioned on the values of rows.
    ///
    /// # Panics
    ///
    /// If there is no such row, or no row would remain.
    #[track_caller]
    pub fn without_observations(&self, rows: &[usize]) -> Result<Self, UpdateError> {
        let process = self.process();
        let points: &InducingPoints =
            (process.inducing().downcast_ref()).ok_or(UpdateError::NoRows)?;
        let lower = process.factor().lower(); // [B, N, N]
        let [members, count, _] = lower.dims();
        if !matches!(process.spread(), WhitenedCovariance::Known) || members > 1 {
            return Err(UpdateError::NoRows);
        }
        let removed: BTreeSet<usize> = rows.iter().copied().collect();
        assert!(
            removed.last().is_none_or(|&row| row < count) && removed.len() < count,
            "rows {removed:?} of {count}; expected some of them, and not all"
        );
        if removed.is_empty() {
            return Ok(self.clone());
        }
        let place = (&lower.device(), lower.dtype());
        let mut triangle = Triangle::new(numbers(lower.transpose()), &process.whitened_mean());
        removed.iter().rev().for_each(|&row| triangle.remove(row));
        let size = triangle.columns.len();
        let factor = TensorData::new(triangle.lower(), [size, size]);
        let values = TensorData::new(triangle.values.concat(), [size, triangle.functions]);
        let kept: Vec<i64> = (0..count)
            .filter(|row| !removed.contains(row))
            .map(|row| row as i64)
            .collect();
        let kept = Tensor::<1, Int>::from_data(kept.as_slice(), place.0);
        let process = ConditionedProcess::new(
            process.kernels().clone(),
            InducingPoints::new(points.points().select(0, kept)),
            CholeskyFactor::<2>::from_nonsingular(Tensor::from_data(factor, place)),
            Tensor::<2>::from_data(values, place).transpose(),
            WhitenedCovariance::Known,
        );
        Ok(WithMean::new(process, self.mean().clone()))
    }
}

/// A lower-triangular factor L by columns, with the solutions `w = L⁻¹r` of P functions.
struct Triangle {
    /// Each from its diagonal entry down.
    columns: Vec<Vec<f64>>,
    /// Row n of w, P values.
    values: Vec<Vec<f64>>,
    functions: usize,
}

impl Triangle {
    /// From the rows of Lᵀ, and wᵀ, [P, N].
    fn new(rows: Vec<f64>, solution: &Tensor<2>) -> Self {
        let [functions, count] = solution.dims();
        let columns = (rows.chunks_exact(count).enumerate())
            .map(|(row, entries)| entries[row..].to_vec())
            .collect();
        let solution = numbers(solution.clone().transpose());
        Self {
            columns,
            values: solution
                .chunks_exact(functions)
                .map(<[f64]>::to_vec)
                .collect(),
            functions,
        }
    }

    /// Removes a row. Rotations turn `[L₃₃ l]` into `[L₃₃′ 0]`, and w with it.
    fn remove(&mut self, row: usize) {
        for (column, entries) in self.columns[..row].iter_mut().enumerate() {
            entries.remove(row - column);
        }
        let mut spare = self.columns.remove(row).split_off(1); // l
        let mut rest = self.values.remove(row);
        for place in 0..spare.len() {
            let entries = &mut self.columns[row + place];
            let diagonal = entries[0].hypot(spare[place]);
            let rotation = [entries[0] / diagonal, spare[place] / diagonal];
            rotate(rotation, entries, &mut spare[place..]);
            rotate(rotation, &mut self.values[row + place], &mut rest);
        }
    }

    /// L, row by row.
    fn lower(&self) -> Vec<f64> {
        let size = self.columns.len();
        let mut lower = vec![0.0; size * size];
        for (column, entries) in self.columns.iter().enumerate() {
            for (below, &entry) in entries.iter().enumerate() {
                lower[(column + below) * size + column] = entry;
            }
        }
        lower
    }
}

/// `(a, b)` becomes `(c·a + s·b, c·b − s·a)` for each pair of entries.
fn rotate([cosine, sine]: [f64; 2], first: &mut [f64], second: &mut [f64]) {
    for (a, b) in first.iter_mut().zip(second) {
        (*a, *b) = (cosine * *a + sine * *b, cosine * *b - sine * *a);
    }
}
