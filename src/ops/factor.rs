//! The Cholesky factorization and everything computed from its factor.

use burn::{
    backend::Dispatch,
    tensor::{DType, Tensor},
};
use serde::{Deserialize, Serialize};

use super::{
    extension::{FactorizationOutcome, LinearAlgebra},
    host::triangular::Side,
};

/// What is added to the diagonal of a matrix before it is factored, relative to the mean of the
/// diagonal.
///
/// A factorization starts with `initial` and, when a pivot is not positive, tries again with ten
/// times as much (from [`Jitter::FIRST_STEP`] if `initial` is zero), at most `escalations` times.
/// In a batch only the members that failed are tried again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// The jitter of the first attempt, relative to the mean of the diagonal.
    pub initial: f64,
    /// How many times it is raised tenfold before the matrix is given up.
    pub escalations: usize,
}

impl Jitter {
    /// The first jitter tried after an attempt without any, in units of the machine epsilon.
    pub const FIRST_STEP: f64 = 10.0;

    /// No jitter at first; up to four escalations.
    pub const NONE: Self = Self {
        initial: 0.0,
        escalations: 4,
    };

    /// The jitter that covariance matrices of inducing variables need in single precision, `1e-6`.
    pub const INDUCING: Self = Self {
        initial: 1e-6,
        escalations: 4,
    };

    /// The jitter of covariance matrices of inducing variables in a given precision: `1e-8` in
    /// double, [`INDUCING`](Self::INDUCING) in every other.
    ///
    /// Jitter ε leaves about ε times the prior variance σ_f² unexplained at each of N data, which
    /// lowers a bound with noise variance σ² by about N·ε·σ_f²/(2σ²): where there is little noise,
    /// more of it than rounding asks for holds the prior variance down.
    pub fn for_precision(dtype: DType) -> Self {
        match dtype {
            DType::F64 => Self::relative(1e-8),
            _ => Self::INDUCING,
        }
    }

    /// Starts at `initial`, with four escalations.
    pub fn relative(initial: f64) -> Self {
        Self {
            initial,
            ..Self::NONE
        }
    }

    /// The jitter of every attempt in turn.
    pub(crate) fn attempts(self, epsilon: f64) -> impl Iterator<Item = f64> {
        let first_step = if self.initial > 0.0 {
            self.initial * 10.0
        } else {
            Self::FIRST_STEP * epsilon
        };
        core::iter::once(self.initial).chain(
            (0..self.escalations).map(move |attempt| first_step * 10f64.powi(attempt as i32)),
        )
    }
}

impl Default for Jitter {
    fn default() -> Self {
        Self::INDUCING
    }
}

/// The pivot at which one batch member failed, after the last jitter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PivotFailure {
    /// The row of the pivot.
    pub pivot: usize,
    /// The last jitter tried, relative to the mean of the diagonal.
    pub jitter: f64,
    /// The smallest and the largest diagonal entry.
    pub diagonal: (f64, f64),
}

/// A matrix that has no Cholesky factor, even with the largest jitter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the {size}x{size} {dtype:?} matrix (batch member {batch}) is not positive definite: pivot \
     {pivot} failed with relative jitter up to {jitter:.1e}; its diagonal lies between \
     {smallest_diagonal:.3e} and {largest_diagonal:.3e}. {advice}",
    advice = self.advice()
)]
pub struct NotPositiveDefinite {
    /// The batch member that failed first.
    pub batch: usize,
    /// The row whose pivot was not positive.
    pub pivot: usize,
    /// Rows of the matrix.
    pub size: usize,
    /// The last jitter tried, relative to the mean of the diagonal.
    pub jitter: f64,
    /// The smallest diagonal entry.
    pub smallest_diagonal: f64,
    /// The largest diagonal entry.
    pub largest_diagonal: f64,
    /// The floating-point type.
    pub dtype: DType,
}

impl NotPositiveDefinite {
    fn advice(&self) -> &'static str {
        if self.smallest_diagonal.is_finite() && self.largest_diagonal.is_finite() {
            "Look for duplicate points or lengthscales far larger than the data's spread, raise \
             the jitter, or use f64."
        } else {
            "It holds NaN or infinite values: look at the inputs and the hyperparameters."
        }
    }
}

/// A triangular matrix with a zero on its diagonal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the triangular matrix (batch member {batch}) is singular: diagonal entry {row} is zero or not a number"
)]
pub struct SingularTriangle {
    /// The batch member.
    pub batch: usize,
    /// The row of the entry.
    pub row: usize,
}

/// The lower Cholesky factor `L` of `K = L·Lᵀ`, ready for many solves.
///
/// It is not a tensor: in reverse mode its cotangent is kept as the lower triangle of `LᵀL̄`, in
/// which every use of the factor costs one triangular product, and all uses together one two-sided
/// solve `K̄ = ½·L⁻ᵀ(Φ + Φᵀ)L⁻¹` (I. Murray, *Differentiation of the Cholesky decomposition*,
/// arXiv:1602.07527, eq. 10). Take [`lower`](Self::lower) for an ordinary tensor.
#[derive(Clone, Debug)]
pub struct CholeskyFactor<const D: usize> {
    triangle: Tensor<D>,
}

/// The Cholesky factor of a symmetric positive-definite matrix, of which the lower triangle is
/// read, with the given jitter.
///
/// Gradients reach `matrix` through the factor, as a symmetric matrix.
///
/// # Shapes
///
/// - `matrix`: `[…, M, M]`
///
/// # Errors
///
/// [`NotPositiveDefinite`] when a member has no factor with the largest jitter; NaN never passes.
///
/// # Panics
///
/// If the matrix is not square.
#[track_caller]
pub fn cholesky<const D: usize>(
    matrix: Tensor<D>,
    jitter: Jitter,
) -> Result<CholeskyFactor<D>, NotPositiveDefinite> {
    let size = square_size(&matrix, "cholesky");
    let dtype = matrix.dtype();
    let outcome = FactorizationOutcome::default();
    let triangle =
        <Dispatch as LinearAlgebra>::cholesky(matrix.into_dispatch(), jitter, outcome.clone());
    outcome.check(size, dtype)?;
    Ok(CholeskyFactor {
        triangle: Tensor::from_dispatch(triangle),
    })
}

fn first_failure(outcome: &FactorizationOutcome) -> Option<(usize, PivotFailure)> {
    (outcome.members().into_iter().enumerate())
        .find_map(|(batch, member)| member.err().map(|failure| (batch, failure)))
}

impl FactorizationOutcome {
    /// The first member of a batch of matrices of `size` rows that has no factor, as an error.
    pub(super) fn check(&self, size: usize, dtype: DType) -> Result<(), NotPositiveDefinite> {
        first_failure(self).map_or(Ok(()), |(batch, failure)| {
            Err(NotPositiveDefinite {
                batch,
                pivot: failure.pivot,
                size,
                jitter: failure.jitter,
                smallest_diagonal: failure.diagonal.0,
                largest_diagonal: failure.diagonal.1,
                dtype,
            })
        })
    }
}

#[track_caller]
fn square_size<const D: usize>(matrix: &Tensor<D>, operation: &str) -> usize {
    let dims = matrix.dims();
    assert!(
        D >= 2 && dims[D - 2] == dims[D - 1],
        "{operation}: expected square matrices [..., M, M], got {dims:?}"
    );
    dims[D - 1]
}

impl<const D: usize> CholeskyFactor<D> {
    /// Takes the lower triangle of `matrix` as the factor.
    ///
    /// # Shapes
    ///
    /// - `matrix`: `[…, M, M]`
    ///
    /// # Errors
    ///
    /// [`SingularTriangle`] when a diagonal entry is zero or not a number.
    #[track_caller]
    pub fn from_lower(matrix: Tensor<D>) -> Result<Self, SingularTriangle> {
        square_size(&matrix, "CholeskyFactor::from_lower");
        let outcome = FactorizationOutcome::default();
        let triangle =
            <Dispatch as LinearAlgebra>::factor_from_lower(matrix.into_dispatch(), outcome.clone());
        match first_failure(&outcome) {
            Some((batch, PivotFailure { pivot: row, .. })) => Err(SingularTriangle { batch, row }),
            None => Ok(Self {
                triangle: Tensor::from_dispatch(triangle),
            }),
        }
    }

    /// As [`from_lower`](Self::from_lower), for a triangle put together from factors, whose diagonals
    /// have no zeros.
    pub(super) fn from_regular(matrix: Tensor<D>) -> Self {
        let outcome = FactorizationOutcome::default();
        Self {
            triangle: Tensor::from_dispatch(<Dispatch as LinearAlgebra>::factor_from_lower(
                matrix.into_dispatch(),
                outcome,
            )),
        }
    }

    /// The lower-triangular `L`, zeros above the diagonal, `[…, M, M]`.
    pub fn lower(&self) -> Tensor<D> {
        Tensor::from_dispatch(<Dispatch as LinearAlgebra>::lower_of_factor(
            self.triangle.clone().into_dispatch(),
        ))
    }

    /// `L⁻¹·B`.
    ///
    /// # Shapes
    ///
    /// - `rhs` (B): `[…, M, N]`, batch dimensions as the factor's
    #[track_caller]
    pub fn solve(&self, rhs: Tensor<D>) -> Tensor<D> {
        self.solve_side(rhs, Side::Lower)
    }

    /// `L⁻ᵀ·B`; shapes as [`solve`](Self::solve).
    #[track_caller]
    pub fn solve_transposed(&self, rhs: Tensor<D>) -> Tensor<D> {
        self.solve_side(rhs, Side::Transposed)
    }

    #[track_caller]
    fn solve_side(&self, rhs: Tensor<D>, side: Side) -> Tensor<D> {
        let (factor, given) = (self.triangle.dims(), rhs.dims());
        assert!(
            factor[..D - 1] == given[..D - 1],
            "CholeskyFactor::solve: factor {factor:?}, right-hand side {given:?}; expected \
             [..., M, M] and [..., M, N]"
        );
        Tensor::from_dispatch(<Dispatch as LinearAlgebra>::factor_solve(
            self.triangle.clone().into_dispatch(),
            rhs.into_dispatch(),
            side,
        ))
    }

    /// `log|K| = 2·Σ_i log|L_ii|`, one a batch member (`[1]` without batch dimensions).
    pub fn log_determinant(&self) -> Tensor<1> {
        Tensor::from_dispatch(<Dispatch as LinearAlgebra>::factor_log_determinant(
            self.triangle.clone().into_dispatch(),
        ))
    }

    /// The same factor without its history, on the device without autodiff.
    pub fn inner(self) -> Self {
        Self {
            triangle: self.triangle.inner(),
        }
    }
}

impl CholeskyFactor<3> {
    /// One factor of a batch.
    pub fn member(&self, index: usize) -> CholeskyFactor<2> {
        CholeskyFactor {
            triangle: self.triangle.clone().narrow(0, index, 1).squeeze_dim(0),
        }
    }
}

/// Solves `T·X = B` or `Tᵀ·X = B` for a triangular `T`, with gradients to both.
///
/// # Shapes
///
/// - `matrix` (T): `[…, M, M]`; `upper` says which triangle is read
/// - `rhs` (B): `[…, M, N]`
///
/// # Errors
///
/// [`SingularTriangle`] when a diagonal entry is zero or not a number.
#[track_caller]
pub fn solve_triangular<const D: usize>(
    matrix: Tensor<D>,
    rhs: Tensor<D>,
    upper: bool,
    transposed: bool,
) -> Result<Tensor<D>, SingularTriangle> {
    let lower = if upper { matrix.transpose() } else { matrix };
    let factor = CholeskyFactor::from_lower(lower)?;
    Ok(if upper == transposed {
        factor.solve(rhs)
    } else {
        factor.solve_transposed(rhs)
    })
}
