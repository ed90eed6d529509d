//! Status reports of factorizations, and the errors built from them.

use burn::tensor::{DType, Tensor};

use crate::ops::numbers;

/// The status of one batch member: a row of values in a tensor that accompanies the factor.
///
/// The row holds the failed pivot plus one (zero if none failed), the jitter and the extremes of
/// the diagonal. It is in double precision if the backend has it. In single precision a pivot below
/// 2²⁴ and the diagonal of a single-precision matrix are exact, and a jitter has seven digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// The row whose pivot failed.
    pub failed_pivot: Option<usize>,
    /// The jitter added, or the last one tried, relative to the mean of the diagonal.
    pub jitter: f64,
    /// The smallest and largest diagonal entries.
    pub diagonal: [f64; 2],
}

impl Status {
    /// The length of a row.
    pub const WIDTH: usize = 4;

    /// The status of a given triangle: no jitter, and the row that makes it singular, if any.
    pub fn of_triangle(failed_pivot: Option<usize>) -> Self {
        Self {
            failed_pivot,
            jitter: 0.0,
            diagonal: [0.0; 2],
        }
    }

    /// The values of the row.
    pub fn row(self) -> [f64; Self::WIDTH] {
        let pivot = self.failed_pivot.map_or(0.0, |pivot| pivot as f64 + 1.0);
        let [smallest, largest] = self.diagonal;
        [pivot, self.jitter, smallest, largest]
    }

    /// Reads the status from the values of a row.
    fn from_row([pivot, jitter, smallest, largest]: [f64; Self::WIDTH]) -> Self {
        Self {
            failed_pivot: (pivot > 0.0).then(|| pivot as usize - 1),
            jitter,
            diagonal: [smallest, largest],
        }
    }
}

/// The first batch member that failed, with its failed pivot.
pub fn first_failure(status: Tensor<2>) -> Option<(usize, usize, Status)> {
    let numbers = numbers(status);
    let (rows, _) = numbers.as_chunks::<{ Status::WIDTH }>();
    rows.iter().enumerate().find_map(|(member, &row)| {
        let status = Status::from_row(row);
        status.failed_pivot.map(|pivot| (member, pivot, status))
    })
}

/// Returns an error for the first matrix in a batch of matrices with `size` rows that has no
/// factor.
pub fn check(status: Tensor<2>, size: usize, dtype: DType) -> Result<(), NotPositiveDefinite> {
    match first_failure(status) {
        None => Ok(()),
        Some((batch, pivot, status)) => Err(NotPositiveDefinite {
            batch,
            pivot,
            size,
            jitter: status.jitter,
            smallest_diagonal: status.diagonal[0],
            largest_diagonal: status.diagonal[1],
            dtype,
        }),
    }
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
    /// The number of rows of the matrix.
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
            "Look for duplicate points or lengthscales far larger than the range of the data, raise \
             the jitter, or use f64."
        } else {
            "It holds NaN or infinite values: check the inputs and the hyperparameters."
        }
    }
}

/// A triangular matrix with a zero or non-finite diagonal entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the triangular matrix (batch member {batch}) is singular: diagonal entry {row} is zero or not finite"
)]
pub struct SingularTriangle {
    /// The batch member.
    pub batch: usize,
    /// The row of the entry.
    pub row: usize,
}
