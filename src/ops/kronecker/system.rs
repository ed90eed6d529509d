//! The covariance of a complete table, in the basis of the eigenvectors.

use faer::{Mat, MatRef};

use super::spectrum::{Spectrum, times};

/// The covariances of a table and its known cells.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// K_x, `[N, N]`
    pub covariance: &'a [f64],
    /// Γ, `[P, P]`
    pub outputs: &'a [f64],
    /// σ², `[P]`
    pub noise: &'a [f64],
    /// The known cells row by row, `[n]`.
    pub residual: &'a [f64],
    /// The places `row·P + column` of the other cells, ascending.
    pub holes: &'a [usize],
}

impl Table<'_> {
    /// N and P
    pub fn size(&self) -> (usize, usize) {
        let outputs = self.noise.len();
        let cells = self.residual.len() + self.holes.len();
        (cells / outputs.max(1), outputs)
    }

    /// The row and the column of each known cell, row by row.
    pub fn known(&self) -> impl Iterator<Item = (usize, usize)> {
        let (rows, outputs) = self.size();
        let mut holes = self.holes.iter().copied().peekable();
        (0..rows * outputs)
            .filter(move |&place| holes.next_if_eq(&place).is_none())
            .map(move |place| (place / outputs, place % outputs))
    }
}

/// `K̃ = Γ̃ ⊗ K_x + I` with `Γ̃ = D^(−½)ΓD^(−½)`: the covariance of a complete table in units of the noise of each
/// output.
pub struct System {
    /// `K_x = U_xΛ_xU_xᵀ`
    pub inputs: Spectrum,
    /// `Γ̃ = U_ΓΛ_ΓU_Γᵀ`
    pub outputs: Spectrum,
    /// Γ̃, `[P, P]`
    pub coupling: Mat<f64>,
    /// `σ_p`, `[P]`
    pub deviations: Vec<f64>,
    /// `1/H_ip`, `[N, P]`
    pub inverse: Mat<f64>,
}

impl System {
    /// `None` if a value is not finite or a noise variance is not positive.
    pub fn new(table: &Table<'_>) -> Option<Self> {
        let (rows, count) = table.size();
        let is_positive = |&variance: &f64| variance > 0.0 && variance.is_finite();
        if !table.noise.iter().all(is_positive) {
            return None;
        }
        let deviations: Vec<f64> = table.noise.iter().map(|variance| variance.sqrt()).collect();
        let coupling = Mat::from_fn(count, count, |p, r| {
            table.outputs[p * count + r] / (deviations[p] * deviations[r])
        });
        let inputs = Spectrum::of(MatRef::from_row_major_slice(table.covariance, rows, rows))?;
        let outputs = Spectrum::of(coupling.as_ref())?;
        let inverse = Mat::from_fn(rows, count, |i, p| {
            1.0 / (1.0 + inputs.values()[i] * outputs.values()[p])
        });
        Some(Self {
            inputs,
            outputs,
            coupling,
            deviations,
            inverse,
        })
    }

    /// `Σ log H`, the log determinant of K̃.
    pub fn log_determinant(&self) -> f64 {
        let of_output = |p: usize| self.inverse.col(p).iter().map(|inverse| -inverse.ln());
        (0..self.deviations.len()).flat_map(of_output).sum()
    }

    /// `K̃⁻¹` times a table: `U_x((U_xᵀ Y U_Γ)/H)U_Γᵀ`.
    pub fn solve(&self, table: MatRef<'_, f64>) -> Mat<f64> {
        let (u, v) = (self.inputs.vectors(), self.outputs.vectors());
        let mut whitened = times(times(u.transpose(), table).as_ref(), v);
        for p in 0..whitened.ncols() {
            for i in 0..whitened.nrows() {
                whitened[(i, p)] *= self.inverse[(i, p)];
            }
        }
        times(times(u, whitened.as_ref()).as_ref(), v.transpose())
    }

    /// `D^½U_Γ`, `[P, P]`
    pub fn mixing(&self) -> Mat<f64> {
        let (count, vectors) = (self.deviations.len(), self.outputs.vectors());
        Mat::from_fn(count, count, |p, q| self.deviations[p] * vectors[(p, q)])
    }

    /// `D^(−½)Γ = Γ̃D^½`, `[P, P]`: from a table in units of the noise to functions of the inputs.
    pub fn to_outputs(&self) -> Mat<f64> {
        let count = self.deviations.len();
        Mat::from_fn(count, count, |p, r| {
            self.coupling[(p, r)] * self.deviations[r]
        })
    }

    /// `(λ^Γ_p)²/H_ip`, `[N, P]`
    pub fn removed(&self) -> Mat<f64> {
        Mat::from_fn(self.inverse.nrows(), self.inverse.ncols(), |i, p| {
            self.outputs.values()[p].powi(2) * self.inverse[(i, p)]
        })
    }
}
