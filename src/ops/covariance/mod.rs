//! The fused stationary covariance.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod differences;
mod products;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::{
    declaration::{dispatch, operations},
    stationary::Stationary,
};
pub(super) use differences::{
    CovarianceGradients, MANY_DIMENSIONS, covariance_on, exchange_for_covariance, parts,
};

operations! {
    /// Backend implementation of the covariance.
    trait CovarianceOps on devices {
        /// `k(x1, x2)`, [N1, N2]; or with a leading batch dimension on every argument.
        fn covariance(x1, x2, lengthscales, variance; kind: Stationary) -> FloatTensor<Self>
            = matrices(x1, rows(x1), rows(x2)),
            |gradient, wanted| {
                B::covariance_backward([x1, x2, lengthscales, variance], gradient, kind, wanted)
            };
    } backward {
        /// The gradients of `x1`, `x2`, the lengthscales and the variance, batched like the covariance. They may
        /// include gradients that are not wanted.
        fn covariance_backward(
            [x1, x2, lengthscales, variance], gradient; kind: Stationary, wanted: [bool; 4]
        ) -> [Option<FloatTensor<Self>>; 4] = wanted_of([x1, x2, lengthscales, variance], wanted);
    }
}

/// The stationary covariance `k(x, x′) = σ²·φ(Σ_d (x_d − x′_d)²/ℓ_d²)` between two sets of points.
///
/// One pass computes distances and covariances together; one backward pass computes the gradients
/// with respect to both sets of points, the lengthscales and the variance. Nothing of size N1·N2 is
/// kept for the backward pass. The derivative at coincident points is exact (for Matérn-1/2, whose
/// slope jumps there, it is the mean of the one-sided slopes, zero).
///
/// # Shapes
///
/// - `x1`: `[N1, D]`, `x2`: `[N2, D]`
/// - `lengthscales`: `[D]`, or `[1]` if shared by all dimensions
/// - `variance`: `[1]`
/// - result: `[N1, N2]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn covariance(
    kind: Stationary,
    x1: Tensor<2>,
    x2: Tensor<2>,
    lengthscales: Tensor<1>,
    variance: Tensor<1>,
) -> Tensor<2> {
    let ([_, d1], [_, d2]) = (x1.dims(), x2.dims());
    let ([scales], [variances]) = (lengthscales.dims(), variance.dims());
    assert!(
        d1 == d2 && (scales == d1 || scales == 1) && variances == 1,
        "covariance: x1 has {d1} dimensions, x2 {d2}, with {scales} lengthscales and {variances} \
         variances; expected equal dimensions, as many lengthscales (or 1) and 1 variance"
    );
    dispatch!(covariance(x1, x2, lengthscales, variance; kind))
}

/// [`covariance`] for a batch of kernels of one kind, each with its own points, lengthscales and
/// variance.
///
/// # Shapes
///
/// - `x1`: `[P, N1, D]`, `x2`: `[P, N2, D]`
/// - `lengthscales`: `[P·D]`, those of one kernel after the other, or `[P]` if shared by all dimensions
/// - `variances`: `[P]`
/// - result: `[P, N1, N2]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn covariances(
    kind: Stationary,
    x1: Tensor<3>,
    x2: Tensor<3>,
    lengthscales: Tensor<1>,
    variances: Tensor<1>,
) -> Tensor<3> {
    let ([batch, _, d1], [batch2, _, d2]) = (x1.dims(), x2.dims());
    let ([scales], [batch3]) = (lengthscales.dims(), variances.dims());
    assert!(
        d1 == d2 && (scales == batch * d1 || scales == batch) && [batch2, batch3] == [batch; 2],
        "covariances: x1 {:?}, x2 {:?}, lengthscales [{scales}], variances [{batch3}]; \
         expected [P, N1, D], [P, N2, D], [P·D] or [P], [P]",
        x1.dims(),
        x2.dims()
    );
    dispatch!(covariance(x1, x2, lengthscales, variances; kind))
}
