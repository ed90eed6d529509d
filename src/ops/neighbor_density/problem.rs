//! The arguments of the log density.

use super::Request;

/// The arguments of the log density.
pub struct Problem<'a, T> {
    /// [N, D]
    pub inputs: &'a [T],
    /// [N, P]
    pub residual: &'a [T],
    pub outputs: usize,
    /// 1/ℓ, `[D]`
    pub inverse: &'a [T],
    pub variance: T,
    pub noise: T,
    pub request: Request<'a>,
}

/// A row whose neighbors have no factor, or whose conditional variance is lost in rounding.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    pub row: usize,
    pub pivot: usize,
    /// The last jitter, relative to the diagonal.
    pub jitter: f64,
}
