//! The operations that only the reverse mode calls.

use burn::backend::{TensorMetadata, tensor::FloatTensor};
use faer::{Accum, MatMut, MatRef, prelude::ReborrowMut};

use super::{
    add_share_of_jitter, expand, gram, layer_normalization, log_density, map_members, member,
    member_mut, part, patches, products, relaxation, remainder, special_values,
};
use crate::ops::{
    SpecialFunction, Stationary,
    decompositions::count_decomposition,
    extension::{FactorizationOutcome, LinearAlgebraReverse},
    factor::Jitter,
    host::{
        cholesky::two_sided_solve_in_place,
        covariance::covariance_backward,
        elementwise::Part,
        moments::{Projection, clear_above_diagonal, kl_reverse, scale_columns},
        products::BlockPairs,
        relaxation::Widths,
        scalar::Scalar,
        triangular::{Side, lower_product, solve_in_place, triangular_product},
    },
    host_access::{HostAccess, matrix_dims, with_element, write},
};
use crate::patches::PatchGrid;

/// One variable of those with a basis each.
fn alone<'a, T>(all: Projection<'a, T>, index: usize) -> Projection<'a, T> {
    Projection {
        basis: part(all.basis, index, all.outputs),
        mean: part(all.mean, index, all.outputs),
        scale: part(all.scale, index, all.outputs),
        size: all.size,
        outputs: 1,
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
            let (first, second) = (B::read::<T>(&x1), B::read::<T>(&x2));
            let (scales, variances) = (B::read::<T>(&lengthscales), B::read::<T>(&variance));
            let gradient = B::read::<T>(&gradient);
            let (batch, _, dimensions) = matrix_dims(&x1.shape());
            let mut all = [const { Vec::new() }; 4];
            for index in 0..batch {
                let given = part(&scales, index, batch);
                let gradients = covariance_backward(
                    kind,
                    part(&first, index, batch),
                    part(&second, index, batch),
                    &expand(given, dimensions),
                    variances[index],
                    part(&gradient, index, batch),
                );
                let mut scales = gradients.lengthscales;
                if given.len() != scales.len() {
                    let sum = scales.iter().fold(T::default(), |sum, &value| sum + value);
                    scales = vec![sum];
                }
                let parts = [gradients.x1, gradients.x2, scales, vec![gradients.variance]];
                if batch == 1 {
                    all = parts;
                } else {
                    all.iter_mut().zip(parts).for_each(|(all, part)| all.extend(part));
                }
            }
            let [x1_gradient, x2_gradient, scales, variances] = all;
            [
                write::<B, T>(x1_gradient, x1.shape(), &device),
                write::<B, T>(x2_gradient, x2.shape(), &device),
                write::<B, T>(scales, lengthscales.shape(), &device),
                write::<B, T>(variances, variance.shape(), &device),
            ]
        })
    }

    fn patch_covariance_reverse(
        arguments: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 5] {
        patches::covariance_reverse::<B>(arguments, gradient, kind, grid, images_wanted)
    }

    fn patch_variance_reverse(
        arguments: [FloatTensor<B>; 4],
        gradient: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 4] {
        patches::variance_reverse::<B>(arguments, gradient, kind, grid, images_wanted)
    }

    fn covariance_product_reverse(
        arguments: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        kind: Stationary,
        same: bool,
        points_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 5] {
        products::dense_reverse::<B>(&arguments, &gradient, kind, same, points_wanted)
    }

    fn block_covariance_reverse(
        arguments: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        kind: Stationary,
        pairs: BlockPairs,
        points_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 5] {
        products::blocked_reverse::<B>(&arguments, &gradient, kind, pairs, points_wanted)
    }

    fn cholesky_reverse(
        factor: FloatTensor<B>,
        cotangent: FloatTensor<B>,
        jitter: Vec<f64>,
    ) -> FloatTensor<B> {
        count_decomposition();
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
                add_share_of_jitter(out, jitter[index]);
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

    fn factor_from_lower_reverse(
        factor: FloatTensor<B>,
        cotangent: FloatTensor<B>,
    ) -> FloatTensor<B> {
        count_decomposition();
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

    fn gaussian_log_density_saving(
        covariance: FloatTensor<B>,
        residual: FloatTensor<B>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> (FloatTensor<B>, [FloatTensor<B>; 2]) {
        log_density::saving::<B>(covariance, residual, jitter, outcome)
    }

    fn gaussian_log_density_reverse(
        saved: [FloatTensor<B>; 2],
        gradient: FloatTensor<B>,
        jitter: f64,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<B>>; 2] {
        log_density::reverse::<B>(saved, gradient, jitter, wanted)
    }

    fn projected_moments_saving(
        basis: FloatTensor<B>,
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        let (batch, size, columns) = matrix_dims(&basis.shape());
        let (outputs, shared) = (mean.shape()[0], basis.shape().num_dims() == 2);
        let device = basis.device();
        with_element!(basis, T => {
            let (basis, mean, scale) =
                (B::read::<T>(&basis), B::read::<T>(&mean), B::read::<T>(&scale));
            let projection =
                Projection { basis: &basis, mean: &mean, scale: &scale, size, outputs };
            let (moments, projected) = if shared {
                projection.moments()
            } else {
                let mut moments = [Vec::new(), Vec::new()];
                let mut projected = Vec::with_capacity(batch * size * columns);
                for index in 0..batch {
                    let (both, values) = alone(projection, index).moments();
                    let (means, variances) = both.split_at(columns);
                    moments[0].extend_from_slice(means);
                    moments[1].extend_from_slice(variances);
                    projected.extend(values);
                }
                (moments.concat(), projected)
            };
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
        let (batch, size, columns) = matrix_dims(&basis.shape());
        let (outputs, shared) = (mean.shape()[0], basis.shape().num_dims() == 2);
        let shapes = [basis.shape(), mean.shape(), scale.shape()];
        let device = basis.device();
        with_element!(basis, T => {
            let (basis, mean, scale) =
                (B::read::<T>(&basis), B::read::<T>(&mean), B::read::<T>(&scale));
            let projection =
                Projection { basis: &basis, mean: &mean, scale: &scale, size, outputs };
            let (projected, gradient) = (B::read::<T>(&projected), B::read::<T>(&gradient));
            let gradients = if shared {
                projection.reverse(&projected, &gradient)
            } else {
                let mut all = [const { Vec::new() }; 3];
                let (means, variances) = gradient.split_at(outputs * columns);
                for index in 0..batch {
                    let both = [part(means, index, batch), part(variances, index, batch)].concat();
                    let projected = part(&projected, index, batch);
                    let parts = alone(projection, index).reverse(projected, &both);
                    all.iter_mut().zip(parts).for_each(|(all, part)| all.extend(part));
                }
                all
            };
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
            let (values, gradient) = (B::read::<T>(&basis), B::read::<T>(&gradient));
            let (batch, _, _) = matrix_dims(&basis.shape());
            let one = |index: usize| {
                scale_columns(part(&values, index, batch), part(&gradient, index, batch), 2.0)
            };
            let out = if batch == 1 { one(0) } else { (0..batch).flat_map(one).collect() };
            write::<B, T>(out, basis.shape(), &basis.device())
        })
    }

    fn gram_reverse(basis: FloatTensor<B>, gradient: FloatTensor<B>, side: Side) -> FloatTensor<B> {
        gram::reverse::<B>(basis, gradient, side)
    }

    fn remainder_reverse(
        factors: [FloatTensor<B>; 2],
        gradient: FloatTensor<B>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<B>>; 2] {
        remainder::reverse::<B>(factors, gradient, wanted)
    }

    fn relaxed_terms_saving(
        matrices: [FloatTensor<B>; 3],
        columns: [FloatTensor<B>; 3],
        widths: Widths,
    ) -> (FloatTensor<B>, [FloatTensor<B>; 5]) {
        relaxation::forward::<B>(matrices, columns, widths)
    }

    fn relaxed_terms_reverse(
        matrices: [FloatTensor<B>; 3],
        saved: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        widths: Widths,
    ) -> [FloatTensor<B>; 4] {
        relaxation::reverse::<B>(matrices, saved, gradient, widths)
    }

    fn lower_of_product(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
        let mut shape = left.shape();
        let rank = shape.num_dims();
        let (batch, size, inner) = matrix_dims(&shape);
        shape.as_mut_slice()[rank - 1] = size;
        with_element!(left, T => {
            let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
            let mut out = vec![T::default(); batch * size * size];
            for (index, out) in out.chunks_exact_mut((size * size).max(1)).enumerate() {
                lower_product(
                    member_mut(out, 0, size, size),
                    Accum::Replace,
                    member(&lefts, index, size, inner),
                    member(&rights, index, size, inner).transpose(),
                    <T as Scalar>::from_f64(1.0),
                );
                clear_above_diagonal(out, size);
            }
            write::<B, T>(out, shape, &left.device())
        })
    }

    fn column_products_reverse(
        left: FloatTensor<B>,
        right: FloatTensor<B>,
        gradient: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        let (batch, _, _) = matrix_dims(&left.shape());
        with_element!(left, T => {
            let gradients = B::read::<T>(&gradient);
            [&right, &left].map(|other| {
                let values = B::read::<T>(other);
                let one = |index: usize| {
                    let gradient = part(&gradients, index, batch);
                    scale_columns(part(&values, index, batch), gradient, 1.0)
                };
                let out = if batch == 1 { one(0) } else { (0..batch).flat_map(one).collect() };
                write::<B, T>(out, left.shape(), &left.device())
            })
        })
    }

    fn diagonal(matrix: FloatTensor<B>) -> FloatTensor<B> {
        let (batch, size, _) = matrix_dims(&matrix.shape());
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let entries = values.chunks_exact((size * size).max(1));
            let diagonals = entries.flat_map(|matrix| matrix.iter().copied().step_by(size + 1));
            write::<B, T>(diagonals.collect(), [batch * size], &matrix.device())
        })
    }

    fn trace(matrix: FloatTensor<B>) -> FloatTensor<B> {
        let (batch, size, _) = matrix_dims(&matrix.shape());
        with_element!(matrix, T => {
            let values = B::read::<T>(&matrix);
            let traces = (0..batch)
                .map(|index| {
                    let matrix = member(&values, index, size, size);
                    let sum: f64 = (0..size).map(|i| matrix[(i, i)].to_f64()).sum();
                    <T as Scalar>::from_f64(sum)
                })
                .collect();
            write::<B, T>(traces, [batch], &matrix.device())
        })
    }

    fn gaussian_kl_reverse(
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
                kl_reverse(scale, size, gradient, out);
            }
            [
                write::<B, T>(mean_gradient, mean.shape(), &device),
                write::<B, T>(scale_gradient, scale.shape(), &device),
            ]
        })
    }

    fn layer_normalization_reverse(
        x: FloatTensor<B>,
        scale: FloatTensor<B>,
        gradient: FloatTensor<B>,
        epsilon: f64,
    ) -> [FloatTensor<B>; 3] {
        layer_normalization::reverse::<B>(x, scale, gradient, epsilon)
    }

    fn special_reverse(
        x: FloatTensor<B>,
        gradient: FloatTensor<B>,
        function: SpecialFunction,
    ) -> FloatTensor<B> {
        if !B::IN_PLACE && function == SpecialFunction::Tanh {
            let values = B::float_tanh(x);
            let lost = B::float_mul(B::float_mul(values.clone(), values), gradient.clone());
            return B::float_sub(gradient, lost);
        }
        with_element!(x, T => {
            let mut values = special_values(&B::read::<T>(&x), function, Part::Slope);
            for (value, &gradient) in values.iter_mut().zip(B::read::<T>(&gradient).iter()) {
                *value *= gradient;
            }
            write::<B, T>(values, x.shape(), &x.device())
        })
    }
}
