//! The moments on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{SolvedMomentOps, kernels};
use crate::ops::{
    cpu::{CpuMemory, matrix_dims, member, member_mut, with_element, write, write_like},
    decompositions::count_decomposition,
    moments::{Baseline, Gaussians},
};

impl<B: CpuMemory> SolvedMomentOps for B {
    fn solved_moments(
        factor: FloatTensor<B>,
        rhs: FloatTensor<B>,
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
    ) -> FloatTensor<B> {
        let [moments, ..] = B::solved_moments_with_intermediates(factor, rhs, mean, scale);
        moments
    }

    fn solved_moments_with_intermediates(
        factor: FloatTensor<B>,
        rhs: FloatTensor<B>,
        mean: FloatTensor<B>,
        scale: FloatTensor<B>,
    ) -> [FloatTensor<B>; 3] {
        count_decomposition();
        let (outputs, device) = (mean.shape()[0], mean.device());
        let shape = rhs.shape();
        let (_, size, columns) = matrix_dims(&shape);
        with_element!(rhs, T => {
            let mut solution = B::take::<T>(rhs);
            let [factor, mean, scale] = [&factor, &mean, &scale].map(|t| B::read::<T>(t));
            let (moments, projected) = kernels::moments(
                member(&factor, 0, size, size),
                member_mut(&mut solution, 0, size, columns),
                Gaussians {
                    mean: &mean,
                    scale: &scale,
                    size,
                    outputs,
                    baseline: Baseline::StandardNormal,
                },
            );
            [
                write::<B, T>(moments, [2, outputs, columns], &device),
                write::<B, T>(solution, shape, &device),
                write::<B, T>(projected, [outputs, size, columns], &device),
            ]
        })
    }

    fn solved_moments_backward(
        [factor, solution, mean, scale, projected]: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<B>>; 4] {
        if wanted[1] {
            count_decomposition();
        }
        let outputs = mean.shape()[0];
        let (_, size, columns) = matrix_dims(&solution.shape());
        with_element!(gradient, T => {
            let mut projected = B::take::<T>(projected);
            let [lower, basis, means, scales, gradient] =
                [&factor, &solution, &mean, &scale, &gradient].map(|t| B::read::<T>(t));
            let gradients = kernels::backward(
                member(&lower, 0, size, size),
                member(&basis, 0, size, columns),
                &mut projected,
                Gaussians {
                    mean: &means,
                    scale: &scales,
                    size,
                    outputs,
                    baseline: Baseline::StandardNormal,
                },
                &gradient,
                wanted,
            );
            [
                gradients.cotangent.map(|values| write_like::<B, T>(values, &factor)),
                gradients.rhs.map(|values| write_like::<B, T>(values, &solution)),
                Some(write_like::<B, T>(gradients.mean, &mean)),
                Some(write_like::<B, T>(gradients.scale, &scale)),
            ]
        })
    }
}
