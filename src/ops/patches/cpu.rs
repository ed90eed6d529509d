//! Sums over patches on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{PatchGrid, PatchOps, covariance::PatchCovariance, variance::PatchVariance};
use crate::ops::{
    Stationary,
    cpu::{CpuMemory, with_element, write, write_like},
};

impl<B: CpuMemory> PatchOps for B {
    fn patch_covariance(
        inducing: FloatTensor<B>,
        images: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        weights: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<B> {
        let shape = [inducing.shape()[0], images.shape()[0]];
        with_element!(images, T => {
            let all = [&inducing, &images, &lengthscales, &variance, &weights];
            let all = all.map(|argument| B::read::<T>(argument));
            write::<B, T>(PatchCovariance::new(&all, grid).values(kind), shape, &images.device())
        })
    }

    fn patch_variance(
        images: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        weights: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<B> {
        let shape = [images.shape()[0]];
        with_element!(images, T => {
            let all = [&images, &lengthscales, &variance, &weights];
            let all = all.map(|argument| B::read::<T>(argument));
            write::<B, T>(PatchVariance::new(&all, grid).values(kind), shape, &images.device())
        })
    }

    fn patch_covariance_backward(
        arguments: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 5] {
        with_element!(gradient, T => {
            let all = arguments.each_ref().map(|argument| B::read::<T>(argument));
            let sums = PatchCovariance::new(&all, grid);
            let gradients = sums.backward(kind, &B::read::<T>(&gradient), images_wanted);
            let [inducing, images, lengthscales, variance, weights] = &arguments;
            let write = write_like::<B, T>;
            [
                Some(write(gradients.inducing, inducing)),
                gradients.images.map(|gradient| write(gradient, images)),
                Some(write(gradients.lengthscales, lengthscales)),
                Some(write(vec![gradients.variance], variance)),
                Some(write(gradients.weights, weights)),
            ]
        })
    }

    fn patch_variance_backward(
        arguments: [FloatTensor<B>; 4],
        gradient: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 4] {
        with_element!(gradient, T => {
            let all = arguments.each_ref().map(|argument| B::read::<T>(argument));
            let sums = PatchVariance::new(&all, grid);
            let gradients = sums.backward(kind, &B::read::<T>(&gradient), images_wanted);
            let [images, lengthscales, variance, weights] = &arguments;
            let write = write_like::<B, T>;
            [
                gradients.images.map(|gradient| write(gradient, images)),
                Some(write(gradients.lengthscales, lengthscales)),
                Some(write(vec![gradients.variance], variance)),
                Some(write(gradients.weights, weights)),
            ]
        })
    }
}
