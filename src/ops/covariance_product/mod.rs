//! Products of a stationary covariance with vectors. The covariance is computed tile by tile and
//! never stored.

mod blocked;
mod blocks;
mod copies;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod dense;
mod few_gradients;
mod few_vectors;
mod layout;
mod passes;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::{
    declaration::{dispatch, operations},
    stationary::Stationary,
};
pub(super) use blocks::BlockPairs;
pub use blocks::Blocks;

operations! {
    /// Backend implementation of the products. If both sets of points are the same, only the first is given.
    ///
    /// Gradients are in the order of the arguments. Those of the points are computed only if needed; if both
    /// sets of points are the same, the first holds the whole gradient.
    trait CovarianceProductOps on devices {
        /// `k(x1, x2)·V`, [N1, R].
        fn covariance_product(
            x1, x2, lengthscales, variance, vectors; kind: Stationary, same: bool
        ) -> FloatTensor<Self> = matrices(vectors, rows(x1), columns(vectors)),
            |gradient, wanted| {
                let arguments = [x1, x2, lengthscales, variance, vectors];
                let points_wanted = wanted[0] || wanted[1];
                B::covariance_product_backward(arguments, gradient, kind, same, points_wanted)
            };

        /// `Σ_{b∈B_j} s_b·k(x_b, x′_n)`, [I, N′].
        fn block_covariance(
            points, others, lengthscales, variance, values; kind: Stationary, pairs: BlockPairs
        ) -> FloatTensor<Self> = matrices(points, pairs.blocks.count(), rows(others)),
            |gradient, wanted| {
                let arguments = [points, others, lengthscales, variance, values];
                let points_wanted = wanted[0] || wanted[1];
                B::block_covariance_backward(arguments, gradient, kind, pairs, points_wanted)
            };
    } backward {
        /// The gradients of `covariance_product`.
        fn covariance_product_backward(
            [x1, x2, lengthscales, variance, vectors], gradient;
            kind: Stationary, same: bool, points_wanted: bool
        ) -> [Option<FloatTensor<Self>>; 5] = wanted_of(
            [x1, x2, lengthscales, variance, vectors],
            [points_wanted, points_wanted && !same, true, true, true],
        );

        /// The gradients of `block_covariance`.
        fn block_covariance_backward(
            [points, others, lengthscales, variance, values], gradient;
            kind: Stationary, pairs: BlockPairs, points_wanted: bool
        ) -> [Option<FloatTensor<Self>>; 5] = wanted_of(
            [points, others, lengthscales, variance, values],
            [points_wanted, points_wanted && !pairs.same, true, true, true],
        );
    }
}

/// `k(x1, x2)·V` for the stationary covariance `k(x, x′) = σ²·φ(Σ_d (x_d − x′_d)²/ℓ_d²)`.
///
/// Distances, covariances and the product are computed tile by tile, and again in the backward
/// pass. Memory is that of the arguments plus one tile per thread, never N1·N2; on GPUs a tile takes
/// 32 MiB. Without `x2` (when `x2 = x1`) the CPU computes the covariance of two points once and
/// uses it twice. From 8192 points on, if the points have no gradient and at least a fifth are
/// duplicates, it skips the covariances of duplicates.
///
/// # Shapes
///
/// - `x1`: `[N1, D]`, `x2`: `[N2, D]`, or `None` for `x2 = x1`
/// - `lengthscales`: `[D]`, or `[1]` if shared by all dimensions
/// - `variance`: `[1]`
/// - `vectors` (V): `[N2, R]`
/// - result: `[N1, R]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn covariance_product(
    kind: Stationary,
    x1: Tensor<2>,
    x2: Option<Tensor<2>>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
    vectors: Tensor<2>,
) -> Tensor<2> {
    let same = x2.is_none();
    let x2 = x2.unwrap_or_else(|| x1.clone());
    check("covariance_product", [&x1, &x2], &lengthscales, &variance);
    let ([columns, _], [rows, width]) = (x2.dims(), vectors.dims());
    assert!(
        rows == columns,
        "covariance_product: x2 has {columns} points, vectors is [{rows}, {width}]; expected [N2, D] \
         and [N2, R]"
    );
    let [results, _] = x1.dims();
    if results == 0 || rows == 0 || width == 0 {
        return Tensor::zeros([results, width], (&vectors.device(), vectors.dtype()));
    }
    dispatch!(covariance_product(
        x1, x2, lengthscales, variance, vectors; kind, same
    ))
}

/// `W_jn = Σ_{b∈B_j} s_b·k(x_b, x′_n)`: the covariances of `Σ_{b∈B_j} s_b·f(x_b)`, each a
/// combination of the function values of one run of consecutive points, with function values at
/// other points. This is `Sᵀ·k(x, x′)` for the block-sparse matrix S of the values s (Wenger et
/// al., *Computation-Aware Gaussian Processes: Model Selection And Linear-Time Inference*,
/// arXiv:2411.01036, §4).
///
/// Computed tile by tile like [`covariance_product`]. Without other points (when `x′ = x`) the CPU
/// computes the covariance of two points in different runs once and uses it twice. It searches for
/// duplicates within each run.
///
/// # Shapes
///
/// - `points` (x): `[N, D]`, `others` (x′): `[N′, D]`
/// - `lengthscales`: `[D]`, or `[1]` if shared by all dimensions
/// - `variance`: `[1]`
/// - `values` (s): `[N]`
/// - result: `[I, N′]`, where I is the number of runs
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn block_covariance(
    kind: Stationary,
    blocks: Blocks,
    points: Tensor<2>,
    others: Option<Tensor<2>>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
    values: Tensor<1>,
) -> Tensor<2> {
    let same = others.is_none();
    let others = others.unwrap_or_else(|| points.clone());
    check(
        "block_covariance",
        [&points, &others],
        &lengthscales,
        &variance,
    );
    let ([rows, _], [count], expected) = (points.dims(), values.dims(), blocks.points());
    assert!(
        rows == expected && count == expected,
        "block_covariance: {rows} points, {count} values, runs of {expected} points; expected \
         equal numbers"
    );
    dispatch!(block_covariance(
        points, others, lengthscales, variance, values; kind, BlockPairs { blocks, same }
    ))
}

/// Panics unless both sets of points have one lengthscale, or one per dimension, and one variance.
#[track_caller]
fn check(
    operation: &str,
    [x1, x2]: [&Tensor<2>; 2],
    lengthscales: &Tensor<1>,
    variance: &Tensor<1>,
) {
    let ([_, d1], [_, d2]) = (x1.dims(), x2.dims());
    let ([scales], [variances]) = (lengthscales.dims(), variance.dims());
    assert!(
        d1 == d2 && (scales == d1 || scales == 1) && variances == 1,
        "{operation}: points {:?} and {:?}, {scales} lengthscales, {variances} variances; expected \
         equal dimensions, as many lengthscales (or 1) and 1 variance",
        x1.dims(),
        x2.dims()
    );
}
