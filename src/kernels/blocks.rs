//! Covariances of linear combinations of function values.

use burn::tensor::Tensor;

use super::{Kernel, matrix_columns, structure::linear};
use crate::ops::{self, Blocks, ExactMatmul};

/// Covariances between linear combinations of function values and function values at other points,
/// `Σ_{b∈B_j} s_b·k(x_b, x′_n)`, or without other points at the same ones, `Σ_{b∈B_j} s_b·K_bn`. Each
/// combination covers a run of consecutive points. Memory use is as for
/// [`covariance_product`](super::covariance_product).
///
/// # Shapes
///
/// - `points`: `[N, D]`, `others` (x′): `[N′, D]`, or `None` for `x′ = x`; `values` (s): `[N]`
/// - result: `[I, N′]` with I the number of runs
#[track_caller]
pub fn block_covariance(
    kernel: &dyn Kernel,
    blocks: Blocks,
    points: Tensor<2>,
    others: Option<Tensor<2>>,
    values: Tensor<1>,
) -> Tensor<2> {
    linear(
        kernel,
        points.dtype(),
        &|parameters| {
            ops::block_covariance(
                parameters.profile,
                blocks,
                points.clone(),
                others.clone(),
                parameters.lengthscales,
                parameters.variance,
                values.clone(),
            )
        },
        &|kernel| run_by_run(kernel, blocks, &points, others.as_ref(), &values),
    )
}

/// The combinations of one run after the other.
fn run_by_run(
    kernel: &dyn Kernel,
    blocks: Blocks,
    points: &Tensor<2>,
    others: Option<&Tensor<2>>,
    values: &Tensor<1>,
) -> Tensor<2> {
    let (device, points) = (points.device(), points.clone().unsqueeze::<3>());
    let rows = blocks.ranges().map(|run| {
        let values = values.clone().narrow(0, run.start, run.len());
        let Some(others) = others else {
            let columns = Tensor::arange(run.start as i64..run.end as i64, &device);
            let covariance = matrix_columns(kernel, points.clone(), columns); // [1, N, run]
            let covariance = covariance.squeeze_dim::<2>(0);
            return covariance.exact_matmul(values.unsqueeze_dim(1)).transpose();
        };
        let run = points.clone().narrow(1, run.start, run.len());
        let covariance = kernel.covariance(run, others.clone().unsqueeze()); // [1, run, N′]
        (values.unsqueeze::<2>()).exact_matmul(covariance.squeeze_dim(0))
    });
    Tensor::cat(rows.collect(), 0)
}
