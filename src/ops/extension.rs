//! The backend extension: what each backend supplies, and how a tensor reaches it.
//!
//! [`LinearAlgebra`] is called through burn's run-time dispatch; [`LinearAlgebraReverse`] holds
//! what only the reverse mode calls. Every backend whose values the host can read has both from
//! `on_host`; kernels that run on a device go here, as a backend's own implementation.

// For the whole file: the attribute macro repeats the name where an attribute of the trait does not
// reach.
#![allow(deprecated, reason = "ndarray stays supported beside flex")]

use std::sync::{Arc, Mutex};

use burn::backend::{Backend, backend_extension, tensor::FloatTensor};

use super::{
    SpecialFunction, Stationary,
    factor::{Jitter, PivotFailure},
    host::{products::BlockPairs, relaxation::Widths, triangular::Side},
    relaxation::MemoryAnswer,
};
use crate::patches::PatchGrid;

/// Carries the outcome of a factorization past the tensor interface.
///
/// One entry a batch member: the jitter added, or the pivot that failed.
#[derive(Clone, Debug, Default)]
pub struct FactorizationOutcome(Arc<Mutex<Vec<Result<f64, PivotFailure>>>>);

impl FactorizationOutcome {
    /// Stores what happened to each batch member.
    pub fn report(&self, members: Vec<Result<f64, PivotFailure>>) {
        *self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner()) = members;
    }

    /// What happened to each batch member.
    pub fn members(&self) -> Vec<Result<f64, PivotFailure>> {
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone()
    }

    /// The jitter added to each batch member; none to one that failed, which never reaches the
    /// reverse: the caller returns the error.
    pub(super) fn added(&self) -> Vec<f64> {
        let members = self.members().into_iter();
        members.map(|member| member.unwrap_or(0.0)).collect()
    }
}

/// The operations a model calls. Shapes are those of the functions in [`ops`](super); a *factor*
/// is a matrix whose lower triangle is L; what is above its diagonal is not read.
#[backend_extension(
    Autodiff,
    Flex: cfg(feature = "flex"),
    NdArray: cfg(feature = "ndarray"),
    Cube: cfg(any(feature = "wgpu", feature = "cuda")),
)]
pub trait LinearAlgebra: Backend {
    /// `k(x1, x2)`, [N1, N2]; or with a leading batch dimension on every argument.
    fn covariance(
        x1: FloatTensor<Self>,
        x2: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        kind: Stationary,
    ) -> FloatTensor<Self>;

    /// `Σ_p A_mp·k(z_m, x_n^[p])` over the patches of images, [M, N].
    fn patch_covariance(
        inducing: FloatTensor<Self>,
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self>;

    /// `Σ_pp′ B_pp′·k(x_n^[p], x_n^[p′])` over the patches of images, `[N]`.
    fn patch_variance(
        images: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
    ) -> FloatTensor<Self>;

    /// `k(x1, x2)·V`, [N1, R]; where the points are the same, all is of the first.
    fn covariance_product(
        x1: FloatTensor<Self>,
        x2: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        vectors: FloatTensor<Self>,
        kind: Stationary,
        same: bool,
    ) -> FloatTensor<Self>;

    /// `Σ_{b∈B_j} s_b·k(x_b, x′_n)`, [I, N′]; where the points are the same, all is of the first.
    fn block_covariance(
        points: FloatTensor<Self>,
        others: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        values: FloatTensor<Self>,
        kind: Stationary,
        pairs: BlockPairs,
    ) -> FloatTensor<Self>;

    /// The factor of `K + jitter·mean(diag K)·I`.
    fn cholesky(
        matrix: FloatTensor<Self>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<Self>;

    /// The factor whose lower triangle is that of `matrix`.
    fn factor_from_lower(
        matrix: FloatTensor<Self>,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<Self>;

    /// The lower triangle of a factor, zeros above it.
    fn lower_of_factor(factor: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `L⁻¹B` or `L⁻ᵀB`.
    fn factor_solve(
        factor: FloatTensor<Self>,
        rhs: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self>;

    /// `2·Σ log L_ii`, one a batch member.
    fn factor_log_determinant(factor: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `Σ_p log N(r_p | 0, K)`, `[1]`, for R, [N, P].
    fn gaussian_log_density(
        covariance: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> FloatTensor<Self>;

    /// `[Aᵀm_p ; colsum((W_pᵀA)²)]`, [2, P, N], for A, [M, N], or one a member, [P, M, N].
    fn projected_moments(
        basis: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    /// `Σ_m A_mn²`, `[…, N]` from `[…, M, N]`.
    fn column_squares(basis: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `AAᵀ`, [M, M], or with the transposed side `AᵀA`, [N, N]; one a batch member.
    fn gram(basis: FloatTensor<Self>, side: Side) -> FloatTensor<Self>;

    /// `B − AᵀX`, [R, N] for A, [M, R], and X, [M, N]; or with a leading batch dimension.
    fn remainder(
        matrix: FloatTensor<Self>,
        left: FloatTensor<Self>,
        right: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    /// `L·B` or `Lᵀ·B` for a lower-triangular L.
    fn triangular_product(
        lower: FloatTensor<Self>,
        rhs: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self>;

    /// `Σ_m A_mn·B_mn`, `[…, N]` from `[…, M, N]`.
    fn column_products(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self>;

    /// The lower triangle of `LᵀAL`, [M, M]; what is above it is unspecified. Without a gradient, as
    /// the two that follow.
    fn congruence(matrix: FloatTensor<Self>, lower: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `[‖H − I‖_F, max_i H_ii]` from the lower triangle of H.
    fn identity_distance(matrix: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `L − γ·L·(tril(H) − ½(I + diag H))` from the lower triangle of H.
    fn inversion_step(
        lower: FloatTensor<Self>,
        matrix: FloatTensor<Self>,
        step_size: f64,
    ) -> FloatTensor<Self>;

    /// The terms of an inverse-free bound, [.., N + M·R + 2]; no gradient reaches L and the probes.
    fn relaxed_terms(
        kuu: FloatTensor<Self>,
        variances: FloatTensor<Self>,
        lower: FloatTensor<Self>,
        kuf: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        probes: FloatTensor<Self>,
        widths: Widths,
    ) -> FloatTensor<Self>;

    /// Answers whether a tensor lies in the host's own memory, and gives it back.
    fn ask_memory(tensor: FloatTensor<Self>, answer: MemoryAnswer) -> FloatTensor<Self>;

    /// `A + value·I`, [M, M], or a batch with as many values; or `A + diag(value)` with a value for
    /// every entry of the diagonals.
    fn add_to_diagonal(matrix: FloatTensor<Self>, value: FloatTensor<Self>) -> FloatTensor<Self>;

    /// `KL[N(m_p, W_pW_pᵀ) ‖ N(0, I)]`, `[P]`.
    fn gaussian_kl(mean: FloatTensor<Self>, scale: FloatTensor<Self>) -> FloatTensor<Self>;

    /// A scalar function, elementwise.
    fn special(x: FloatTensor<Self>, function: SpecialFunction) -> FloatTensor<Self>;

    /// `γ_d·(x_nd − μ_n)/√(v_n + ε) + β_d`, [N, D].
    fn layer_normalization(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        shift: FloatTensor<Self>,
        epsilon: f64,
    ) -> FloatTensor<Self>;
}

/// What only the reverse mode calls.
pub trait LinearAlgebraReverse: LinearAlgebra {
    /// The gradients of `x1`, `x2`, the lengthscales and the variance; batched as the covariance.
    fn covariance_reverse(
        x1: FloatTensor<Self>,
        x2: FloatTensor<Self>,
        lengthscales: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        kind: Stationary,
    ) -> [FloatTensor<Self>; 4];

    /// The gradients of the arguments of [`LinearAlgebra::patch_covariance`], that of the images only
    /// if it is wanted.
    fn patch_covariance_reverse(
        arguments: [FloatTensor<Self>; 5],
        gradient: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 5];

    /// The gradients of the arguments of [`LinearAlgebra::patch_variance`], that of the images only
    /// if it is wanted.
    fn patch_variance_reverse(
        arguments: [FloatTensor<Self>; 4],
        gradient: FloatTensor<Self>,
        kind: Stationary,
        grid: PatchGrid,
        images_wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 4];

    /// The gradients of the arguments of [`LinearAlgebra::covariance_product`], those of the points
    /// only if they are wanted; with the same points for both, all of it is the first's.
    fn covariance_product_reverse(
        arguments: [FloatTensor<Self>; 5],
        gradient: FloatTensor<Self>,
        kind: Stationary,
        same: bool,
        points_wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 5];

    /// The gradients of the arguments of [`LinearAlgebra::block_covariance`], those of the points
    /// only if they are wanted; with the same points for both, all of it is the first's.
    fn block_covariance_reverse(
        arguments: [FloatTensor<Self>; 5],
        gradient: FloatTensor<Self>,
        kind: Stationary,
        pairs: BlockPairs,
        points_wanted: bool,
    ) -> [Option<FloatTensor<Self>>; 5];

    /// `½·L⁻ᵀ(Φ + Φᵀ)L⁻¹` with `Φ` the lower triangle of `cotangent`, its diagonal halved; then
    /// the jitter's share of the diagonal.
    fn cholesky_reverse(
        factor: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
        jitter: Vec<f64>,
    ) -> FloatTensor<Self>;

    /// The lower triangle of `−A·Bᵀ`.
    fn negative_lower_product(
        left: FloatTensor<Self>,
        right: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    /// The lower triangle of `LᵀX`.
    fn lower_cotangent(factor: FloatTensor<Self>, gradient: FloatTensor<Self>)
    -> FloatTensor<Self>;

    /// The lower triangle of `L⁻ᵀΦ`: from a factor's cotangent back to an ordinary gradient.
    fn factor_from_lower_reverse(
        factor: FloatTensor<Self>,
        cotangent: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    /// A factor's cotangent under the log-determinant: `2g` on the diagonal.
    fn log_determinant_reverse(
        factor: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    /// The log-density, and the factor of K and `α = K⁻¹R` for the reverse.
    fn gaussian_log_density_saving(
        covariance: FloatTensor<Self>,
        residual: FloatTensor<Self>,
        jitter: Jitter,
        outcome: FactorizationOutcome,
    ) -> (FloatTensor<Self>, [FloatTensor<Self>; 2]);

    /// The gradients of the covariance, `½g·(ααᵀ − P·K⁻¹)` with the jitter's share of the diagonal,
    /// and of the residual, `−g·α`, each if it is wanted.
    fn gaussian_log_density_reverse(
        saved: [FloatTensor<Self>; 2],
        gradient: FloatTensor<Self>,
        jitter: f64,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<Self>>; 2];

    /// The moments, and `V_p = W_pᵀA` ([P, M, N]) for the reverse.
    fn projected_moments_saving(
        basis: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 2];

    /// The gradients of the basis, the mean and the scale.
    fn projected_moments_reverse(
        basis: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        projected: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3];

    /// The gradient of the basis: `2·A·diag(g)`.
    fn column_squares_reverse(
        basis: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> FloatTensor<Self>;

    /// The gradient of the basis: `(G + Gᵀ)·A`, or `A·(G + Gᵀ)`.
    fn gram_reverse(
        basis: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        side: Side,
    ) -> FloatTensor<Self>;

    /// The gradients of A and X in `B − AᵀX`, each if it is wanted.
    fn remainder_reverse(
        factors: [FloatTensor<Self>; 2],
        gradient: FloatTensor<Self>,
        wanted: [bool; 2],
    ) -> [Option<FloatTensor<Self>>; 2];

    /// The terms of an inverse-free bound, and what their reverse needs.
    fn relaxed_terms_saving(
        matrices: [FloatTensor<Self>; 3],
        columns: [FloatTensor<Self>; 3],
        widths: Widths,
    ) -> (FloatTensor<Self>, [FloatTensor<Self>; 5]);

    /// The gradients of K_uu, s̃, K_uf and m̃.
    fn relaxed_terms_reverse(
        matrices: [FloatTensor<Self>; 3],
        saved: [FloatTensor<Self>; 5],
        gradient: FloatTensor<Self>,
        widths: Widths,
    ) -> [FloatTensor<Self>; 4];

    /// The lower triangle of `A·Bᵀ`, zeros above it.
    fn lower_of_product(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self>;

    /// The gradients of both matrices: `B·diag(g)` and `A·diag(g)`.
    fn column_products_reverse(
        left: FloatTensor<Self>,
        right: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 2];

    /// The diagonals of square matrices, one after the other.
    fn diagonal(matrix: FloatTensor<Self>) -> FloatTensor<Self>;

    /// The sum of a square matrix's diagonal, one a batch member.
    fn trace(matrix: FloatTensor<Self>) -> FloatTensor<Self>;

    /// The gradients of the mean and the scale.
    fn gaussian_kl_reverse(
        mean: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 2];

    /// The gradients of x, γ and β.
    fn layer_normalization_reverse(
        x: FloatTensor<Self>,
        scale: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        epsilon: f64,
    ) -> [FloatTensor<Self>; 3];

    /// The gradient through a scalar function.
    fn special_reverse(
        x: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        function: SpecialFunction,
    ) -> FloatTensor<Self>;
}
