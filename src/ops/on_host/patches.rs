//! The sums over patches on the host.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use crate::{
    ops::{
        Stationary,
        host::patches::{PatchCovariance, PatchVariance},
        host_access::{HostAccess, with_element, write},
    },
    patches::PatchGrid,
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

pub(super) fn covariance<B: HostAccess>(
    arguments: [FloatTensor<B>; 5],
    kind: Stationary,
    grid: PatchGrid,
) -> FloatTensor<B> {
    let shape = [arguments[0].shape()[0], arguments[1].shape()[0]];
    with_covariance!(arguments, grid, T, sum => {
        write::<B, T>(sum.values(kind), shape, &arguments[0].device())
    })
}

pub(super) fn covariance_reverse<B: HostAccess>(
    arguments: [FloatTensor<B>; 5],
    gradient: FloatTensor<B>,
    kind: Stationary,
    grid: PatchGrid,
    images_wanted: bool,
) -> [Option<FloatTensor<B>>; 5] {
    with_covariance!(arguments, grid, T, sum => {
        let gradients = sum.reverse(kind, &B::read::<T>(&gradient), images_wanted);
        let [inducing, images, lengthscales, variance, weights] = &arguments;
        let write = |values, of: &FloatTensor<B>| write::<B, T>(values, of.shape(), &of.device());
        [
            Some(write(gradients.inducing, inducing)),
            gradients.images.map(|gradient| write(gradient, images)),
            Some(write(gradients.lengthscales, lengthscales)),
            Some(write(vec![gradients.variance], variance)),
            Some(write(gradients.weights, weights)),
        ]
    })
}

pub(super) fn variance<B: HostAccess>(
    arguments: [FloatTensor<B>; 4],
    kind: Stationary,
    grid: PatchGrid,
) -> FloatTensor<B> {
    let shape = [arguments[0].shape()[0]];
    with_variance!(arguments, grid, T, sum => {
        write::<B, T>(sum.values(kind), shape, &arguments[0].device())
    })
}

pub(super) fn variance_reverse<B: HostAccess>(
    arguments: [FloatTensor<B>; 4],
    gradient: FloatTensor<B>,
    kind: Stationary,
    grid: PatchGrid,
    images_wanted: bool,
) -> [Option<FloatTensor<B>>; 4] {
    with_variance!(arguments, grid, T, sum => {
        let gradients = sum.reverse(kind, &B::read::<T>(&gradient), images_wanted);
        let [images, lengthscales, variance, weights] = &arguments;
        let write = |values, of: &FloatTensor<B>| write::<B, T>(values, of.shape(), &of.device());
        [
            gradients.images.map(|gradient| write(gradient, images)),
            Some(write(gradients.lengthscales, lengthscales)),
            Some(write(vec![gradients.variance], variance)),
            Some(write(gradients.weights, weights)),
        ]
    })
}
