//! Elementwise functions that burn lacks.

use burn::{backend::Dispatch, tensor::Tensor};

use super::{extension::LinearAlgebra, host::special};

/// A scalar function with a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialFunction {
    /// `log(1 + eˣ)`, without overflow.
    Softplus,
    /// `log Φ(x)`, Φ the standard normal distribution function, accurate in the lower tail.
    LogNormalCdf,
    /// `log Γ(x)` for positive `x`.
    LogGamma,
    /// `log(1 − eˣ)` for negative `x`, accurate at both ends.
    LogOneMinusExp,
}

impl SpecialFunction {
    /// The function and its derivative at `x`.
    pub fn value_and_slope(self, x: f64) -> (f64, f64) {
        match self {
            Self::Softplus => special::softplus(x),
            Self::LogNormalCdf => special::log_normal_cdf(x),
            Self::LogGamma => special::log_gamma(x),
            Self::LogOneMinusExp => special::log_one_minus_exp(x),
        }
    }
}

/// `log(1 + eˣ)`, elementwise and without overflow.
pub fn softplus<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::Softplus)
}

/// `1/(1 + e^(−x)) = exp(−log(1 + e^(−x)))`, elementwise, to the last digits in both tails.
///
/// burn's own computes in single precision on ndarray.
pub fn sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    softplus(x.neg()).neg().exp()
}

/// `log Φ(x)`, elementwise, Φ the standard normal distribution function.
pub fn log_normal_cdf<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::LogNormalCdf)
}

/// `log Γ(x)`, elementwise, for positive `x`; its gradient is the digamma function.
pub fn log_gamma<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::LogGamma)
}

/// `log(1 − eˣ)`, elementwise, for negative `x`, accurate at both ends.
pub fn log_one_minus_exp<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::LogOneMinusExp)
}

fn apply<const D: usize>(x: Tensor<D>, function: SpecialFunction) -> Tensor<D> {
    Tensor::from_dispatch(<Dispatch as LinearAlgebra>::special(
        x.into_dispatch(),
        function,
    ))
}
