//! The known cells of a table solved for.

use core::f64::consts::PI;

use faer::{Mat, MatMut, MatRef, Side};

use super::{
    spectrum::times,
    system::{System, Table},
};
use crate::ops::cpu::{self, solve_in_place};

/// Tables of N rows and P columns side by side, column by column, so that each is a column of NP values, too.
pub struct Tables {
    values: Vec<f64>,
    rows: usize,
    columns: usize,
}

impl Tables {
    fn zeros(rows: usize, columns: usize, count: usize) -> Self {
        Self {
            values: vec![0.0; rows * columns * count],
            rows,
            columns,
        }
    }

    fn area(&self) -> usize {
        self.rows * self.columns
    }

    /// The number of tables.
    pub fn count(&self) -> usize {
        self.values.len() / self.area()
    }

    /// All of them, `[N, count·P]`.
    pub fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.rows, self.values.len() / self.rows)
    }

    /// One of them, `[N, P]`.
    pub fn table(&self, index: usize) -> MatRef<'_, f64> {
        let values = &self.values[index * self.area()..][..self.area()];
        MatRef::from_column_major_slice(values, self.rows, self.columns)
    }

    /// Each times a matrix, `[P, P]`, from the right.
    pub fn times(&self, matrix: MatRef<'_, f64>) -> Self {
        let mut out = Self::zeros(self.rows, self.columns, self.count());
        let all = out.values.chunks_mut(self.area()).enumerate();
        for (index, values) in all {
            let own = MatMut::from_column_major_slice_mut(values, self.rows, self.columns);
            cpu::product(own, faer::Accum::Replace, self.table(index), matrix, 1.0);
        }
        out
    }
}

/// `K̃_oo⁻¹` of the known cells o, as `G − VVᵀ` with `G = K̃⁻¹` of the complete table and `VVᵀ = G_:h·G_hh⁻¹·G_h:`,
/// and the log density.
pub struct Solution {
    /// `α̃ = K̃_oo⁻¹ỹ` as a table that is zero in the holes, and after it the columns of V.
    tables: Tables,
    pub log_density: f64,
}

impl Solution {
    /// `None` if the holes have no factor.
    pub fn new(system: &System, table: &Table<'_>) -> Option<Self> {
        let (rows, columns) = table.size();
        let mut scaled = Mat::<f64>::zeros(rows, columns);
        for ((row, column), value) in table.known().zip(table.residual) {
            scaled[(row, column)] = value / system.deviations[column];
        }
        let holes: Vec<(usize, usize)> = (table.holes.iter())
            .map(|place| (place / columns, place % columns))
            .collect();
        let mut tables = Tables::zeros(rows, columns, 1 + holes.len());
        let (weights, returned) = tables.values.split_at_mut(rows * columns);
        let solved = system.solve(scaled.as_ref());
        for column in 0..columns {
            for row in 0..rows {
                weights[column * rows + row] = solved[(row, column)];
            }
        }
        let mut log_determinant = system.log_determinant();
        if !holes.is_empty() {
            write_columns_of_inverse(system, &holes, returned);
            log_determinant += remove_holes(&holes, rows, weights, returned)?;
        }
        let mut fit = 0.0;
        for (row, column) in table.known() {
            fit += scaled[(row, column)] * weights[column * rows + row];
            log_determinant += 2.0 * system.deviations[column].ln();
        }
        let constant = table.residual.len() as f64 * (2.0 * PI).ln();
        Some(Self {
            tables,
            log_density: -0.5 * (fit + log_determinant + constant),
        })
    }

    /// α̃, `[N, P]`
    pub fn weights(&self) -> MatRef<'_, f64> {
        self.tables.table(0)
    }

    /// α̃ and V
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// α̃ and the columns of V, each times a matrix, `[P, P]`, from the right.
    pub fn times(&self, matrix: MatRef<'_, f64>) -> Tables {
        self.tables.times(matrix)
    }
}

/// `G_:h`: the column of hole (i, p) is the table `U_x((u_i v_pᵀ)/H)U_Γᵀ`, where u_i and v_p are rows of the
/// eigenvectors.
fn write_columns_of_inverse(system: &System, holes: &[(usize, usize)], out: &mut [f64]) {
    let (rows, columns) = (system.inverse.nrows(), system.inverse.ncols());
    let (u, v) = (system.inputs.vectors(), system.outputs.vectors());
    let mut in_basis = Tables::zeros(rows, columns, holes.len());
    for (values, &(row, column)) in in_basis.values.chunks_mut(rows * columns).zip(holes) {
        for q in 0..columns {
            for j in 0..rows {
                values[q * rows + j] = u[(row, j)] * v[(column, q)] * system.inverse[(j, q)];
            }
        }
    }
    let rotated = times(u, in_basis.view());
    for (index, values) in out.chunks_mut(rows * columns).enumerate() {
        let own = MatMut::from_column_major_slice_mut(values, rows, columns);
        let rotated = rotated.subcols(index * columns, columns);
        cpu::product(own, faer::Accum::Replace, rotated, v.transpose(), 1.0);
    }
}

/// Replaces `G_:h` by `V = G_:h·L⁻ᵀ` for the factor L of `G_hh`, and weights `Gỹ` by those of the known cells,
/// `Gỹ − V·L⁻¹(Gỹ)_h`. Returns `log|G_hh|`; `None` if there is no factor.
fn remove_holes(
    holes: &[(usize, usize)],
    rows: usize,
    weights: &mut [f64],
    returned: &mut [f64],
) -> Option<f64> {
    let (count, cells) = (holes.len(), weights.len());
    let place = |hole: usize| holes[hole].1 * rows + holes[hole].0;
    let of_holes = Mat::from_fn(count, count, |i, j| returned[j * cells + place(i)]);
    let factor = of_holes.llt(Side::Lower).ok()?;
    let lower = factor.L();
    let rhs = MatMut::from_row_major_slice_mut(returned, count, cells);
    solve_in_place(lower, cpu::Side::Lower, rhs);
    let mut at_holes: Vec<f64> = (0..count).map(|hole| weights[place(hole)]).collect();
    let column = MatMut::from_row_major_slice_mut(&mut at_holes, count, 1);
    solve_in_place(lower, cpu::Side::Lower, column);
    for (values, factor) in returned.chunks(cells).zip(&at_holes) {
        for (weight, value) in weights.iter_mut().zip(values) {
            *weight -= factor * value;
        }
    }
    (0..count).for_each(|hole| weights[place(hole)] = 0.0);
    Some((0..count).map(|hole| 2.0 * lower[(hole, hole)].ln()).sum())
}
