//! Positive values, parameterized without constraints.

use burn::{
    module::{Module, Param},
    tensor::{DType, Int, Tensor, TensorCreationOptions},
};

use super::{HostInteger, aligned, bounds::Bounded, numbers, vector};
use crate::ops::{
    softplus,
    special::functions::{self, softplus_inverse},
};

/// The lower bound of a positive hyperparameter, relative to its scale `10ᵉ`.
pub const LOWER_BOUND: f64 = 1e-6;

/// Initial values between `1/USUAL` and `USUAL` have a scale of one.
const USUAL: f64 = 1e5;

/// A vector of positive hyperparameters, `10ᵉ·(lower bound + softplus(raw))` with `raw` trained.
///
/// The scale `10ᵉ` is one, unless the largest initial value is below 1e-5 or above 1e5. It is then
/// the power of ten below the largest value. This makes the lower bound and the size of optimizer
/// steps independent of the scale of the values.
///
/// [`stacked`](super::stacked) gives it an axis of B members, each with n values.
#[derive(Module, Debug)]
pub struct Positive {
    raw: Param<Tensor<1>>,
    /// e
    exponent: HostInteger,
    /// The number of parameters of one member.
    #[module(skip)]
    each: usize,
    #[module(skip)]
    repeats: usize,
    /// The parameter of each value, if several values share one; empty otherwise.
    #[module(skip)]
    groups: Vec<usize>,
}

impl Positive {
    /// The bounds of a value.
    pub(crate) const RANGE: (f64, f64) = (0.0, f64::INFINITY);

    /// Creates parameters that start at the given values.
    ///
    /// # Panics
    ///
    /// If a value is not positive and finite, or is less than a millionth of another.
    #[track_caller]
    pub fn new(values: &[f64], options: impl Into<TensorCreationOptions>) -> Self {
        let options = options.into();
        let exponent = exponent_for(values);
        let unit = unit_of(exponent);
        assert!(
            (values.iter()).all(|&value| value > LOWER_BOUND * unit && value.is_finite()),
            "positive hyperparameters must be finite and above {:e}, got {values:?}",
            LOWER_BOUND * unit
        );
        let raw: Vec<f64> = (values.iter())
            .map(|&value| unconstrained(value, unit))
            .collect();
        let raw = vector(&raw, options);
        let exponent = HostInteger::new(exponent, &raw.device());
        Self {
            raw: Param::from_tensor(raw),
            exponent,
            each: values.len(),
            repeats: 1,
            groups: Vec::new(),
        }
    }

    /// Makes value d equal to parameter `groups[d]`, so that all values of a group are equal. A
    /// single parameter is unchanged, since it represents any number of values.
    ///
    /// # Panics
    ///
    /// If the number of groups differs from the number of parameters.
    #[track_caller]
    pub fn grouped(mut self, groups: &[usize]) -> Self {
        let count = self.each;
        let named = groups.iter().max().map_or(0, |largest| largest + 1);
        assert!(
            count == 1 || named == count,
            "{count} positive hyperparameters for values in {named} groups"
        );
        if count > 1 {
            self.groups = groups.to_vec();
        }
        self
    }

    /// Lets the parameters represent `repeats` blocks of equal values. A single value is unchanged,
    /// since it represents any number of values.
    pub fn repeated(mut self, repeats: usize) -> Self {
        if self.each > 1 {
            self.repeats *= repeats;
        }
        self
    }

    /// The number of members, B: one, unless the module is [`stacked`](super::stacked).
    pub(crate) fn members(&self) -> usize {
        let [count] = self.raw.lazy_shape().dims();
        count / self.each
    }

    /// The number of values of a member, n, including repetitions.
    pub(crate) fn count(&self) -> usize {
        match self.groups.len() {
            0 => self.each * self.repeats,
            values => values * self.repeats,
        }
    }

    /// The floating-point type. It costs no operation, even if the parameter is bounded.
    pub(crate) fn dtype(&self) -> DType {
        let limit = self.raw.reparameterization::<Bounded>();
        let limit = limit.and_then(Bounded::limit);
        limit.map_or_else(|| self.raw.val().dtype(), |limit| limit.dtype())
    }

    /// The constrained values as numbers, one for each of `count` dimensions. A single value is
    /// repeated.
    pub(crate) fn for_each(&self, count: usize) -> Vec<f64> {
        match self.to_vec() {
            values if values.len() == 1 => vec![values[0]; count],
            values => values,
        }
    }

    /// The constrained values, `[B·n]`, tracked by autodiff.
    pub fn value(&self) -> Tensor<1> {
        let values = in_unit(constrained(self.raw.val()), self.exponent.get());
        if self.groups.is_empty() && self.repeats == 1 {
            return values;
        }
        let mut each = values.reshape([self.members(), self.each]); // [B, parameters]
        if !self.groups.is_empty() {
            let groups: Vec<i64> = self.groups.iter().map(|&group| group as i64).collect();
            let groups = Tensor::<1, Int>::from_data(groups.as_slice(), &each.device());
            each = each.select(1, groups);
        }
        if self.repeats > 1 {
            each = each.repeat(&[1, self.repeats]);
        }
        each.flatten(0, 1)
    }

    /// The constrained values as `[B, 1, …, n]`, tracked by autodiff: to multiply points, `[B, N, D]`, and for
    /// n = 1 also covariances, `[B, N1, N2]`, or variances, `[B, N]`. Without an axis of members, B is 1.
    pub fn aligned<const R: usize>(&self) -> Tensor<R> {
        aligned(self.value(), self.members())
    }

    /// The constrained values as numbers.
    pub fn to_vec(&self) -> Vec<f64> {
        numbers(self.value())
    }
}

/// The exponent of the scale for initial values.
fn exponent_for(values: &[f64]) -> i64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let usual = largest < USUAL && largest > USUAL.recip();
    if usual || !(largest > 0.0 && largest.is_finite()) {
        return 0;
    }
    largest.log10().floor() as i64
}

/// `10ᵉ`
pub(super) fn unit_of(exponent: i64) -> f64 {
    10f64.powi(exponent as i32)
}

/// `10ᵉ` times the values.
fn in_unit(values: Tensor<1>, exponent: i64) -> Tensor<1> {
    match exponent {
        0 => values,
        exponent => values * unit_of(exponent),
    }
}

/// `10ᵉ`, `[1]`, on the device and in the type of `values`, for an exponent that only the device has.
pub(super) fn unit(exponent: Tensor<1, Int>, values: &Tensor<1>) -> Tensor<1> {
    let logarithm = exponent.float().cast(values.dtype()) * core::f64::consts::LN_10;
    let unit = logarithm.exp();
    if values.is_autodiff() && !unit.is_autodiff() {
        unit.autodiff()
    } else {
        unit
    }
}

/// Maps the stored numbers `raw` of a [`Positive`] to its values, relative to its scale.
pub(super) fn constrained(raw: Tensor<1>) -> Tensor<1> {
    softplus(raw).add_scalar(LOWER_BOUND)
}

/// Like [`constrained`], for a single number, times the scale `unit`.
pub(super) fn constrained_number(raw: f64, unit: f64) -> f64 {
    (functions::softplus(raw).0 + LOWER_BOUND) * unit
}

/// The stored number in a [`Positive`] for a value above [`LOWER_BOUND`] times the scale `unit`.
pub(super) fn unconstrained(value: f64, unit: f64) -> f64 {
    softplus_inverse(value / unit - LOWER_BOUND)
}
