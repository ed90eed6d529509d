//! Cholesky factors of two-by-two block matrices.

use burn::{backend::Dispatch, tensor::Tensor};

use super::{CholeskyFactor, Jitter, NotPositiveDefinite, check, may_wait, square_size};
use crate::ops::{mean_diagonal, subtract_product, transposed_gram};

/// The lower Cholesky factor of a symmetric positive-definite two-by-two block matrix, by
/// elimination of the first block:
///
/// ```text
/// [K  C ]   [L   0] [Lᵀ  A ]
/// [Cᵀ K₂] = [Aᵀ L₂] [0   L₂ᵀ]     A = L⁻¹C,   L₂L₂ᵀ = K₂ − AᵀA
/// ```
///
/// The two blocks stay separate, unlike in a factorization of the whole matrix.
#[derive(Clone, Debug)]
pub struct BlockFactor {
    /// L
    leading: CholeskyFactor<2>,
    /// A, [M, M2]
    coupling: Tensor<2>,
    /// L₂
    trailing: CholeskyFactor<2>,
}

impl BlockFactor {
    /// Factors a matrix whose leading block has the factor `leading`.
    ///
    /// `jitter` applies to the Schur complement `K₂ − AᵀA` and is relative to the mean of the
    /// diagonal of K₂, because the rounding error of the subtraction scales with K₂, however small
    /// the complement.
    ///
    /// # Shapes
    ///
    /// - `leading` (L): `[M, M]`, `cross` (C): `[M, M2]`, `trailing` (K₂): `[M2, M2]`
    ///
    /// # Errors
    ///
    /// When the Schur complement cannot be factored.
    pub fn new(
        leading: CholeskyFactor<2>,
        cross: Tensor<2>,
        trailing: Tensor<2>,
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite> {
        let coupling = leading.solve(cross);
        let variance = mean_diagonal(trailing.clone());
        let complement = trailing - transposed_gram(coupling.clone());
        let trailing = factor_rest(complement, variance, jitter)?;
        Ok(Self {
            leading,
            coupling,
            trailing,
        })
    }

    /// The factor of a block-diagonal matrix, from the factors of its two blocks, of sizes M and M2.
    pub fn uncoupled(leading: CholeskyFactor<2>, trailing: CholeskyFactor<2>) -> Self {
        let (first, second) = (leading.lower(), trailing.lower());
        let shape = [first.dims()[0], second.dims()[0]];
        Self {
            coupling: Tensor::zeros(shape, (&first.device(), first.dtype())),
            leading,
            trailing,
        }
    }

    /// L, the factor of the leading block.
    pub fn leading(&self) -> &CholeskyFactor<2> {
        &self.leading
    }

    /// L₂, the factor of the Schur complement.
    pub fn trailing(&self) -> &CholeskyFactor<2> {
        &self.trailing
    }

    /// Solves with the whole factor for both parts of the right-hand sides:
    /// `[[L, 0], [Aᵀ, L₂]]⁻¹[B; B₂]`.
    ///
    /// # Shapes
    ///
    /// - `first` (B): `[M, N]`, `second` (B₂): `[M2, N]`; the results have the same shapes
    pub fn solve(&self, first: Tensor<2>, second: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let first = self.leading.solve(first);
        let second = self.solve_second(first.clone(), second);
        (first, second)
    }

    /// The second part of the solution, `L₂⁻¹(B₂ − AᵀX)`, given the first, `X = L⁻¹B`.
    ///
    /// # Shapes
    ///
    /// - `solved` (X): `[M, N]`, `second` (B₂): `[M2, N]`
    /// - result: `[M2, N]`
    pub fn solve_second(&self, solved: Tensor<2>, second: Tensor<2>) -> Tensor<2> {
        let rest = subtract_product(second, self.coupling.clone(), solved);
        self.trailing.solve(rest)
    }

    /// Solves with the transposed factor: `[[L, 0], [Aᵀ, L₂]]⁻ᵀ[B; B₂]`; shapes as in [`solve`](Self::solve).
    pub fn solve_transposed(&self, first: Tensor<2>, second: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let second = self.trailing.solve_transposed(second);
        let rest = subtract_product(first, self.coupling.clone().transpose(), second.clone());
        let first = self.leading.solve_transposed(rest);
        (first, second)
    }

    /// The whole factor as a single matrix, of size M + M2.
    pub fn joined(&self) -> CholeskyFactor<2> {
        let above = Tensor::cat(vec![self.leading.lower(), self.coupling.zeros_like()], 1);
        let below = Tensor::cat(
            vec![self.coupling.clone().transpose(), self.trailing.lower()],
            1,
        );
        CholeskyFactor::from_nonsingular(Tensor::cat(vec![above, below], 0))
    }
}

/// Factors a matrix that is the result of a subtraction. The jitter is relative to `variance`, the mean
/// diagonal before the subtraction (one per batch member), since that determines the rounding error of the
/// result. With autodiff, it does not wait for a GPU, like [`cholesky`](super::cholesky()).
pub(crate) fn factor_rest<const D: usize>(
    rest: Tensor<D>,
    variance: Tensor<1>,
    jitter: Jitter,
) -> Result<CholeskyFactor<D>, NotPositiveDefinite> {
    let (size, dtype) = (square_size(&rest, "factor_rest"), rest.dtype());
    let waits = may_wait(&rest);
    let (triangle, status) = <Dispatch as super::Dispatched>::cholesky_scaled(
        rest.into_dispatch(),
        variance.into_dispatch(),
        jitter,
    );
    if waits {
        check(Tensor::from_dispatch(status), size, dtype)?;
    }
    let triangle = Tensor::from_dispatch(triangle);
    Ok(CholeskyFactor { triangle })
}
