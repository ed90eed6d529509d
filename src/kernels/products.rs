//! Covariances times vectors.

use burn::tensor::{DType, Tensor};

use super::{
    Kernel, Structure, matrix_columns,
    points::no_products,
    structure::{StationaryParameters, linear},
};
use crate::ops::{self, ExactMatmul};

/// The number of columns of a covariance matrix in memory at once.
const COLUMNS: usize = 1024;

/// Covariances times vectors: [`Kernel::covariance`] of two sets of points, `K(x1, x2)·V`, or without the second
/// the [`Kernel::matrix`] of the first, `K(x1, x1)·V`. Stationary kernels keep no covariances in memory. Of
/// others, autodiff keeps them, computed in groups.
///
/// # Shapes
///
/// - `x1`: `[N1, D]`, `x2`: `[N2, D]`, or `None` for `x2 = x1`; `vectors` (V): `[N2, R]`
/// - result: `[N1, R]`
#[track_caller]
pub fn covariance_product(
    kernel: &dyn Kernel,
    x1: Tensor<2>,
    x2: Option<Tensor<2>>,
    vectors: Tensor<2>,
) -> Tensor<2> {
    if let Some(none) = no_products(&x1, x2.as_ref().unwrap_or(&x1), &vectors) {
        return none;
    }
    linear(
        kernel,
        x1.dtype(),
        &|parameters| product(parameters, x1.clone(), x2.clone(), vectors.clone()),
        &|kernel| match x2.clone() {
            Some(x2) => by_rows(kernel, x1.clone(), x2, vectors.clone()),
            None => by_columns(kernel, x1.clone(), vectors.clone()),
        },
    )
}

/// [`covariance_product`] of one set of points with single-precision accuracy, in the type of the arguments and without gradients.
/// Iterations in double precision that tolerate these errors take about half the time. `None` if no part
/// of the kernel is stationary.
///
/// # Shapes
///
/// - `x`: `[N, D]`, `vectors` (V): `[N, R]`
/// - result: `[N, R]`
pub fn rough_matrix_product(
    kernel: &dyn Kernel,
    x: Tensor<2>,
    vectors: Tensor<2>,
) -> Option<Tensor<2>> {
    if let Some(none) = no_products(&x, &x, &vectors) {
        return Some(none);
    }
    let rough = |kernel: &dyn Kernel| rough_matrix_product(kernel, x.clone(), vectors.clone());
    let exact = |kernel: &dyn Kernel| covariance_product(kernel, x.clone(), None, vectors.clone());
    match kernel.structure() {
        Structure::Stationary(parameters) => {
            let parameters = StationaryParameters {
                lengthscales: parameters.lengthscales.cast(DType::F32),
                variance: parameters.variance.cast(DType::F32),
                ..parameters
            };
            let [x, single] = [&x, &vectors].map(|values| values.clone().cast(DType::F32));
            Some(product(parameters, x, None, single).cast(vectors.dtype()))
        }
        Structure::Sum(first, second) => match (rough(first), rough(second)) {
            (None, None) => None,
            (Some(product), None) => Some(product + exact(second)),
            (None, Some(product)) => Some(exact(first) + product),
            (Some(one), Some(other)) => Some(one + other),
        },
        Structure::Scaled(base, scale) => Some(rough(base)? * scale.unsqueeze()),
        Structure::ActiveDimensions(..) | Structure::General => None,
    }
}

/// The fused product of a stationary covariance.
#[track_caller]
fn product(
    of: StationaryParameters,
    x1: Tensor<2>,
    x2: Option<Tensor<2>>,
    vectors: Tensor<2>,
) -> Tensor<2> {
    ops::covariance_product(of.profile, x1, x2, of.lengthscales, of.variance, vectors)
}

/// `K(x, x)·V`, the sum over groups of columns.
fn by_columns(kernel: &dyn Kernel, x: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
    let ([rows, _], device) = (x.dims(), x.device());
    let x = x.unsqueeze::<3>();
    let parts = (0..rows).step_by(COLUMNS).map(|start| {
        let end = (start + COLUMNS).min(rows);
        let columns = Tensor::arange(start as i64..end as i64, &device);
        let vectors = vectors.clone().narrow(0, start, end - start);
        let covariance = matrix_columns(kernel, x.clone(), columns); // [1, N, C]
        covariance.squeeze_dim::<2>(0).exact_matmul(vectors)
    });
    parts.reduce(|sum, part| sum + part).unwrap_or(vectors)
}

/// `K(x1, x2)·V`, in groups of rows.
fn by_rows(kernel: &dyn Kernel, x1: Tensor<2>, x2: Tensor<2>, vectors: Tensor<2>) -> Tensor<2> {
    let [rows, _] = x1.dims();
    let x2 = x2.unsqueeze::<3>();
    let parts = (0..rows).step_by(COLUMNS).map(|start| {
        let some = x1.clone().narrow(0, start, COLUMNS.min(rows - start));
        let covariance = kernel.covariance(some.unsqueeze(), x2.clone()); // [1, rows, N2]
        (covariance.squeeze_dim::<2>(0)).exact_matmul(vectors.clone())
    });
    Tensor::cat(parts.collect(), 0)
}
