//! Covariance products on the CPU.

use std::borrow::Cow;

use burn::backend::{TensorMetadata, tensor::FloatTensor};

use super::{
    BlockPairs, CovarianceProductOps, blocked::BlockProduct, blocks::Runs, dense::Product,
};
use crate::ops::{
    Stationary,
    cpu::{CpuMemory, Element, with_element, write, write_like},
    stationary::expand,
};

/// The values of the points, the other points, the lengthscales, the variance and the vectors.
type Values<'a, T> = [Cow<'a, [T]>; 5];

fn read_all<B: CpuMemory, T: Element>(arguments: &[FloatTensor<B>; 5]) -> Values<'_, T> {
    arguments.each_ref().map(|tensor| B::read::<T>(tensor))
}

fn product<'a, T: Element>(
    [x1, x2, _, variance, vectors]: &'a Values<'_, T>,
    lengthscales: &'a [T],
    same: bool,
) -> Product<'a, T> {
    Product {
        x1,
        x2: (!same).then_some(x2),
        lengthscales,
        variance: variance[0],
        vectors,
    }
}

fn block_product<'a, T: Element>(
    [points, others, _, variance, values]: &'a Values<'_, T>,
    lengthscales: &'a [T],
    (runs, same): (&'a Runs, bool),
) -> BlockProduct<'a, T> {
    BlockProduct {
        runs,
        points,
        others: (!same).then_some(others),
        lengthscales,
        variance: variance[0],
        values,
    }
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
        let dimensions = arguments[0].shape()[1];
        with_element!(arguments[0], T => {
            let all = read_all::<B, T>(&arguments);
            let product = product(&all, &expand(&all[2], dimensions), same).values(kind);
            write::<B, T>(product, shape, &arguments[0].device())
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
        let (dimensions, runs) = (arguments[0].shape()[1], Runs::from(pairs.blocks));
        with_element!(arguments[0], T => {
            let all = read_all::<B, T>(&arguments);
            let scales = expand(&all[2], dimensions);
            let product = block_product(&all, &scales, (&runs, pairs.same)).covariances(kind);
            write::<B, T>(product, shape, &arguments[0].device())
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
        with_element!(arguments[0], T => {
            let all = read_all::<B, T>(&arguments);
            let scales = expand(&all[2], x1.shape()[1]);
            let gradients = product(&all, &scales, same)
                .backward(kind, &B::read::<T>(&gradient), points_wanted);
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
        let runs = Runs::from(pairs.blocks);
        with_element!(arguments[0], T => {
            let all = read_all::<B, T>(&arguments);
            let scales = expand(&all[2], points.shape()[1]);
            let gradients = block_product(&all, &scales, (&runs, pairs.same))
                .backward(kind, &B::read::<T>(&gradient), points_wanted);
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
