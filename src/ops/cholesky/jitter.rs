//! Jitter for Cholesky factorizations.

use burn::tensor::DType;
use serde::{Deserialize, Serialize};

/// The jitter added to the diagonal of a matrix before factorization, relative to the mean of the
/// diagonal.
///
/// A factorization starts with `initial`. If a pivot is not positive, it tries again with ten times
/// as much (from [`Jitter::FIRST_STEP`] if `initial` is zero), up to `escalations` times. In a
/// batch, only the members that failed are tried again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// The jitter of the first attempt, relative to the mean of the diagonal.
    pub initial: f64,
    /// The maximum number of tenfold increases.
    pub escalations: usize,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(Jitter {
    initial,
    escalations
});

impl Jitter {
    /// The first nonzero jitter after an attempt without any, in units of the machine epsilon.
    pub const FIRST_STEP: f64 = 10.0;

    /// No jitter at first; up to four escalations.
    pub const NONE: Self = Self {
        initial: 0.0,
        escalations: 4,
    };

    /// The jitter for covariance matrices of inducing variables in single precision, `1e-6`.
    pub const INDUCING: Self = Self {
        initial: 1e-6,
        escalations: 4,
    };

    /// The jitter for covariance matrices of inducing variables in a given precision: `1e-8` in
    /// double precision, [`INDUCING`](Self::INDUCING) in all others.
    ///
    /// Jitter ε leaves about ε times the prior variance σ_f² unexplained at each of N data points,
    /// which lowers a bound with noise variance σ² by about N·ε·σ_f²/(2σ²). When the noise is
    /// small, more jitter than rounding requires would therefore push the prior variance down.
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

    /// The jitter of each attempt in turn.
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
