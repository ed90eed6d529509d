//! Tables whose covariance is a Kronecker product plus noise.

use burn::tensor::Tensor;
use burn_gp_core::ops;

use super::{Case, Harness, SIZES, case, definite};

/// The number of outputs, P.
const OUTPUTS: usize = 3;

/// The cells that are not known, as places `row·P + column`.
const HOLES: [usize; 4] = [2, 17, 18, 60];

/// The covariance of rows, that of outputs, the noise and the known cells.
fn table(harness: &mut Harness, holes: &[usize]) -> (Tensor<2>, Tensor<2>, Tensor<1>, Tensor<2>) {
    let [rows, ..] = SIZES;
    let mut covariance = |size: usize| {
        let values = definite(harness, 1, size);
        harness.given(&values, [size; 2])
    };
    let (rows_covariance, outputs) = (covariance(rows), covariance(OUTPUTS));
    let noise = harness.positive([OUTPUTS]);
    let residual = harness.normal([rows * OUTPUTS - holes.len(), 1]);
    (rows_covariance, outputs, noise, residual)
}

pub(super) fn cases() -> Vec<Case> {
    let tables: [(&str, &[usize]); 2] = [("complete", &[]), ("with holes", &HOLES)];
    let of_table = |(kind, holes): (&str, &'static [usize])| {
        [
            case(&format!("kronecker_log_density, {kind}"), move |harness| {
                let (covariance, outputs, noise, residual) = table(harness, holes);
                let density =
                    ops::kronecker_log_density(covariance, outputs, noise, residual, holes)?;
                harness.output("log density", density);
                Ok(())
            }),
            case(&format!("kronecker_solution, {kind}"), move |harness| {
                let (covariance, outputs, noise, residual) = table(harness, holes);
                let solution =
                    ops::kronecker_solution(covariance, outputs, noise, residual, holes)?;
                // The variance that the table removes from every cell: the signs of eigenvectors are free.
                let functions = solution.vectors.powi_scalar(2).matmul(solution.removed);
                let removed = functions.matmul(solution.mixing.powi_scalar(2).transpose());
                harness.value("removed", removed);
                harness.value("weights", solution.weights);
                if let Some(returned) = solution.returned {
                    let [rows, columns] = returned.dims();
                    let of_holes = returned.reshape([rows, columns / OUTPUTS, OUTPUTS]);
                    let returned = of_holes.powi_scalar(2).sum_dim(1);
                    harness.value("returned", returned);
                }
                Ok(())
            }),
        ]
    };
    tables.into_iter().flat_map(of_table).collect()
}
