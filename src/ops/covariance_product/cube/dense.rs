//! `k(x1, x2)·V` and its gradients on GPUs, for parts of the second set of points.

use burn::backend::{TensorMetadata, ops::FloatTensorOps};

use super::{Totals, add, parts, rows};
use crate::ops::{
    Stationary,
    covariance::CovarianceOps,
    cube::{CubeBackend, CubeTensor, Part, Target, product, transposed},
};

/// `k(x1, x2)·V`
pub fn covariance_product(
    [x1, x2, lengthscales, variance, vectors]: [CubeTensor; 5],
    kind: Stationary,
) -> CubeTensor {
    let mut sum = None;
    for part in parts(x2.shape()[0], &x1) {
        let (scales, variance) = (lengthscales.clone(), variance.clone());
        let covariance =
            CubeBackend::covariance(x1.clone(), rows(&x2, &part), scales, variance, kind);
        let target = sum.map_or(Target::New, Target::Sum);
        sum = Some(product(
            covariance,
            rows(&vectors, &part),
            target,
            Part::Whole,
        ));
    }
    sum.unwrap_or_else(|| unreachable!("there are points"))
}

/// The gradients, in the order of the arguments.
pub fn covariance_product_backward(
    [x1, x2, lengthscales, variance, vectors]: [CubeTensor; 5],
    gradient: CubeTensor,
    kind: Stationary,
    same: bool,
    points_wanted: bool,
) -> [Option<CubeTensor>; 5] {
    let mut totals = Totals::default();
    let mut of_vectors = Vec::new();
    for part in parts(x2.shape()[0], &x1) {
        let (others, vectors) = (rows(&x2, &part), rows(&vectors, &part));
        let (scales, variance) = (lengthscales.clone(), variance.clone());
        let arguments = [others, x1.clone(), scales, variance];
        let [others, points, scales, variance] = arguments.clone();
        let covariance = CubeBackend::covariance(others, points, scales, variance, kind);
        of_vectors.push(product(
            covariance,
            gradient.clone(),
            Target::New,
            Part::Whole,
        ));
        let weights = product(
            vectors,
            transposed(gradient.clone()),
            Target::New,
            Part::Whole,
        );
        let wanted = [points_wanted, points_wanted, true, true];
        totals.add(CubeBackend::covariance_backward(
            arguments, weights, kind, wanted,
        ));
    }
    let of_x2 = points_wanted.then(|| CubeBackend::float_cat(totals.points, 0));
    let (of_x1, of_x2) = match same {
        true => (of_x2.map(|of_x2| add(totals.others, of_x2)), None),
        false => (totals.others, of_x2),
    };
    let of_vectors = CubeBackend::float_cat(of_vectors, 0);
    [
        of_x1,
        of_x2,
        totals.lengthscales,
        totals.variance,
        Some(of_vectors),
    ]
}
