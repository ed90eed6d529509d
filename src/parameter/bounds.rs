//! Bounds of parameters.

use burn::{
    module::{Module, Param, ParamId, Reparameterization, Reparameterizer},
    tensor::{Tensor, TensorData},
};
use serde::{Deserialize, Serialize};

use crate::ops::{sigmoid, softplus, special::functions::softplus_inverse};

/// The open interval that contains a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// The lower bound, exclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<f64>,
    /// The upper bound, exclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper: Option<f64>,
}

impl Bounds {
    /// Values above `lower`.
    pub fn above(lower: f64) -> Self {
        Self {
            lower: Some(lower),
            upper: None,
        }
    }

    /// Values below `upper`.
    pub fn below(upper: f64) -> Self {
        Self {
            lower: None,
            upper: Some(upper),
        }
    }

    /// Values between `lower` and `upper`.
    pub fn between(lower: f64, upper: f64) -> Self {
        Self {
            lower: Some(lower),
            upper: Some(upper),
        }
    }

    /// The intersection of both intervals.
    pub fn and(self, other: Self) -> Self {
        let tighter = |a: Option<f64>, b: Option<f64>, choose: fn(f64, f64) -> f64| match (a, b) {
            (Some(a), Some(b)) => Some(choose(a, b)),
            (a, b) => a.or(b),
        };
        Self {
            lower: tighter(self.lower, other.lower, f64::max),
            upper: tighter(self.upper, other.upper, f64::min),
        }
    }

    /// The bounds as numbers; infinite if absent.
    pub fn ends(self) -> (f64, f64) {
        let lower = self.lower.unwrap_or(f64::NEG_INFINITY);
        (lower, self.upper.unwrap_or(f64::INFINITY))
    }

    /// Some value within the bounds.
    pub(super) fn middle(self) -> f64 {
        match (self.lower, self.upper) {
            (Some(lower), Some(upper)) => 0.5 * (lower + upper),
            (Some(lower), None) => lower + 1.0,
            (None, Some(upper)) => upper - 1.0,
            (None, None) => 0.0,
        }
    }

    /// Whether a value lies within the bounds.
    pub fn contain(self, value: f64) -> bool {
        let (lower, upper) = self.ends();
        lower < value && value < upper
    }
}

/// Keeps a parameter within bounds. The stored number `b` represents
///
/// - `lower + (upper − lower)/(1 + e^(−b))` between two bounds,
/// - `lower + log(1 + eᵇ)` above a lower bound,
/// - `upper − log(1 + eᵇ)` below an upper bound.
#[derive(Module, Debug)]
pub(super) struct Bounded {
    /// `[1]`, not trained
    lower: Option<Param<Tensor<1>>>,
    /// `[1]`, not trained
    upper: Option<Param<Tensor<1>>>,
}

impl Bounded {
    /// One of the limits.
    pub fn limit(&self) -> Option<Tensor<1>> {
        let limit = self.lower.as_ref().or(self.upper.as_ref());
        limit.map(Param::val)
    }
}

impl Reparameterization for Bounded {
    const NAME: &'static str = "bounds";

    fn apply<const D: usize>(&self, base: Tensor<D>) -> Tensor<D> {
        let limit = |limit: &Option<Param<Tensor<1>>>| limit.as_ref().map(Param::val);
        within(base, limit(&self.lower), limit(&self.upper))
    }
}

/// Maps stored numbers to values within limits.
pub(super) fn within<const D: usize>(
    base: Tensor<D>,
    lower: Option<Tensor<1>>,
    upper: Option<Tensor<1>>,
) -> Tensor<D> {
    let shaped = |limit: Tensor<1>| limit.reshape([1; D]);
    match (lower.map(shaped), upper.map(shaped)) {
        (Some(lower), Some(upper)) => sigmoid(base) * (upper - lower.clone()) + lower,
        (Some(lower), None) => softplus(base) + lower,
        (None, Some(upper)) => softplus(base).neg() + upper,
        (None, None) => base,
    }
}

/// The stored number that represents `value` within limits.
pub(super) fn stored(value: f64, limits: Bounds) -> f64 {
    match (limits.lower, limits.upper) {
        (Some(lower), Some(upper)) => ((value - lower) / (upper - value)).ln(),
        (Some(lower), None) => softplus_inverse(value - lower),
        (None, Some(upper)) => softplus_inverse(upper - value),
        (None, None) => value,
    }
}

/// Sets limits for one parameter.
pub(super) struct Bounding {
    pub id: ParamId,
    pub limits: Bounds,
}

impl Reparameterizer for Bounding {
    type Reparam = Bounded;

    fn reparameterize<const D: usize>(
        &mut self,
        _path: &str,
        param: Param<Tensor<D>>,
    ) -> (Param<Tensor<D>>, Option<Bounded>) {
        if param.id != self.id {
            return (param, None);
        }
        let tensor = param.val();
        let (device, dtype) = (tensor.device(), tensor.dtype());
        let limit = |value: f64| {
            let tensor = Tensor::from_data(TensorData::from([value]), (&device, dtype));
            Param::from_tensor(tensor).set_require_grad(false)
        };
        let bounded = Bounded {
            lower: self.limits.lower.map(limit),
            upper: self.limits.upper.map(limit),
        };
        (param, Some(bounded))
    }
}
