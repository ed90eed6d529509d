//! The precision of latent values given neighbors.

use std::sync::Arc;

use crate::neighbors::NeighborSets;

/// The columns that are solved together, one in each lane of the vector registers.
pub const LANES: usize = 8;

/// Values of all rows for L right-hand sides at once, [N, L].
pub type Columns<const L: usize> = Vec<[f64; L]>;

/// `Q = BᵀD⁻¹B`, the inverse covariance of latent values `f_i = bᵀf_c + √d·ε`. Row i of B has one on the diagonal
/// and −b at the neighbors of i, which come before i; its determinant is one.
#[derive(Debug)]
pub struct LatentPrecision {
    neighbors: Arc<NeighborSets>,
    /// b, [N, m]
    weights: Vec<f64>,
    /// d, `[N]`
    variances: Vec<f64>,
}

impl LatentPrecision {
    pub fn new(neighbors: Arc<NeighborSets>, weights: Vec<f64>, variances: Vec<f64>) -> Self {
        debug_assert_eq!(weights.len(), neighbors.rows() * neighbors.width());
        debug_assert_eq!(variances.len(), neighbors.rows());
        Self {
            neighbors,
            weights,
            variances,
        }
    }

    /// N
    pub fn rows(&self) -> usize {
        self.variances.len()
    }

    /// m
    pub fn width(&self) -> usize {
        self.neighbors.width()
    }

    /// d, `[N]`
    pub fn variances(&self) -> &[f64] {
        &self.variances
    }

    /// The neighbors of a row with their weights.
    pub fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let weights = &self.weights[row * self.width()..];
        let neighbors = self.neighbors.row(row).iter();
        neighbors
            .zip(weights)
            .map(|(&neighbor, &weight)| (neighbor as usize, weight))
    }

    /// Replaces v by Bv.
    pub fn multiply<const L: usize>(&self, values: &mut [[f64; L]]) {
        for row in (0..self.rows()).rev() {
            values[row] = self.error(row, values);
        }
    }

    /// `(Bv)_i = v_i − bᵀv_c`
    pub fn error<const L: usize>(&self, row: usize, values: &[[f64; L]]) -> [f64; L] {
        let mut value = values[row];
        for (neighbor, weight) in self.entries(row) {
            add(&mut value, -weight, &values[neighbor]);
        }
        value
    }

    /// Replaces v by Bᵀv.
    pub fn multiply_transposed<const L: usize>(&self, values: &mut [[f64; L]]) {
        for row in 0..self.rows() {
            let value = values[row];
            for (neighbor, weight) in self.entries(row) {
                add(&mut values[neighbor], -weight, &value);
            }
        }
    }

    /// Replaces v by B⁻¹v, by forward substitution.
    pub fn solve<const L: usize>(&self, values: &mut [[f64; L]]) {
        for row in 0..self.rows() {
            let mut value = values[row];
            for (neighbor, weight) in self.entries(row) {
                add(&mut value, weight, &values[neighbor]);
            }
            values[row] = value;
        }
    }

    /// Replaces v by B⁻ᵀv, by backward substitution.
    pub fn solve_transposed<const L: usize>(&self, values: &mut [[f64; L]]) {
        for row in (0..self.rows()).rev() {
            let value = values[row];
            for (neighbor, weight) in self.entries(row) {
                add(&mut values[neighbor], weight, &value);
            }
        }
    }

    /// Qv
    pub fn product<const L: usize>(&self, values: &[[f64; L]]) -> Columns<L> {
        let mut product = values.to_vec();
        self.multiply(&mut product);
        for (value, variance) in product.iter_mut().zip(&self.variances) {
            *value = value.map(|value| value / variance);
        }
        self.multiply_transposed(&mut product);
        product
    }
}

/// `sum += factor·values`
#[inline(always)]
pub fn add<const L: usize>(sum: &mut [f64; L], factor: f64, values: &[f64; L]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += factor * value;
    }
}
