//! The sums over patches on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    PatchBackward, PatchGrid, PatchOps, covariance::PatchCovariance, variance::PatchVariance,
};
use crate::ops::{
    Stationary,
    cpu::{CpuAccess, with_element, write, write_like},
};

/// Runs `$body` with `$sum` standing for the [`PatchCovariance`] of the arguments.
macro_rules! with_covariance {
    ($arguments:expr, $grid:expr, $element:ident, $sum:ident => $body:expr) => {
        with_element!($arguments[0], $element => {
            let all = $arguments.each_ref().map(|tensor| B::read::<$element>(tensor));
            let [inducing, images, lengthscales, variance, weights] = &all;
            let $sum = PatchCovariance {
                grid: $grid,
                inducing,
                images,
                lengthscales,
                variance: variance[0],
                weights,
            };
            $body
        })
    };
}

/// Runs `$body` with `$sum` standing for the [`PatchVariance`] of the arguments.
macro_rules! with_variance {
    ($arguments:expr, $grid:expr, $element:ident, $sum:ident => $body:expr) => {
        with_element!($arguments[0], $element => {
            let all = $arguments.each_ref().map(|tensor| B::read::<$element>(tensor));
            let [images, lengthscales, variance, weights] = &all;
            let $sum = PatchVariance {
                grid: $grid,
                images,
                lengthscales,
                variance: variance[0],
                weights,
            };
            $body
        })
    };
}

impl<B: CpuAccess> PatchOps for B {
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
        let shape = [arguments[0].shape()[0], arguments[1].shape()[0]];
        with_covariance!(arguments, grid, T, sum => {
            write::<B, T>(sum.values(kind), shape, &arguments[0].device())
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
        let arguments = [images, lengthscales, variance, weights];
        let shape = [arguments[0].shape()[0]];
        with_variance!(arguments, grid, T, sum => {
            write::<B, T>(sum.values(kind), shape, &arguments[0].device())
        })
    }
}

impl<B: CpuAccess> PatchBackward for B {
    fn patch_covariance_backward(
        arguments: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 5] {
        with_covariance!(arguments, grid, T, sum => {
            let gradients = sum.backward(kind, &B::read::<T>(&gradient), images_wanted);
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
        with_variance!(arguments, grid, T, sum => {
            let gradients = sum.backward(kind, &B::read::<T>(&gradient), images_wanted);
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
