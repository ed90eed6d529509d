//! Derivatives with respect to the weights and variances of rows given neighbors.

use super::latent_precision::{LatentPrecision, add};
use crate::ops::in_parts;

/// The rows that a thread takes at least.
const ROWS: usize = 1024;

/// The derivatives of a function of `Q = BᵀD⁻¹B`.
pub struct PrecisionSlopes {
    /// With respect to b, and in the last column to d, [N, m + 1].
    values: Vec<f64>,
    width: usize,
}

impl PrecisionSlopes {
    pub fn zero(prior: &LatentPrecision) -> Self {
        Self {
            values: vec![0.0; prior.rows() * (prior.width() + 1)],
            width: prior.width(),
        }
    }

    /// The derivatives of `−½·log|D|`.
    pub fn add_normalizer(&mut self, prior: &LatentPrecision) {
        let rows = self.values.chunks_exact_mut(self.width + 1);
        for (row, variance) in rows.zip(prior.variances()) {
            row[self.width] -= 0.5 / variance;
        }
    }

    /// The derivatives of `factor·Σ xᵀQw` over the columns of x and w, [N, L]: for `∂Q = ∂BᵀD⁻¹B + BᵀD⁻¹∂B −
    /// BᵀD⁻²∂D·B`, `b̄_ic = −(x_c·(Bw)_i + (Bx)_i·w_c)/d_i` and `d̄_i = −(Bx)_i·(Bw)_i/d_i²`.
    pub fn add<const L: usize>(
        &mut self,
        prior: &LatentPrecision,
        factor: f64,
        [left, right]: [&[[f64; L]]; 2],
    ) {
        self.for_each_row(&|row, slopes| {
            let scale = -factor / prior.variances()[row];
            let [of_left, of_right] = [left, right].map(|values| prior.error(row, values));
            for ((neighbor, _), slope) in prior.entries(row).zip(&mut *slopes) {
                let products =
                    product(&left[neighbor], &of_right) + product(&of_left, &right[neighbor]);
                *slope += scale * products;
            }
            let products = product(&of_left, &of_right);
            slopes[slopes.len() - 1] += scale * products / prior.variances()[row];
        });
    }

    /// The derivatives of `factor·Σ wᵀBᵀEBw` with respect to b, for the diagonal of `E^{-½}`:
    /// `b̄_ic = −2E_i·w_c·(Bw)_i`.
    pub fn add_of_weights<const L: usize>(
        &mut self,
        prior: &LatentPrecision,
        factor: f64,
        roots: &[f64],
        values: &[[f64; L]],
    ) {
        self.for_each_row(&|row, slopes| {
            let mut error = [0.0; L];
            add(
                &mut error,
                -2.0 * factor / roots[row].powi(2),
                &prior.error(row, values),
            );
            for ((neighbor, _), slope) in prior.entries(row).zip(slopes) {
                *slope += product(&error, &values[neighbor]);
            }
        });
    }

    fn for_each_row(&mut self, work: &(impl Fn(usize, &mut [f64]) + Sync)) {
        let unit = self.width + 1;
        let parts = self.values.len() / unit / ROWS;
        in_parts(&mut self.values, unit, parts, &|rows, first| {
            for (index, slopes) in rows.chunks_exact_mut(unit).enumerate() {
                work(first + index, slopes);
            }
        });
    }

    /// b̄ and d̄ of a row.
    pub fn row(&self, row: usize) -> (&[f64], f64) {
        let values = &self.values[row * (self.width + 1)..][..self.width + 1];
        (&values[..self.width], values[self.width])
    }
}

#[inline(always)]
fn product<const L: usize>(first: &[f64; L], second: &[f64; L]) -> f64 {
    first.iter().zip(second).map(|(a, b)| a * b).sum()
}
