//! The extension's operations on the host, for every backend whose values the host can read.

use std::borrow::Cow;

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{Accum, Mat, MatMut, MatRef, prelude::ReborrowMut};

use super::{
    SpecialFunction, Stationary,
    extension::{FactorizationOutcome, LinearAlgebra, LinearAlgebraReverse},
    factor::{Jitter, PivotFailure},
    host::{
        cholesky::{BadPivot, factor_in_place, pack_lower_in_place, two_sided_solve_in_place},
        covariance::{covariance, covariance_backward},
        moments::{
            Projection, add_column_squares, clear_above_diagonal, divergence, divergence_reverse,
            scale_columns,
        },
        scalar::Scalar,
        triangular::{
            Side, lower_product, mirror_lower, product, solve_in_place, triangular_product,
        },
    },
    host_access::{Element, HostAccess, matrix_dims, with_element, write},
};

/// A square row-major matrix of `size` rows within a batch.
fn member<T: Element>(values: &[T], index: usize, rows: usize, columns: usize) -> MatRef<'_, T> {
    let area = rows * columns;
    MatRef::from_row_major_slice(&values[index * area..][..area], rows, columns)
}

/// As [`member`], to be written to.
fn member_mut<T: Element>(
    values: &mut [T],
    index: usize,
    rows: usize,
    columns: usize,
) -> MatMut<'_, T> {
    let area = rows * columns;
    MatMut::from_row_major_slice_mut(&mut values[index * area..][..area], rows, columns)
}

/// One lengthscale an input dimension.
fn expand<T: Element>(lengthscales: Cow<'_, [T]>, dimensions: usize) -> Vec<T> {
    if lengthscales.len() == dimensions {
        lengthscales.into_owned()
    } else {
        vec![lengthscales[0]; dimensions]
    }
}

/// Factors one matrix with growing jitter; `out` holds the matrix on entry and the factor on exit.
fn factor_with_jitter<T: Element>(
    matrix: &[T],
    out: &mut [T],
    size: usize,
    jitter: Jitter,
) -> Result<f64, PivotFailure> {
    let diagonal = || (0..size).map(|i| matrix[i * size + i].to_f64());
    let mean = diagonal().sum::<f64>() / size.max(1) as f64;
    let mut failure = PivotFailure {
        pivot: 0,
        jitter: jitter.initial,
        diagonal: diagonal().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            if value.is_nan() || low.is_nan() {
                (f64::NAN, f64::NAN)
            } else {
                (low.min(value), high.max(value))
            }
        }),
    };
    // Jitter cannot repair a diagonal that is not finite; adding it would spread the damage to
    // every row and hide which one is at fault.
    let (mean, attempts) = if mean.is_finite() {
        (mean, usize::MAX)
    } else {
        (0.0, 1)
    };
    for relative in jitter.attempts(T::EPSILON).take(attempts) {
        out.copy_from_slice(matrix);
        let added = T::from_f64(relative * mean);
        for i in 0..size {
            out[i * size + i] += added;
        }
        match factor_in_place(MatMut::from_row_major_slice_mut(out, size, size)) {
            Ok(()) => return Ok(relative),
            Err(BadPivot(pivot)) => {
                failure = PivotFailure {
                    pivot,
                    jitter: relative,
                    ..failure
                }
            }
        }
    }
    Err(failure)
}

/// Applies `work` to every matrix of a batch, writing matrices of the same shape as `shape_of`.
fn map_members<B: HostAccess, T: Element>(
    shape_of: &FloatTensor<B>,
    mut work: impl FnMut(usize, MatMut<'_, T>),
) -> FloatTensor<B> {
    let shape = shape_of.shape();
    let (batch, rows, columns) = matrix_dims(&shape);
    let mut out = vec![T::default(); batch * rows * columns];
    for index in 0..batch {
        work(index, member_mut(&mut out, index, rows, columns));
    }
    write::<B, T>(out, shape, &shape_of.device())
}

/// Applies `work` to a copy of every matrix of a batch.
fn update_members<B: HostAccess, T: Element>(
    tensor: &FloatTensor<B>,
    mut work: impl FnMut(usize, MatMut<'_, T>),
) -> FloatTensor<B> {
    let shape = tensor.shape();
    let (batch, rows, columns) = matrix_dims(&shape);
    let mut out = B::read::<T>(tensor).into_owned();
    for index in 0..batch {
        work(index, member_mut(&mut out, index, rows, columns));
    }
    write::<B, T>(out, shape, &tensor.device())
}

impl<B: HostAccess> LinearAlgebra for B {
    fn covariance(
        x1: FloatTensor<B>,
        x2: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        kind: Stationary,
    ) -> FloatTensor<B> {
        let (rows, columns) = (x1.shape()[0], x2.shape()[0]);
        with_element!(x1, T => {
            let lengthscales = expand(B::read::<T>(&lengthscales), x1.shape()[1]);
            let variance = B::read::<T>(&variance)[0];
            let values =
                covariance(kind, &B::read::<T>(&x1), &B::read::<T>(&x2), &lengthscales, variance);
            write::<B, T>(values, [rows, columns], &x1.device())
        })
    }

    fn cholesky(
        matrix: FloatTensor<B>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<B> {
        let (batch, size, _) = matrix_dims(&matrix.shape());
        let area = size * size;
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let mut out = vec![T::default(); batch * area];
            outcome.report(
                (0..batch)
                    .map(|index| {
                        let range = index * area..(index + 1) * area;
                        factor_with_jitter(&values[range.clone()], &mut out[range], size, jitter)
                    })
                    .collect(),
            );
            write::<B, T>(out, matrix.shape(), &matrix.device())
        })
    }

    fn pack_lower(matrix: FloatTensor<B>, outcome: FactorizationOutcome) -> FloatTensor<B> {
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let mut members = Vec::new();
            let packed = map_members::<B, T>(&matrix, |index, mut out| {
                let size = out.nrows();
                out.copy_from(member(&values, index, size, size));
                members.push(pack_lower_in_place(out).map(|()| 0.0).map_err(|BadPivot(pivot)| {
                    PivotFailure { pivot, jitter: 0.0, diagonal: (0.0, 0.0) }
                }));
            });
            outcome.report(members);
            packed
        })
    }

    fn unpack_lower(factor: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(factor, T => {
            let values = B::read::<T>(&factor);
            map_members::<B, T>(&factor, |index, mut out| {
                let size = out.nrows();
                out.copy_from_triangular_lower(member(&values, index, size, size));
            })
        })
    }

    fn factor_solve(factor: FloatTensor<B>, rhs: FloatTensor<B>, side: Side) -> FloatTensor<B> {
        with_element!(factor, T => {
            let factors = B::read::<T>(&factor);
            update_members::<B, T>(&rhs, |index, out| {
                let size = out.nrows();
                solve_in_place(member(&factors, index, size, size), side, out);
            })
        })
    }

    fn factor_log_determinant(factor: FloatTensor<B>) -> FloatTensor<B> {
        let (batch, size, _) = matrix_dims(&factor.shape());
        with_element!(factor, T => {
            let values = B::read::<T>(&factor);
            let sums = (0..batch)
                .map(|index| {
                    let factor = member(&values, index, size, size);
                    let sum: f64 = (0..size).map(|i| factor[(i, i)].to_f64().abs().ln()).sum();
                    <T as Scalar>::from_f64(2.0 * sum)
                })
                .collect();
            write::<B, T>(sums, [batch], &factor.device())
        })
    }

    fn projected_moments(
        basis: FloatTensor<B>,
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
    ) -> FloatTensor<B> {
        let [moments, _] = B::projected_moments_saving(basis, mean, scale);
        moments
    }

    fn column_squares(basis: FloatTensor<B>) -> FloatTensor<B> {
        let columns = basis.shape()[1];
        with_element!(basis, T => {
            let mut sums = vec![T::default(); columns];
            add_column_squares(&B::read::<T>(&basis), &mut sums);
            write::<B, T>(sums, [columns], &basis.device())
        })
    }

    fn gram(basis: FloatTensor<B>) -> FloatTensor<B> {
        let (size, columns) = (basis.shape()[0], basis.shape()[1]);
        with_element!(basis, T => {
            let values = B::read::<T>(&basis);
            let basis_matrix = member(&values, 0, size, columns);
            let mut out = vec![T::default(); size * size];
            let mut target = member_mut(&mut out, 0, size, size);
            lower_product(
                target.rb_mut(),
                Accum::Replace,
                basis_matrix,
                basis_matrix.transpose(),
                <T as Scalar>::from_f64(1.0),
            );
            mirror_lower(target);
            write::<B, T>(out, [size, size], &basis.device())
        })
    }

    fn add_to_diagonal(matrix: FloatTensor<B>, value: FloatTensor<B>) -> FloatTensor<B> {
        let size = matrix.shape()[0];
        with_element!(matrix, T => {
            let added = B::read::<T>(&value)[0];
            let mut out = B::read::<T>(&matrix).into_owned();
            for i in 0..size {
                out[i * size + i] += added;
            }
            write::<B, T>(out, [size, size], &matrix.device())
        })
    }

    fn gaussian_divergence(mean: FloatTensor<B>, scale: FloatTensor<B>) -> FloatTensor<B> {
        let (outputs, size) = (mean.shape()[0], mean.shape()[1]);
        with_element!(mean, T => {
            let (means, scales) = (B::read::<T>(&mean), B::read::<T>(&scale));
            let values = (means.chunks_exact(size).zip(scales.chunks_exact(size * size)))
                .map(|(mean, scale)| divergence(mean, scale))
                .collect();
            write::<B, T>(values, [outputs], &mean.device())
        })
    }

    fn special(x: FloatTensor<B>, function: SpecialFunction) -> FloatTensor<B> {
        with_element!(x, T => {
            let values = (B::read::<T>(&x).iter())
                .map(|x| <T as Scalar>::from_f64(function.value_and_slope(x.to_f64()).0))
                .collect();
            write::<B, T>(values, x.shape(), &x.device())
        })
    }
}

impl<B: HostAccess> LinearAlgebraReverse for B {
    fn covariance_reverse(
        x1: FloatTensor<B>,
        x2: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        gradient: FloatTensor<B>,
        kind: Stationary,
    ) -> [FloatTensor<B>; 4] {
        let device = x1.device();
        with_element!(x1, T => {
            let gradients = covariance_backward(
                kind,
                &B::read::<T>(&x1),
                &B::read::<T>(&x2),
                &expand(B::read::<T>(&lengthscales), x1.shape()[1]),
                B::read::<T>(&variance)[0],
                &B::read::<T>(&gradient),
            );
            let mut scales = gradients.lengthscales;
            if lengthscales.shape()[0] != scales.len() {
                let sum = scales.iter().fold(T::default(), |sum, &value| sum + value);
                scales = vec![sum];
            }
            let count = scales.len();
            [
                write::<B, T>(gradients.x1, x1.shape(), &device),
                write::<B, T>(gradients.x2, x2.shape(), &device),
                write::<B, T>(scales, [count], &device),
                write::<B, T>(vec![gradients.variance], [1], &device),
            ]
        })
    }

    fn cholesky_reverse(
        factor: FloatTensor<B>,
        cotangent: FloatTensor<B>,
        jitter: Vec<f64>,
    ) -> FloatTensor<B> {
        with_element!(factor, T => {
            let (factors, cotangents) = (B::read::<T>(&factor), B::read::<T>(&cotangent));
            let half = <T as Scalar>::from_f64(0.5);
            map_members::<B, T>(&factor, |index, mut out| {
                let size = out.nrows();
                let cotangent = member(&cotangents, index, size, size);
                for i in 0..size {
                    for j in 0..=i {
                        out[(i, j)] = half * cotangent[(i, j)];
                    }
                }
                two_sided_solve_in_place(member(&factors, index, size, size), out.rb_mut());
                let trace: f64 = (0..size).map(|i| out[(i, i)].to_f64()).sum();
                let share = <T as Scalar>::from_f64(trace * jitter[index] / size.max(1) as f64);
                for i in 0..size {
                    out[(i, i)] += share;
                }
            })
        })
    }

    fn negative_lower_product(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
        let mut shape = left.shape();
        let rank = shape.num_dims();
        let (batch, size, inner) = matrix_dims(&shape);
        shape.as_mut_slice()[rank - 1] = size;
        with_element!(left, T => {
            let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
            let mut out = vec![T::default(); batch * size * size];
            for index in 0..batch {
                lower_product(
                    member_mut(&mut out, index, size, size),
                    Accum::Replace,
                    member(&lefts, index, size, inner),
                    member(&rights, index, size, inner).transpose(),
                    <T as Scalar>::from_f64(-1.0),
                );
            }
            write::<B, T>(out, shape, &left.device())
        })
    }

    fn lower_cotangent(factor: FloatTensor<B>, gradient: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(factor, T => {
            let (factors, gradients) = (B::read::<T>(&factor), B::read::<T>(&gradient));
            map_members::<B, T>(&factor, |index, out| {
                let size = out.nrows();
                let mut lower = gradients[index * size * size..][..size * size].to_vec();
                clear_above_diagonal(&mut lower, size);
                triangular_product(
                    member(&factors, index, size, size),
                    Side::Transposed,
                    MatRef::from_row_major_slice(&lower, size, size),
                    out,
                    Accum::Replace,
                );
            })
        })
    }

    fn pack_lower_reverse(factor: FloatTensor<B>, cotangent: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(factor, T => {
            let (factors, cotangents) = (B::read::<T>(&factor), B::read::<T>(&cotangent));
            map_members::<B, T>(&factor, |index, mut out| {
                let size = out.nrows();
                let area = size * size;
                let mut lower = cotangents[index * area..][..area].to_vec();
                clear_above_diagonal(&mut lower, size);
                let mut lower = MatMut::from_row_major_slice_mut(&mut lower, size, size);
                let factor = member(&factors, index, size, size);
                solve_in_place(factor, Side::Transposed, lower.rb_mut());
                out.copy_from_triangular_lower(lower);
            })
        })
    }

    fn log_determinant_reverse(factor: FloatTensor<B>, gradient: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(factor, T => {
            let gradients = B::read::<T>(&gradient);
            map_members::<B, T>(&factor, |index, mut out| {
                for i in 0..out.nrows() {
                    out[(i, i)] = gradients[index] + gradients[index];
                }
            })
        })
    }

    fn projected_moments_saving(
        basis: FloatTensor<B>,
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        let (size, columns, outputs) = (basis.shape()[0], basis.shape()[1], mean.shape()[0]);
        let device = basis.device();
        with_element!(basis, T => {
            let (basis, mean, scale) =
                (B::read::<T>(&basis), B::read::<T>(&mean), B::read::<T>(&scale));
            let projection =
                Projection { basis: &basis, mean: &mean, scale: &scale, size, outputs };
            let (moments, projected) = projection.moments();
            [
                write::<B, T>(moments, [2, outputs, columns], &device),
                write::<B, T>(projected, [outputs, size, columns], &device),
            ]
        })
    }

    fn projected_moments_reverse(
        basis: FloatTensor<B>,
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
        projected: FloatTensor<B>,
        gradient: FloatTensor<B>,
    ) -> [FloatTensor<B>; 3] {
        let (size, outputs) = (basis.shape()[0], mean.shape()[0]);
        let shapes = [basis.shape(), mean.shape(), scale.shape()];
        let device = basis.device();
        with_element!(basis, T => {
            let (basis, mean, scale) =
                (B::read::<T>(&basis), B::read::<T>(&mean), B::read::<T>(&scale));
            let projection =
                Projection { basis: &basis, mean: &mean, scale: &scale, size, outputs };
            let gradients =
                projection.reverse(&B::read::<T>(&projected), &B::read::<T>(&gradient));
            let [basis, mean, scale] = gradients;
            let [basis_shape, mean_shape, scale_shape] = shapes;
            [
                write::<B, T>(basis, basis_shape, &device),
                write::<B, T>(mean, mean_shape, &device),
                write::<B, T>(scale, scale_shape, &device),
            ]
        })
    }

    fn column_squares_reverse(basis: FloatTensor<B>, gradient: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(basis, T => {
            let values = B::read::<T>(&basis);
            let out = scale_columns(&values, &B::read::<T>(&gradient));
            write::<B, T>(out, basis.shape(), &basis.device())
        })
    }

    fn gram_reverse(basis: FloatTensor<B>, gradient: FloatTensor<B>) -> FloatTensor<B> {
        let (size, columns) = (basis.shape()[0], basis.shape()[1]);
        with_element!(basis, T => {
            let (values, gradients) = (B::read::<T>(&basis), B::read::<T>(&gradient));
            let gradient = member(&gradients, 0, size, size);
            let symmetric = Mat::from_fn(size, size, |i, j| gradient[(i, j)] + gradient[(j, i)]);
            let mut out = vec![T::default(); size * columns];
            product(
                member_mut(&mut out, 0, size, columns),
                Accum::Replace,
                symmetric.as_ref(),
                member(&values, 0, size, columns),
                <T as Scalar>::from_f64(1.0),
            );
            write::<B, T>(out, basis.shape(), &basis.device())
        })
    }

    fn trace(matrix: FloatTensor<B>) -> FloatTensor<B> {
        let size = matrix.shape()[0];
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let sum: f64 = (0..size).map(|i| values[i * size + i].to_f64()).sum();
            write::<B, T>(vec![<T as Scalar>::from_f64(sum)], [1], &matrix.device())
        })
    }

    fn gaussian_divergence_reverse(
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
        gradient: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        let size = mean.shape()[1];
        let device = mean.device();
        with_element!(mean, T => {
            let (means, scales, gradients) =
                (B::read::<T>(&mean), B::read::<T>(&scale), B::read::<T>(&gradient));
            let mut scale_gradient = vec![T::default(); scales.len()];
            let mean_gradient = (means.chunks_exact(size).zip(gradients.iter()))
                .flat_map(|(mean, &gradient)| mean.iter().map(move |&m| gradient * m))
                .collect();
            let area = size * size;
            for ((scale, out), &gradient) in (scales.chunks_exact(area))
                .zip(scale_gradient.chunks_exact_mut(area))
                .zip(gradients.iter())
            {
                divergence_reverse(scale, size, gradient, out);
            }
            [
                write::<B, T>(mean_gradient, mean.shape(), &device),
                write::<B, T>(scale_gradient, scale.shape(), &device),
            ]
        })
    }

    fn special_reverse(
        x: FloatTensor<B>,
        gradient: FloatTensor<B>,
        function: SpecialFunction,
    ) -> FloatTensor<B> {
        with_element!(x, T => {
            let values = (B::read::<T>(&x).iter())
                .zip(B::read::<T>(&gradient).iter())
                .map(|(x, &gradient)| {
                    let (_, slope) = function.value_and_slope(x.to_f64());
                    <T as Scalar>::from_f64(gradient.to_f64() * slope)
                })
                .collect();
            write::<B, T>(values, x.shape(), &x.device())
        })
    }
}
