//! Factorizations, and what is computed from a factor.

use burn::tensor::Tensor;
use burn_gp_core::ops::{self, BlockFactor, CholeskyFactor, Jitter};

use super::{BATCH, Case, SIZES, Site, case, definite, triangles};

/// A size with several panels in a blocked factorization.
const PANELS: usize = 70;

/// The symmetric part, because a factorization reads one triangle only.
fn symmetric<const D: usize>(matrix: Tensor<D>) -> Tensor<D> {
    (matrix.clone() + matrix.swap_dims(D - 2, D - 1)) * 0.5
}

fn definite_input(site: &mut Site, batch: usize, size: usize) -> Tensor<3> {
    let values = definite(site, batch, size);
    symmetric(site.given(&values, [batch, size, size]))
}

fn triangle_input(site: &mut Site) -> Tensor<3> {
    let [rows, ..] = SIZES;
    let values = triangles(site, BATCH, rows);
    site.given(&values, [BATCH, rows, rows])
}

pub(super) fn cases() -> Vec<Case> {
    let [rows, columns, _] = SIZES;
    let mut cases = vec![
        case("cholesky", move |site| {
            let matrix = definite_input(site, BATCH, rows);
            let factor = ops::cholesky(matrix, Jitter::INDUCING)?;
            site.output("factor", factor.lower());
            site.output("log-determinant", factor.log_determinant());
            Ok(())
        }),
        case("cholesky of several panels", |site| {
            let matrix = definite_input(site, 1, PANELS);
            let factor = ops::cholesky(matrix, Jitter::NONE)?;
            site.output("factor", factor.lower());
            site.output("log-determinant", factor.log_determinant());
            Ok(())
        }),
        case("CholeskyFactor::solve", move |site| {
            let matrix = definite_input(site, BATCH, rows);
            let right = site.normal([BATCH, rows, columns]);
            let factor = ops::cholesky(matrix, Jitter::NONE)?;
            let half = factor.solve(right);
            site.output("half", half.clone());
            site.output("solution", factor.solve_transposed(half));
            Ok(())
        }),
        case("CholeskyFactor::solve_lower", |site| {
            let matrix = definite_input(site, 1, PANELS);
            let values = triangles(site, 1, PANELS);
            let lower = site.given(&values, [1, PANELS, PANELS]);
            let factor = ops::cholesky(matrix, Jitter::NONE)?;
            site.output("solution", factor.solve_lower(lower));
            Ok(())
        }),
        case("CholeskyFactor::relative_moments", move |site| {
            let matrix = definite_input(site, 1, rows);
            let right = site.normal([rows, columns]);
            let mean = site.normal([BATCH, rows]);
            let values = triangles(site, BATCH, rows);
            let scale = site.given(&values, [BATCH, rows, rows]);
            let factor = ops::cholesky(matrix.squeeze_dim::<2>(0), Jitter::NONE)?;
            let (means, changes) = factor.relative_moments(right, mean, scale);
            site.output("means", means);
            site.output("changes", changes);
            Ok(())
        }),
        case("CholeskyFactor::from_lower", move |site| {
            let lower = triangle_input(site);
            let right = site.normal([BATCH, rows, columns]);
            let factor = CholeskyFactor::from_lower(lower)?;
            site.output("solution", factor.solve(right));
            Ok(())
        }),
        case("BlockFactor", move |site| {
            let values = definite(site, 1, PANELS);
            let matrix = symmetric(site.given(&values, [PANELS; 2]));
            let part = |from: usize, count: usize| matrix.clone().narrow(0, from, count);
            let leading = part(0, rows).narrow(1, 0, rows);
            let cross = part(0, rows).narrow(1, rows, PANELS - rows);
            let trailing = part(rows, PANELS - rows).narrow(1, rows, PANELS - rows);
            let leading = ops::cholesky(leading, Jitter::NONE)?;
            let factor = BlockFactor::new(leading, cross, trailing, Jitter::NONE)?;
            site.output("factor", factor.joined().lower());
            Ok(())
        }),
        case("gaussian_log_density", move |site| {
            let values = definite(site, 1, columns);
            let covariance = symmetric(site.given(&values, [columns; 2]));
            let residual = site.normal([columns, 2]);
            let density = ops::gaussian_log_density(covariance, residual, Jitter::NONE)?;
            site.output("log density", density);
            Ok(())
        }),
    ];
    for (upper, transposed) in [(false, false), (false, true), (true, false), (true, true)] {
        let name = format!(
            "solve_triangular, {}{}",
            if upper { "upper" } else { "lower" },
            if transposed { ", transposed" } else { "" }
        );
        cases.push(case(&name, move |site| {
            let lower = triangle_input(site);
            let matrix = if upper { lower.swap_dims(1, 2) } else { lower };
            let right = site.normal([BATCH, rows, columns]);
            let solution = ops::solve_triangular(matrix, right, upper, transposed)?;
            site.output("solution", solution);
            Ok(())
        }));
    }
    cases
}
