//! Cholesky factors of matrices of two blocks.

use burn::tensor::{DType, Tensor};

use super::{CholeskyFactor, Jitter, NotPositiveDefinite, cholesky};
use crate::ops::{add_to_diagonal, mean_diagonal, remainder, transposed_gram};

/// The lower Cholesky factor of a symmetric positive-definite matrix of two blocks, by elimination
/// of the first:
///
/// ```text
/// [K  C ]   [L   0] [Lᵀ  A ]
/// [Cᵀ K₂] = [Aᵀ L₂] [0   L₂ᵀ]     A = L⁻¹C,   L₂L₂ᵀ = K₂ − AᵀA
/// ```
///
/// The two blocks stay apart, which a factorization of the whole does not leave.
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
    /// The factor of a matrix whose leading block has the factor `leading`.
    ///
    /// `jitter` is that of the Schur complement `K₂ − AᵀA`, relative to the mean of the diagonal of
    /// K₂: the rounding of the subtraction is that of K₂, however small the complement.
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

    /// The factor of a matrix without cross block, from the factors of its two blocks, of sizes
    /// `[M, M2]`.
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

    /// The whole factor applied to both parts of right-hand sides: `[[L, 0], [Aᵀ, L₂]]⁻¹[B; B₂]`.
    ///
    /// # Shapes
    ///
    /// - `first` (B): `[M, N]`, `second` (B₂): `[M2, N]`; so are the results
    pub fn solve(&self, first: Tensor<2>, second: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let first = self.leading.solve(first);
        let rest = remainder(second, self.coupling.clone(), first.clone());
        let second = self.trailing.solve(rest);
        (first, second)
    }

    /// `[[L, 0], [Aᵀ, L₂]]⁻ᵀ[B; B₂]`; shapes as [`solve`](Self::solve).
    pub fn solve_transposed(&self, first: Tensor<2>, second: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let second = self.trailing.solve_transposed(second);
        let rest = remainder(first, self.coupling.clone().transpose(), second.clone());
        let first = self.leading.solve_transposed(rest);
        (first, second)
    }

    /// The whole factor as one, of size M + M2.
    pub fn joined(&self) -> CholeskyFactor<2> {
        let above = Tensor::cat(vec![self.leading.lower(), self.coupling.zeros_like()], 1);
        let below = Tensor::cat(
            vec![self.coupling.clone().transpose(), self.trailing.lower()],
            1,
        );
        CholeskyFactor::from_regular(Tensor::cat(vec![above, below], 0))
    }
}

/// The factor of a matrix that is the rest of a subtraction, with jitter relative to `variance`: the
/// diagonal that there was before, one a batch member, whose rounding is in the rest.
pub(crate) fn factor_rest<const D: usize>(
    rest: Tensor<D>,
    variance: Tensor<1>,
    jitter: Jitter,
) -> Result<CholeskyFactor<D>, NotPositiveDefinite> {
    let epsilon = match rest.dtype() {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    };
    let as_it_is = Jitter {
        initial: 0.0,
        escalations: 0,
    };
    let attempt = |relative: f64| {
        let added = variance.clone().mul_scalar(relative);
        let outcome = cholesky(add_to_diagonal(rest.clone(), added), as_it_is);
        outcome.map_err(|error| NotPositiveDefinite {
            jitter: relative,
            ..error
        })
    };
    let escalations = jitter.attempts(epsilon).skip(1);
    escalations.fold(attempt(jitter.initial), |outcome, relative| {
        outcome.or_else(|_| attempt(relative))
    })
}
