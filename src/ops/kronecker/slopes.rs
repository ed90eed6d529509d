//! The derivatives of the log density.

use faer::{Accum, Mat, MatMut, MatRef};

use super::{
    solution::Solution,
    spectrum::times,
    system::{System, Table},
};
use crate::ops::cpu::{lower_product, mirror_lower, product};

/// The derivatives with respect to the values of a [`Table`].
pub struct Slopes {
    /// `[N, N]`
    pub covariance: Vec<f64>,
    /// `[P, P]`
    pub outputs: Vec<f64>,
    /// `[P]`
    pub noise: Vec<f64>,
    /// `[n]`
    pub residual: Vec<f64>,
}

/// The derivative with respect to K̃ is `½(α̃α̃ᵀ − K̃_oo⁻¹) = ½(Σ_v vvᵀ − G)`, where v is α̃ or a column of V and G is
/// the inverse of the complete table: it is zero in the rows and columns of holes. With each v as a table A_v, and by
/// the eigenvectors of G,
///
/// - `K̄_x = ½(Σ_v A_v Γ̃ A_vᵀ − U_x·diag_i(Σ_p λ^Γ_p/H_ip)·U_xᵀ)`
/// - `Γ̃bar = ½(Σ_v A_vᵀ K_x A_v − U_Γ·diag_p(Σ_i λ^x_i/H_ip)·U_Γᵀ)`, and `∂Γ = D^(−½)·Γ̃bar·D^(−½)`
/// - `∂σ²_p = ½(Σ_v Σ_i (A_v)_ip² − Σ_q (U_Γ)_pq²·Σ_i 1/H_iq)/σ²_p`, since `K̄ = D^(−½)·K̃bar·D^(−½)`
/// - `∂r = −D^(−½)α̃`
///
/// They are sums over eigenvectors, and never have a difference of eigenvalues in a denominator.
impl Slopes {
    pub fn new(system: &System, solution: &Solution, table: &Table<'_>) -> Self {
        let (_, columns) = table.size();
        let deviations = &system.deviations;
        let of_coupling = coupling_slope(system, solution, table);
        let outputs = (0..columns * columns).map(|place| {
            let (p, r) = (place / columns, place % columns);
            of_coupling[(p, r)] / (deviations[p] * deviations[r])
        });
        let weights = solution.weights();
        let residual = (table.known()).map(|(row, p)| -weights[(row, p)] / deviations[p]);
        Self {
            covariance: covariance_slope(system, solution),
            outputs: outputs.collect(),
            noise: noise_slope(system, solution),
            residual: residual.collect(),
        }
    }
}

/// `K̄_x`, row by row.
fn covariance_slope(system: &System, solution: &Solution) -> Vec<f64> {
    let (rows, columns) = (system.inverse.nrows(), system.inverse.ncols());
    let mut slope = vec![0.0; rows * rows];
    let mut out = MatMut::from_row_major_slice_mut(&mut slope, rows, rows);
    let coupled = solution.times(system.coupling.as_ref());
    let tables = solution.tables().view();
    lower_product(
        out.as_mut(),
        Accum::Replace,
        coupled.view(),
        tables.transpose(),
        0.5,
    );
    let vectors = system.inputs.vectors();
    let of_vector = |i: usize| -> f64 {
        (0..columns)
            .map(|p| system.outputs.values()[p] * system.inverse[(i, p)])
            .sum()
    };
    let scaled = scaled_columns(vectors, of_vector);
    lower_product(
        out.as_mut(),
        Accum::Add,
        scaled.as_ref(),
        vectors.transpose(),
        -0.5,
    );
    mirror_lower(out);
    slope
}

/// `Γ̃bar`
fn coupling_slope(system: &System, solution: &Solution, table: &Table<'_>) -> Mat<f64> {
    let (rows, columns) = table.size();
    let covariance = MatRef::from_row_major_slice(table.covariance, rows, rows);
    let tables = solution.tables();
    let covered = times(covariance, tables.view()); // [N, (1 + h)·P]
    let vectors = system.outputs.vectors();
    let of_vector = |p: usize| -> f64 {
        (0..rows)
            .map(|i| system.inputs.values()[i] * system.inverse[(i, p)])
            .sum()
    };
    let scaled = scaled_columns(vectors, of_vector);
    let mut slope = Mat::zeros(columns, columns);
    let out = slope.as_mut();
    product(
        out,
        Accum::Replace,
        scaled.as_ref(),
        vectors.transpose(),
        -0.5,
    );
    for index in 0..tables.count() {
        let own = tables.table(index).transpose();
        let covered = covered.subcols(index * columns, columns);
        product(slope.as_mut(), Accum::Add, own, covered, 0.5);
    }
    slope
}

/// `∂σ²`
fn noise_slope(system: &System, solution: &Solution) -> Vec<f64> {
    let (columns, tables) = (system.inverse.ncols(), solution.tables());
    let vectors = system.outputs.vectors();
    let of_output = |p: usize| {
        let squares: f64 = (0..tables.count())
            .map(|index| tables.table(index).col(p).squared_norm_l2())
            .sum();
        let of_inverse: f64 = (0..columns)
            .map(|q| vectors[(p, q)].powi(2) * system.inverse.col(q).sum())
            .sum();
        0.5 * (squares - of_inverse) / system.deviations[p].powi(2)
    };
    (0..columns).map(of_output).collect()
}

/// The columns of a matrix, each times a factor.
fn scaled_columns(matrix: MatRef<'_, f64>, factor: impl Fn(usize) -> f64) -> Mat<f64> {
    let factors: Vec<f64> = (0..matrix.ncols()).map(factor).collect();
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
        matrix[(row, column)] * factors[column]
    })
}
