//! The moments on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    Baseline, MomentOps,
    kernels::{Gaussians, add_column_products, add_column_squares, kl, kl_backward, scale_columns},
};
use crate::ops::cpu::{
    CpuMemory, Element, join_members, matrix_dims, part, threads, with_element, write, write_like,
};

/// One of the variables, for when each has its own basis.
fn alone<'a, T>(all: Gaussians<'a, T>, index: usize) -> Gaussians<'a, T> {
    Gaussians {
        mean: part(all.mean, index, all.outputs),
        scale: part(all.scale, index, all.outputs),
        outputs: 1,
        ..all
    }
}

/// One row of sums per matrix, computed by `add` from the member's index and the number of members.
fn column_sums<B: CpuMemory, T: Element>(
    matrices: &FloatTensor<B>,
    add: impl Fn(usize, usize, &mut [T]),
) -> FloatTensor<B> {
    let (batch, _, columns) = matrix_dims(&matrices.shape());
    let mut shape: Vec<usize> = matrices.shape().to_vec();
    shape.remove(shape.len() - 2);
    let mut sums = vec![T::default(); batch * columns];
    for (index, sums) in sums.chunks_exact_mut(columns.max(1)).enumerate() {
        add(index, batch, sums);
    }
    write::<B, T>(sums, shape, &matrices.device())
}

impl<B: CpuMemory> MomentOps for B {
    fn projected_moments(
        basis: FloatTensor<B>,
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
        baseline: Baseline,
    ) -> (FloatTensor<B>, FloatTensor<B>) {
        let (batch, size, columns) = matrix_dims(&basis.shape());
        let (outputs, shared) = (mean.shape()[0], basis.shape().num_dims() == 2);
        let device = basis.device();
        with_element!(basis, T => {
            let [basis, mean, scale] = [&basis, &mean, &scale].map(|t| B::read::<T>(t));
            let variables = Gaussians { mean: &mean, scale: &scale, size, outputs, baseline };
            let (moments, projected) = if shared {
                variables.moments(&basis)
            } else {
                let [means, variances, projected] = join_members(batch, |index| {
                    let (mut means, values) =
                        alone(variables, index).moments(part(&basis, index, batch));
                    let variances = means.split_off(columns);
                    [means, variances, values]
                });
                ([means, variances].concat(), projected)
            };
            (
                write::<B, T>(moments, [2, outputs, columns], &device),
                write::<B, T>(projected, [outputs, size, columns], &device),
            )
        })
    }

    fn column_squares(basis: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(basis, T => {
            let values = B::read::<T>(&basis);
            column_sums::<B, T>(&basis, |index, batch, sums| {
                add_column_squares(part(&values, index, batch), sums);
            })
        })
    }

    fn column_products(left: FloatTensor<B>, right: FloatTensor<B>) -> FloatTensor<B> {
        with_element!(left, T => {
            let (lefts, rights) = (B::read::<T>(&left), B::read::<T>(&right));
            column_sums::<B, T>(&left, |index, batch, sums| {
                add_column_products(part(&lefts, index, batch), part(&rights, index, batch), sums);
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

    fn projected_moments_backward(
        saved: [FloatTensor<B>; 4],
        gradient: FloatTensor<B>,
        baseline: Baseline,
    ) -> [FloatTensor<B>; 3] {
        let (batch, size, columns) = matrix_dims(&saved[0].shape());
        let (outputs, shared) = (saved[1].shape()[0], saved[0].shape().num_dims() == 2);
        with_element!(gradient, T => {
            let [given_basis, given_mean, given_scale, projected] = saved;
            let [basis, mean, scale] = [&given_basis, &given_mean, &given_scale].map(|t| B::read::<T>(t));
            let mut projected = B::take::<T>(projected);
            let variables = Gaussians { mean: &mean, scale: &scale, size, outputs, baseline };
            let gradient = B::read::<T>(&gradient);
            let [basis, mean, scale] = if shared {
                variables.backward(&basis, &mut projected, &gradient)
            } else {
                let (means, variances) = gradient.split_at(outputs * columns);
                join_members(batch, |index| {
                    let both = [part(means, index, batch), part(variances, index, batch)].concat();
                    let mut projected = part(&projected, index, batch).to_vec();
                    let basis = part(&basis, index, batch);
                    alone(variables, index).backward(basis, &mut projected, &both)
                })
            };
            [
                write_like::<B, T>(basis, &given_basis),
                write_like::<B, T>(mean, &given_mean),
                write_like::<B, T>(scale, &given_scale),
            ]
        })
    }

    fn column_squares_backward(basis: FloatTensor<B>, gradient: FloatTensor<B>) -> FloatTensor<B> {
        scaled_columns::<B>(&basis, &gradient, 2.0)
    }

    fn column_products_backward(
        [left, right]: [FloatTensor<B>; 2],
        gradient: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        [&right, &left].map(|other| scaled_columns::<B>(other, &gradient, 1.0))
    }

    fn gaussian_kl_backward(
        [mean, scale]: [FloatTensor<B>; 2],
        gradient: FloatTensor<B>,
    ) -> [FloatTensor<B>; 2] {
        let size = mean.shape()[1];
        with_element!(mean, T => {
            let (means, scales, gradients) =
                (B::read::<T>(&mean), B::read::<T>(&scale), B::read::<T>(&gradient));
            let mut scale_gradient = threads::zeros(scales.len());
            let mean_gradient = (means.chunks_exact(size).zip(gradients.iter()))
                .flat_map(|(mean, &gradient)| mean.iter().map(move |&m| gradient * m))
                .collect();
            let area = size * size;
            for ((scale, out), &gradient) in (scales.chunks_exact(area))
                .zip(scale_gradient.chunks_exact_mut(area))
                .zip(gradients.iter())
            {
                kl_backward(scale, size, gradient, out);
            }
            [
                write_like::<B, T>(mean_gradient, &mean),
                write_like::<B, T>(scale_gradient, &scale),
            ]
        })
    }
}

/// `factor·A·diag(g)`, one per batch member.
fn scaled_columns<B: CpuMemory>(
    matrix: &FloatTensor<B>,
    gradient: &FloatTensor<B>,
    factor: f64,
) -> FloatTensor<B> {
    let (batch, _, _) = matrix_dims(&matrix.shape());
    with_element!(*matrix, T => {
        let (values, gradients) = (B::read::<T>(matrix), B::read::<T>(gradient));
        let [out] = join_members(batch, |index| {
            let gradient = part(&gradients, index, batch);
            [scale_columns(part(&values, index, batch), gradient, factor)]
        });
        write_like::<B, T>(out, matrix)
    })
}
