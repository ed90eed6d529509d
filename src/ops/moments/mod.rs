//! Moments of Gaussian variables under a linear map, and the KL divergence from a standard normal.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod kernels;
mod strips;

pub(super) use kernels::Gaussians;
pub(super) use strips::GaussiansByStrips;

use burn::{
    backend::{AutodiffBackend, Dispatch, tensor::FloatTensor},
    tensor::Tensor,
};

use super::{
    backward::{record, split},
    declaration::{dispatch, operations},
};

/// The variances that are subtracted from the variances of a projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// No variances.
    Zero,
    /// The variances of the same projection of standard normal variables, `diag(AᵀA)`.
    StandardNormal,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(Baseline in [Self::Zero, Self::StandardNormal]);

operations! {
    /// Backend implementation of the moments.
    trait MomentOps on devices {
        /// `[Aᵀm_p ; colsum((W_pᵀA)²) − b]`, [2, P, N], for A, [M, N], or one per variable, [P, M, N], and
        /// the baseline b; and, for the backward pass, `V_p = W_pᵀA`, [P, M, N].
        fn projected_moments(basis, mean, scale; baseline: Baseline)
            -> (FloatTensor<Self>, FloatTensor<Self>) = {
                let (outputs, columns) = (outer(mean), columns(basis));
                (
                    shaped(mean, [2, outputs, columns]),
                    shaped(mean, [outputs, rows(basis), columns]),
                )
            },
            {
                let ([basis, mean, scale], nodes) = split::<B, C, _>([basis, mean, scale]);
                let (moments, projected) =
                    B::projected_moments(basis.clone(), mean.clone(), scale.clone(), baseline);
                let saved = ([basis, mean, scale, projected.clone()], baseline);
                let moments = record::<B, C, _, _>(nodes, saved, moments, |saved, gradient, _| {
                    let (saved, baseline) = saved;
                    B::projected_moments_backward(saved, gradient, baseline).map(Some)
                });
                (moments, Self::from_inner(projected))
            };

        /// `Σ_m A_mn²`, `[…, N]` from `[…, M, N]`.
        fn column_squares(basis) -> FloatTensor<Self> = column_sums(basis),
            |gradient, _| [Some(B::column_squares_backward(basis, gradient))];

        /// `Σ_m A_mn·B_mn`, `[…, N]` from `[…, M, N]`.
        fn column_products(left, right) -> FloatTensor<Self> = column_sums(left),
            |gradient, _| B::column_products_backward([left, right], gradient).map(Some);

        /// `KL[N(m_p, W_pW_pᵀ) ‖ N(0, I)]`, `[P]`.
        fn gaussian_kl(mean, scale) -> FloatTensor<Self> = vector(mean, outer(mean)),
            |gradient, _| B::gaussian_kl_backward([mean, scale], gradient).map(Some);
    } backward {
        /// The gradients of the basis, the mean and the scale, from these and `V_p`.
        fn projected_moments_backward([basis, mean, scale, projected], gradient; baseline: Baseline)
            -> [FloatTensor<Self>; 3] = [like(basis), like(mean), like(scale)];

        /// The gradient of the basis: `2·A·diag(g)`.
        fn column_squares_backward(basis, gradient) -> FloatTensor<Self> = like(basis);

        /// The gradients of both matrices: `B·diag(g)` and `A·diag(g)`.
        fn column_products_backward([left, right], gradient) -> [FloatTensor<Self>; 2]
            = [like(left), like(right)];

        /// The gradients of the mean and the scale.
        fn gaussian_kl_backward([mean, scale], gradient) -> [FloatTensor<Self>; 2]
            = [like(mean), like(scale)];
    }
}

/// The moments of `Aᵀu_p` for independent `u_p ~ N(m_p, W_p·W_pᵀ)`: the means `Aᵀm_p` and the
/// variances `diag(Aᵀ W_p W_pᵀ A)`. They are summed column by column without forming an N×N matrix.
///
/// Only the lower triangle of each `W_p` is read, and only it receives a gradient.
///
/// # Shapes
///
/// - `basis` (A): `[M, N]`
/// - `mean` (m): `[P, M]`
/// - `scale` (W): `[P, M, M]`
/// - result: means `[N, P]` and variances `[N, P]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn projected_moments(
    basis: Tensor<2>,
    mean: Tensor<2>,
    scale: Tensor<3>,
) -> (Tensor<2>, Tensor<2>) {
    require_one_basis("projected_moments", &basis, &mean, &scale);
    moments_of(basis, mean, scale, Baseline::Zero)
}

/// The means of `Aᵀu_p` as in [`projected_moments`], and their variances minus those of `Aᵀv` for standard
/// normal v: `diag(Aᵀ(W_pW_pᵀ − I)A)`. The variance of a sparse posterior is the prior variance plus this
/// difference, whose gradient needs no separate pass over A.
///
/// # Shapes
///
/// - `basis` (A): `[M, N]`
/// - `mean` (m): `[P, M]`
/// - `scale` (W): `[P, M, M]`
/// - result: means `[N, P]` and differences of variances `[N, P]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn marginals_minus_prior(
    basis: Tensor<2>,
    mean: Tensor<2>,
    scale: Tensor<3>,
) -> (Tensor<2>, Tensor<2>) {
    require_one_basis("marginals_minus_prior", &basis, &mean, &scale);
    moments_of(basis, mean, scale, Baseline::StandardNormal)
}

#[track_caller]
fn require_one_basis(operation: &str, basis: &Tensor<2>, mean: &Tensor<2>, scale: &Tensor<3>) {
    let ([m, n], [p, mean_size]) = (basis.dims(), mean.dims());
    assert!(
        mean_size == m && scale.dims() == [p, m, m],
        "{operation}: basis [{m}, {n}], mean [{p}, {mean_size}], scale {:?}; expected [M, N], [P, M], \
         [P, M, M]",
        scale.dims()
    );
}

/// The moments with one shared basis, or one per variable.
fn moments_of<const D: usize>(
    basis: Tensor<D>,
    mean: Tensor<2>,
    scale: Tensor<3>,
    baseline: Baseline,
) -> (Tensor<2>, Tensor<2>) {
    let (moments, _) = <Dispatch as Dispatched>::projected_moments(
        basis.into_dispatch(),
        mean.into_dispatch(),
        scale.into_dispatch(),
        baseline,
    );
    means_and_variances(moments)
}

/// The rows of moments, `[2, P, N]`, as columns.
pub(super) fn means_and_variances(moments: FloatTensor<Dispatch>) -> (Tensor<2>, Tensor<2>) {
    let moments = Tensor::<3>::from_dispatch(moments);
    let [_, p, n] = moments.dims();
    let part = |index: usize| {
        let rows = moments.clone().narrow(0, index, 1).squeeze_dim::<2>(0); // [P, N]
        // The reshape keeps a column contiguous. burn's reshape interprets a length of zero as "unchanged".
        if p == 1 && n > 0 {
            rows.reshape([n, 1])
        } else {
            rows.swap_dims(0, 1)
        }
    };
    (part(0), part(1))
}

/// [`projected_moments`] with a separate basis for each variable: the moments of `A_pᵀu_p`.
///
/// # Shapes
///
/// - `basis` (A): `[P, M, N]`
/// - `mean` (m): `[P, M]`
/// - `scale` (W): `[P, M, M]`
/// - result: means `[N, P]` and variances `[N, P]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn batch_projected_moments(
    basis: Tensor<3>,
    mean: Tensor<2>,
    scale: Tensor<3>,
) -> (Tensor<2>, Tensor<2>) {
    require_bases("batch_projected_moments", &basis, &mean, &scale);
    moments_of(basis, mean, scale, Baseline::Zero)
}

/// [`marginals_minus_prior`] with a separate basis for each variable.
///
/// # Shapes
///
/// - `basis` (A): `[P, M, N]`
/// - `mean` (m): `[P, M]`
/// - `scale` (W): `[P, M, M]`
/// - result: means `[N, P]` and differences of variances `[N, P]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn batch_relative_moments(
    basis: Tensor<3>,
    mean: Tensor<2>,
    scale: Tensor<3>,
) -> (Tensor<2>, Tensor<2>) {
    require_bases("batch_relative_moments", &basis, &mean, &scale);
    moments_of(basis, mean, scale, Baseline::StandardNormal)
}

#[track_caller]
fn require_bases(operation: &str, basis: &Tensor<3>, mean: &Tensor<2>, scale: &Tensor<3>) {
    let [p, m, n] = basis.dims();
    assert!(
        mean.dims() == [p, m] && scale.dims() == [p, m, m],
        "{operation}: basis [{p}, {m}, {n}], mean {:?}, scale {:?}; expected [P, M, N], [P, M], \
         [P, M, M]",
        mean.dims(),
        scale.dims()
    );
}

/// `Σ_m A_mn²` for every column of `basis`, in one pass.
///
/// # Shapes
///
/// - `basis`: `[M, N]`
/// - result: `[N]`
pub fn column_squares(basis: Tensor<2>) -> Tensor<1> {
    dispatch!(column_squares(basis))
}

/// [`column_squares`] for every matrix of a batch.
///
/// # Shapes
///
/// - `basis`: `[P, M, N]`
/// - result: `[P, N]`
pub fn batch_column_squares(basis: Tensor<3>) -> Tensor<2> {
    dispatch!(column_squares(basis))
}

/// `Σ_m A_mn·B_mn` for every column of two matrices, in one pass.
///
/// # Shapes
///
/// - `left` (A), `right` (B): `[M, N]`
/// - result: `[N]`
///
/// # Panics
///
/// If the shapes differ.
#[track_caller]
pub fn column_products(left: Tensor<2>, right: Tensor<2>) -> Tensor<1> {
    require_same_shapes(left.dims(), right.dims());
    dispatch!(column_products(left, right))
}

/// [`column_products`] for every pair of matrices of a batch.
///
/// # Shapes
///
/// - `left` (A), `right` (B): `[P, M, N]`
/// - result: `[P, N]`
///
/// # Panics
///
/// If the shapes differ.
#[track_caller]
pub fn batch_column_products(left: Tensor<3>, right: Tensor<3>) -> Tensor<2> {
    require_same_shapes(left.dims(), right.dims());
    dispatch!(column_products(left, right))
}

#[track_caller]
fn require_same_shapes<const D: usize>(left: [usize; D], right: [usize; D]) {
    assert!(
        left == right,
        "column_products: {left:?} and {right:?}; expected two matrices of one shape"
    );
}

/// `KL[N(m_p, W_p·W_pᵀ) ‖ N(0, I)] = ½(‖W_p‖²_F + ‖m_p‖² − M) − Σ_i log|W_p,ii|`.
///
/// Only the lower triangle of each `W_p` is read, and only it receives a gradient; its diagonal may
/// have any sign.
///
/// # Shapes
///
/// - `mean` (m): `[P, M]`
/// - `scale` (W): `[P, M, M]`
/// - result: `[P]`
///
/// # Panics
///
/// If the shapes do not match.
#[track_caller]
pub fn gaussian_kl(mean: Tensor<2>, scale: Tensor<3>) -> Tensor<1> {
    let [p, m] = mean.dims();
    assert!(
        scale.dims() == [p, m, m],
        "gaussian_kl: mean [{p}, {m}], scale {:?}; expected [P, M], [P, M, M]",
        scale.dims()
    );
    dispatch!(gaussian_kl(mean, scale))
}
