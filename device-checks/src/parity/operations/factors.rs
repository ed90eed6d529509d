//! Factorizations, and what is computed from a factor.

use burn::tensor::Tensor;
use burn_gp_core::ops::{self, BlockFactor, CholeskyFactor, Jitter};

use super::{BATCH, Case, Harness, SIZES, case, definite, triangles};

/// A size with several panels in a blocked factorization.
const PANELS: usize = 70;

/// The symmetric part, because a factorization reads one triangle only.
fn symmetric<const D: usize>(matrix: Tensor<D>) -> Tensor<D> {
    (matrix.clone() + matrix.swap_dims(D - 2, D - 1)) * 0.5
}

fn definite_input(harness: &mut Harness, batch: usize, size: usize) -> Tensor<3> {
    let values = definite(harness, batch, size);
    symmetric(harness.given(&values, [batch, size, size]))
}

fn triangle_input(harness: &mut Harness) -> Tensor<3> {
    let [rows, ..] = SIZES;
    let values = triangles(harness, BATCH, rows);
    harness.given(&values, [BATCH, rows, rows])
}

pub(super) fn cases() -> Vec<Case> {
    let [rows, columns, _] = SIZES;
    let mut cases = vec![
        case("cholesky", move |harness| {
            let matrix = definite_input(harness, BATCH, rows);
            let factor = ops::cholesky(matrix, Jitter::INDUCING)?;
            harness.output("factor", factor.lower());
            harness.output("log-determinant", factor.log_determinant());
            Ok(())
        }),
        case("cholesky of several panels", |harness| {
            let matrix = definite_input(harness, 1, PANELS);
            let factor = ops::cholesky(matrix, Jitter::NONE)?;
            harness.output("factor", factor.lower());
            harness.output("log-determinant", factor.log_determinant());
            Ok(())
        }),
        case("CholeskyFactor::solve", move |harness| {
            let matrix = definite_input(harness, BATCH, rows);
            let right = harness.normal([BATCH, rows, columns]);
            let factor = ops::cholesky(matrix, Jitter::NONE)?;
            let half = factor.solve(right);
            harness.output("half", half.clone());
            harness.output("solution", factor.solve_transposed(half));
            Ok(())
        }),
        case("CholeskyFactor::solve_lower", |harness| {
            let matrix = definite_input(harness, 1, PANELS);
            let values = triangles(harness, 1, PANELS);
            let lower = harness.given(&values, [1, PANELS, PANELS]);
            let factor = ops::cholesky(matrix, Jitter::NONE)?;
            harness.output("solution", factor.solve_lower(lower));
            Ok(())
        }),
        case("CholeskyFactor::marginals_minus_prior", move |harness| {
            let matrix = definite_input(harness, 1, rows);
            let right = harness.normal([rows, columns]);
            let mean = harness.normal([BATCH, rows]);
            let values = triangles(harness, BATCH, rows);
            let scale = harness.given(&values, [BATCH, rows, rows]);
            let factor = ops::cholesky(matrix.squeeze_dim::<2>(0), Jitter::NONE)?;
            let (means, changes) = factor.marginals_minus_prior(right, mean, scale);
            harness.output("means", means);
            harness.output("changes", changes);
            Ok(())
        }),
        case("CholeskyFactor::from_lower", move |harness| {
            let lower = triangle_input(harness);
            let right = harness.normal([BATCH, rows, columns]);
            let factor = CholeskyFactor::from_lower(lower)?;
            harness.output("solution", factor.solve(right));
            Ok(())
        }),
        case("BlockFactor", move |harness| {
            let values = definite(harness, 1, PANELS);
            let matrix = symmetric(harness.given(&values, [PANELS; 2]));
            let part = |from: usize, count: usize| matrix.clone().narrow(0, from, count);
            let leading = part(0, rows).narrow(1, 0, rows);
            let cross = part(0, rows).narrow(1, rows, PANELS - rows);
            let trailing = part(rows, PANELS - rows).narrow(1, rows, PANELS - rows);
            let leading = ops::cholesky(leading, Jitter::NONE)?;
            let factor = BlockFactor::new(leading, cross, trailing, Jitter::NONE)?;
            harness.output("factor", factor.joined().lower());
            Ok(())
        }),
        case("gaussian_log_density", move |harness| {
            let values = definite(harness, 1, columns);
            let covariance = symmetric(harness.given(&values, [columns; 2]));
            let residual = harness.normal([columns, 2]);
            let density = ops::gaussian_log_density(covariance, residual, Jitter::NONE)?;
            harness.output("log density", density);
            Ok(())
        }),
        case("gaussian_log_densities", move |harness| {
            let values = definite(harness, BATCH, columns);
            let covariances = symmetric(harness.given(&values, [BATCH, columns, columns]));
            let residuals = harness.normal([BATCH, columns, 2]);
            let densities = ops::gaussian_log_densities(covariances, residuals, Jitter::NONE)?;
            harness.output("log densities", densities);
            Ok(())
        }),
        case("neighbor_conditional", |harness| {
            let places = 9;
            let matrix = definite_input(harness, BATCH, places);
            let (weights, variances) = ops::neighbor_conditional(matrix, Jitter::NONE)?;
            harness.output("weights", weights);
            harness.output("variances", variances);
            Ok(())
        }),
    ];
    for (upper, transposed) in [(false, false), (false, true), (true, false), (true, true)] {
        let name = format!(
            "solve_triangular, {}{}",
            if upper { "upper" } else { "lower" },
            if transposed { ", transposed" } else { "" }
        );
        cases.push(case(&name, move |harness| {
            let lower = triangle_input(harness);
            let matrix = if upper { lower.swap_dims(1, 2) } else { lower };
            let right = harness.normal([BATCH, rows, columns]);
            let solution = ops::solve_triangular(matrix, right, upper, transposed)?;
            harness.output("solution", solution);
            Ok(())
        }));
    }
    cases
}
