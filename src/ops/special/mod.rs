//! Elementwise functions that burn does not provide.

mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod elementwise;
pub(crate) mod functions;
mod normal;
mod tanh;

use burn::{backend::tensor::FloatTensor, tensor::Tensor};

use super::declaration::{dispatch, operations};

operations! {
    /// Backend implementation of the functions.
    trait SpecialOps on devices {
        /// A scalar function, elementwise.
        fn special(x; function: SpecialFunction) -> FloatTensor<Self> = like(x),
            |gradient, _| [Some(B::special_backward(x, gradient, function))];
    } backward {
        /// The gradient through a scalar function.
        fn special_backward(x, gradient; function: SpecialFunction) -> FloatTensor<Self> = like(x);
    }
}

/// A scalar function with a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialFunction {
    /// `log(1 + eˣ)`, without overflow.
    Softplus,
    /// `log Φ(x)` with the standard normal distribution function Φ, accurate in the lower tail.
    LogNormalCdf,
    /// `log Γ(x)` for positive `x`.
    LogGamma,
    /// `log(1 − eˣ)` for negative `x`, accurate at both ends.
    LogOneMinusExp,
    /// `eˣ − 1`, accurate near zero.
    ExpMinusOne,
    /// `log(1 + x)/x` for `x > −1`, accurate near zero, where it is one.
    LogRatio,
    /// `log Γ(x) − (x − ½)·log x + x − ½·log 2π` for positive `x`.
    StirlingRemainder,
    /// `tanh x`. burn's own computes one value at a time on the CPU.
    Tanh,
    /// `arcsin x` for `|x| ≤ 1`. burn's own is accurate to only three digits in shaders.
    ArcSine,
}

#[cfg(feature = "remote")]
crate::ops::remote::sent_as_numbers!(SpecialFunction in [
    Self::Softplus,
    Self::LogNormalCdf,
    Self::LogGamma,
    Self::LogOneMinusExp,
    Self::ExpMinusOne,
    Self::LogRatio,
    Self::StirlingRemainder,
    Self::Tanh,
    Self::ArcSine,
]);

/// `log(1 + eˣ)`, elementwise and without overflow.
pub fn softplus<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::Softplus)
}

/// `1/(1 + e^(−x)) = exp(−log(1 + e^(−x)))`, elementwise, accurate to the last digits in both
/// tails.
///
/// burn's own function computes in single precision on ndarray.
pub fn sigmoid<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    softplus(x.neg()).neg().exp()
}

/// `log Φ(x)`, elementwise, with the standard normal distribution function Φ.
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

/// `eˣ − 1`, elementwise, accurate near zero.
pub fn exp_minus_one<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::ExpMinusOne)
}

/// `log(1 + x)/x`, elementwise, for `x > −1`. `x` times the value at `x/r` is `r·log(1 + x/r)`, accurate to
/// the last digits however large r is.
pub fn log_ratio<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::LogRatio)
}

/// `log Γ(x) − (x − ½)·log x + x − ½·log 2π`, elementwise, for positive `x`: the error of Stirling's formula,
/// below `1/(12x)`. Differences of log-gammas at large arguments can be computed from it without large terms
/// that cancel.
pub fn stirling_remainder<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::StirlingRemainder)
}

/// `tanh x`, elementwise: vectorized and on all threads on the CPU.
pub fn tanh<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::Tanh)
}

/// `arcsin x`, elementwise, for `|x| ≤ 1`.
///
/// Shaders guarantee their own arcsine only to 4096 units in the last place (WGSL, §15.7.4.1).
pub fn arc_sine<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    apply(x, SpecialFunction::ArcSine)
}

fn apply<const D: usize>(x: Tensor<D>, function: SpecialFunction) -> Tensor<D> {
    dispatch!(special(x; function))
}
