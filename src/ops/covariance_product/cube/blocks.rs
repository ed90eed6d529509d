//! `Sᵀ·k(x, x′)` and its gradients on GPUs, for parts of the points of S.

use burn::backend::{TensorMetadata, ops::FloatTensorOps};

use super::{super::blocks::BlockPairs, Totals, add, parts, rows, sparse::Runs};
use crate::ops::{
    Stationary,
    covariance::CovarianceOps,
    cube::{CubeBackend, CubeTensor, contiguous, row_sums, with_shape, zeros_like},
};

/// `Sᵀ·k(x, x′)`, [I, N′].
pub fn block_covariance(
    [points, others, lengthscales, variance, values]: [CubeTensor; 5],
    kind: Stationary,
    pairs: BlockPairs,
) -> CubeTensor {
    let runs = Runs::new(pairs.blocks, &points);
    let values = contiguous(values);
    let out = zeros_like(&points, [pairs.blocks.count(), others.shape()[0]]);
    for part in parts(pairs.blocks.points(), &others) {
        let (scales, variance) = (lengthscales.clone(), variance.clone());
        let points = rows(&points, &part);
        let covariance = CubeBackend::covariance(points, others.clone(), scales, variance, kind);
        runs.combine(&out, covariance, &values, &part);
    }
    out
}

/// The gradients, in the order of the arguments.
pub fn block_covariance_backward(
    [points, others, lengthscales, variance, values]: [CubeTensor; 5],
    gradient: CubeTensor,
    kind: Stationary,
    pairs: BlockPairs,
    points_wanted: bool,
) -> [Option<CubeTensor>; 5] {
    let runs = Runs::new(pairs.blocks, &points);
    let count = pairs.blocks.points();
    let column = with_shape(contiguous(values), [count, 1]);
    let mut totals = Totals::default();
    let mut of_values = Vec::new();
    for part in parts(count, &others) {
        let (scales, variance) = (lengthscales.clone(), variance.clone());
        let arguments = [rows(&points, &part), others.clone(), scales, variance];
        let [points, others, scales, variance] = arguments.clone();
        let covariance = CubeBackend::covariance(points, others, scales, variance, kind);
        let spread = runs.spread(&gradient, &part);
        of_values.push(row_sums(CubeBackend::float_mul(covariance, spread.clone())));
        let weights = CubeBackend::float_mul(spread, rows(&column, &part));
        let wanted = [points_wanted, points_wanted, true, true];
        totals.add(CubeBackend::covariance_backward(
            arguments, weights, kind, wanted,
        ));
    }
    let of_points = points_wanted.then(|| CubeBackend::float_cat(totals.points, 0));
    let (of_points, of_others) = match pairs.same {
        true => (
            of_points.map(|of_points| add(totals.others, of_points)),
            None,
        ),
        false => (of_points, totals.others),
    };
    [
        of_points,
        of_others,
        totals.lengthscales,
        totals.variance,
        Some(CubeBackend::float_cat(of_values, 0)),
    ]
}
