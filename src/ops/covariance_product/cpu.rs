//! Covariance products on the CPU.

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    BlockPairs, CovarianceProductOps, blocked::BlockProduct, blocks::Runs, dense::Product,
};
use crate::ops::{
    Stationary,
    cpu::{CpuMemory, Element, with_element, write, write_like},
    stationary::expand,
};

/// Runs `$body` with `$product` standing for the [`Product`] of the arguments.
macro_rules! with_product {
    ($arguments:expr, $same:expr, $element:ident, $product:ident => $body:expr) => {
        with_element!($arguments[0], $element => {
            let all = $arguments.each_ref().map(|tensor| B::read::<$element>(tensor));
            let [x1, x2, lengthscales, variance, vectors] = &all;
            let $product = Product {
                x1,
                x2: (!$same).then_some(x2),
                lengthscales: &expand(lengthscales, $arguments[0].shape()[1]),
                variance: variance[0],
                vectors,
            };
            $body
        })
    };
}

/// Runs `$body` with `$product` standing for the [`BlockProduct`] of the arguments.
macro_rules! with_blocks {
    ($arguments:expr, $pairs:expr, $element:ident, $product:ident => $body:expr) => {
        with_element!($arguments[0], $element => {
            let all = $arguments.each_ref().map(|tensor| B::read::<$element>(tensor));
            let [points, others, lengthscales, variance, values] = &all;
            let $product = BlockProduct {
                runs: &Runs::from($pairs.blocks),
                points,
                others: (!$pairs.same).then_some(others),
                lengthscales: &expand(lengthscales, $arguments[0].shape()[1]),
                variance: variance[0],
                values,
            };
            $body
        })
    };
}

/// Reduces a gradient to as many lengthscales as were given.
fn shared<T: Element>(gradients: Vec<T>, given: usize) -> Vec<T> {
    if given == gradients.len() {
        return gradients;
    }
    let sum: f64 = gradients.iter().map(|gradient| gradient.to_f64()).sum();
    vec![T::from_f64(sum)]
}

impl<B: CpuMemory> CovarianceProductOps for B {
    fn covariance_product(
        x1: FloatTensor<B>,
        x2: FloatTensor<B>,
        lengthscales: FloatTensor<B>,
        variance: FloatTensor<B>,
        vectors: FloatTensor<B>,
        kind: Stationary,
        same: bool,
    ) -> FloatTensor<B> {
        let arguments = [x1, x2, lengthscales, variance, vectors];
        let shape = [arguments[0].shape()[0], arguments[4].shape()[1]];
        with_product!(arguments, same, T, product => {
            write::<B, T>(product.values(kind), shape, &arguments[0].device())
        })
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
        let shape = [pairs.blocks.count(), arguments[1].shape()[0]];
        with_blocks!(arguments, pairs, T, product => {
            write::<B, T>(product.covariances(kind), shape, &arguments[0].device())
        })
    }

    fn covariance_product_backward(
        arguments: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        kind: Stationary,
        same: bool,
        points_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 5] {
        let [x1, x2, lengthscales, variance, vectors] = &arguments;
        with_product!(arguments, same, T, product => {
            let gradients = product.backward(kind, &B::read::<T>(&gradient), points_wanted);
            let scales = shared(gradients.covariance.lengthscales, lengthscales.shape()[0]);
            let write = write_like::<B, T>;
            [
                points_wanted.then(|| write(gradients.covariance.x1, x1)),
                (points_wanted && !same).then(|| write(gradients.covariance.x2, x2)),
                Some(write(scales, lengthscales)),
                Some(write(vec![gradients.covariance.variance], variance)),
                Some(write(gradients.vectors, vectors)),
            ]
        })
    }

    fn block_covariance_backward(
        arguments: [FloatTensor<B>; 5],
        gradient: FloatTensor<B>,
        kind: Stationary,
        pairs: BlockPairs,
        points_wanted: bool,
    ) -> [Option<FloatTensor<B>>; 5] {
        let [points, others, lengthscales, variance, values] = &arguments;
        with_blocks!(arguments, pairs, T, product => {
            let gradients = product.backward(kind, &B::read::<T>(&gradient), points_wanted);
            let scales = shared(gradients.lengthscales, lengthscales.shape()[0]);
            let write = write_like::<B, T>;
            [
                gradients.points.map(|gradient| write(gradient, points)),
                gradients.others.map(|gradient| write(gradient, others)),
                Some(write(scales, lengthscales)),
                Some(write(vec![gradients.variance], variance)),
                Some(write(gradients.values, values)),
            ]
        })
    }
}
