//! The operations that a model calls.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{Accum, MatMut};

use super::{
    batch_parts, expand, gram, layer_normalization, map_members, member, part, patches, products,
    remainder, special_values, update_members,
};
use crate::ops::{
    SpecialFunction, Stationary,
    decompositions::count_decomposition,
    extension::{FactorizationOutcome, LinearAlgebra, LinearAlgebraReverse},
    factor::{Jitter, PivotFailure},
    host::{
        cholesky::{BadPivot, check_diagonal, factor_in_place},
        covariance::covariance,
        elementwise::Part,
        inversion::{congruence, descended, identity_distance},
        moments::{add_column_products, add_column_squares, kl},
        products::BlockPairs,
        relaxation::Widths,
        scalar::Scalar,
        threads::in_parts,
        triangular::{Side, solve_in_place, triangular_product},
    },
    host_access::{Element, HostAccess, matrix_dims, with_element, write},
    relaxation::MemoryAnswer,
};
use crate::patches::PatchGrid;

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

impl<B: HostAccess> LinearAlgebra for B {
    fn covariance(
        x1: FloatTensor<B>,
        x2: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        kind: Stationary,
    ) -> FloatTensor<B> {
        let mut shape = x1.shape();
        let rank = shape.num_dims();
        let (batch, _, dimensions) = matrix_dims(&shape);
        shape.as_mut_slice()[rank - 1] = x2.shape()[rank - 2];
        with_element!(x1, T => {
            let (first, second) = (B::read::<T>(&x1), B::read::<T>(&x2));
            let (scales, variances) = (B::read::<T>(&lengthscales), B::read::<T>(&variance));
            let one = |index: usize| {
                let scales = expand(part(&scales, index, batch), dimensions);
                let points = (part(&first, index, batch), part(&second, index, batch));
                covariance(kind, points.0, points.1, &scales, variances[index])
            };
            let values = if batch == 1 { one(0) } else { (0..batch).flat_map(one).collect() };
            write::<B, T>(values, shape, &x1.device())
        })
    }

    fn patch_covariance(
        inducing: FloatTensor<B>,
        images: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        weights: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<B> {
        let arguments = [inducing, images, lengthscales, variance, weights];
        patches::covariance::<B>(arguments, kind, grid)
    }

    fn patch_variance(
        images: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        weights: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<B> {
        patches::variance::<B>([images, lengthscales, variance, weights], kind, grid)
    }

    fn covariance_product(
        x1: FloatTensor<B>,
        x2: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        vectors: FloatTensor<B>,
        kind: Stationary,
        same: bool,
    ) -> FloatTensor<B> {
        products::dense::<B>(&[x1, x2, lengthscales, variance, vectors], kind, same)
    }

    fn block_covariance(
        points: FloatTensor<B>,
        others: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        values: FloatTensor<B>,
        kind: Stationary,
        pairs: BlockPairs,
    ) -> FloatTensor<B> {
        let arguments = [points, others, lengthscales, variance, values];
        products::blocked::<B>(&arguments, kind, pairs)
    }

    fn cholesky(
        matrix: FloatTensor<B>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<B> {
        count_decomposition();
        let (batch, size, _) = matrix_dims(&matrix.shape());
        let area = size * size;
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let mut out = vec![T::default(); batch * area];
            let mut members: Vec<(&mut [T], Result<f64, PivotFailure>)> =
                (out.chunks_exact_mut(area.max(1))).map(|out| (out, Ok(0.0))).collect();
            let parts = batch_parts(batch, batch * area);
            in_parts(&mut members, 1, parts, &|members, first| {
                for (offset, (out, result)) in members.iter_mut().enumerate() {
                    let matrix = part(&values, first + offset, batch);
                    *result = factor_with_jitter(matrix, out, size, jitter);
                }
            });
            outcome.report(members.into_iter().map(|(_, result)| result).collect());
            write::<B, T>(out, matrix.shape(), &matrix.device())
        })
    }

    fn factor_from_lower(matrix: FloatTensor<B>, outcome: FactorizationOutcome) -> FloatTensor<B> {
        with_element!(matrix, T => {
            let (batch, size, _) = matrix_dims(&matrix.shape());
            let values = B::read::<T>(&matrix);
            let check = |index: usize| {
                let checked = check_diagonal(member(&values, index, size, size));
                checked.map(|()| 0.0).map_err(|BadPivot(pivot)| {
                    PivotFailure { pivot, jitter: 0.0, diagonal: (0.0, 0.0) }
                })
            };
            outcome.report((0..batch).map(check).collect());
        });
        matrix
    }

    fn lower_of_factor(factor: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(factor, T => {
            let values = B::read::<T>(&factor);
            map_members::<B, T>(&factor, |index, mut out| {
                let size = out.nrows();
                out.copy_from_triangular_lower(member(&values, index, size, size));
            })
        })
    }

    fn factor_solve(factor: FloatTensor<B>, rhs: FloatTensor<B>, side: Side) -> FloatTensor<B> {
        count_decomposition();
        with_element!(factor, T => {
            let factors = B::read::<T>(&factor);
            update_members::<B, T>(rhs, |index, out| {
                let size = out.nrows();
                solve_in_place(member(&factors, index, size, size), side, out);
            })
        })
    }

    fn factor_log_determinant(factor: FloatTensor<B>) -> FloatTensor<B> {
        count_decomposition();
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

    fn gaussian_log_density(
        covariance: FloatTensor<B>,
        residual: FloatTensor<B>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<B> {
        B::gaussian_log_density_saving(covariance, residual, jitter, outcome).0
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
        let mut shape: Vec<usize> = basis.shape().to_vec();
        let (batch, _, columns) = matrix_dims(&basis.shape());
        shape.remove(shape.len() - 2);
        with_element!(basis, T => {
            let values = B::read::<T>(&basis);
            let mut sums = vec![T::default(); batch * columns];
            for (index, sums) in sums.chunks_exact_mut(columns.max(1)).enumerate() {
                add_column_squares(part(&values, index, batch), sums);
            }
            write::<B, T>(sums, shape, &basis.device())
        })
    }

    fn gram(basis: FloatTensor<B>, side: Side) -> FloatTensor<B> {
        gram::forward::<B>(basis, side)
    }

    fn remainder(
        matrix: FloatTensor<B>,
        left: FloatTensor<B>,
        right: FloatTensor<B>,
    ) -> FloatTensor<B> {
        remainder::forward::<B>(matrix, left, right)
    }

    fn triangular_product(
        lower: FloatTensor<B>,
        rhs: FloatTensor<B>,
        side: Side,
    ) -> FloatTensor<B> {
        if !B::IN_PLACE {
            let lower = match side {
                Side::Lower => lower,
                Side::Transposed => B::float_transpose(lower),
            };
            return B::float_matmul(lower, rhs);
        }
        with_element!(lower, T => {
            let (triangles, values) = (B::read::<T>(&lower), B::read::<T>(&rhs));
            map_members::<B, T>(&rhs, |index, out| {
                let (rows, columns) = (out.nrows(), out.ncols());
                let triangle = member(&triangles, index, rows, rows);
                let rhs = member(&values, index, rows, columns);
                triangular_product(triangle, side, rhs, out, Accum::Replace);
            })
        })
    }

    fn column_products(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
        let mut shape: Vec<usize> = left.shape().to_vec();
        let (batch, _, columns) = matrix_dims(&left.shape());
        shape.remove(shape.len() - 2);
        with_element!(left, T => {
            let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
            let mut sums = vec![T::default(); batch * columns];
            for (index, sums) in sums.chunks_exact_mut(columns.max(1)).enumerate() {
                add_column_products(part(&lefts, index, batch), part(&rights, index, batch), sums);
            }
            write::<B, T>(sums, shape, &left.device())
        })
    }

    fn congruence(matrix: FloatTensor<B>, lower: FloatTensor<B>) -> FloatTensor<B> {
        if !B::IN_PLACE {
            let rows = B::float_matmul(B::float_transpose(lower.clone()), matrix);
            return B::float_matmul(rows, lower);
        }
        with_element!(matrix, T => {
            let (values, triangle) = (B::read::<T>(&matrix), B::read::<T>(&lower));
            map_members::<B, T>(&matrix, |index, out| {
                let size = out.nrows();
                let triangle = member(&triangle, index, size, size);
                congruence(member(&values, index, size, size), triangle, out);
            })
        })
    }

    fn identity_distance(matrix: FloatTensor<B>) -> FloatTensor<B> {
        let size = matrix.shape()[0];
        with_element!(matrix, T => {
            let (squares, largest) = identity_distance(&B::read::<T>(&matrix), size);
            let values = [squares.sqrt(), largest].map(<T as Scalar>::from_f64);
            write::<B, T>(values.to_vec(), [2], &matrix.device())
        })
    }

    fn inversion_step(
        lower: FloatTensor<B>,
        matrix: FloatTensor<B>,
        step_size: f64,
    ) -> FloatTensor<B> {
        let size = matrix.shape()[0];
        with_element!(matrix, T => {
            let (triangle, values) = (B::read::<T>(&lower), B::read::<T>(&matrix));
            let next = descended(&triangle, &values, size, <T as Scalar>::from_f64(step_size));
            write::<B, T>(next, [size, size], &matrix.device())
        })
    }

    fn relaxed_terms(
        kuu: FloatTensor<B>,
        variances: FloatTensor<B>,
        lower: FloatTensor<B>,
        kuf: FloatTensor<B>,
        mean: FloatTensor<B>,
        probes: FloatTensor<B>,
        widths: Widths,
    ) -> FloatTensor<B> {
        let (matrices, columns) = ([kuu, variances, lower], [kuf, mean, probes]);
        B::relaxed_terms_saving(matrices, columns, widths).0
    }

    fn ask_memory(tensor: FloatTensor<B>, answer: MemoryAnswer) -> FloatTensor<B> {
        answer.answer(B::IN_PLACE);
        tensor
    }

    fn add_to_diagonal(matrix: FloatTensor<B>, value: FloatTensor<B>) -> FloatTensor<B> {
        let (batch, _, _) = matrix_dims(&matrix.shape());
        with_element!(matrix, T => {
            let added = B::read::<T>(&value);
            let each = added.len() > batch;
            update_members::<B, T>(matrix, |index, mut out| {
                let size = out.nrows();
                for i in 0..size {
                    out[(i, i)] += added[if each { index * size + i } else { index }];
                }
            })
        })
    }

    fn gaussian_kl(mean: FloatTensor<B>, scale: FloatTensor<B>) -> FloatTensor<B> {
        let (outputs, size) = (mean.shape()[0], mean.shape()[1]);
        with_element!(mean, T => {
            let (means, scales) = (B::read::<T>(&mean), B::read::<T>(&scale));
            let values = (means.chunks_exact(size).zip(scales.chunks_exact(size * size)))
                .map(|(mean, scale)| kl(mean, scale))
                .collect();
            write::<B, T>(values, [outputs], &mean.device())
        })
    }

    fn layer_normalization(
        x: FloatTensor<B>,
        scale: FloatTensor<B>,
        shift: FloatTensor<B>,
        epsilon: f64,
    ) -> FloatTensor<B> {
        layer_normalization::forward::<B>(x, scale, shift, epsilon)
    }

    fn special(x: FloatTensor<B>, function: SpecialFunction) -> FloatTensor<B> {
        if !B::IN_PLACE && function == SpecialFunction::Tanh {
            return B::float_tanh(x);
        }
        with_element!(x, T => {
            let values = special_values(&B::read::<T>(&x), function, Part::Value);
            write::<B, T>(values, x.shape(), &x.device())
        })
    }
}
