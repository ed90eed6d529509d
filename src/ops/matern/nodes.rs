//! The nodes of the trapezoidal rule.

use super::mixture::TAIL;

/// Nodes δ_k, in units of u from the largest term, with what does not depend on the distance.
pub struct Nodes {
    /// The distance of neighboring nodes, h.
    pub step: f64,
    /// The largest `R = √(ν² + z²)` for which h is small enough.
    pub largest: f64,
    /// The first node that counts for q from `2^(e + k)` on, by k.
    first: Vec<usize>,
    /// e
    exponent: i32,
    /// `ν·(e^δ − 1 − δ)`
    pub growth: Vec<f64>,
    /// `cosh δ − 1`
    pub spread: Vec<f64>,
    /// `e^(−δ)`
    pub inverse: Vec<f64>,
    /// δ
    pub offset: Vec<f64>,
}

impl Nodes {
    /// The nodes for smoothness ν and all `R = ν + q` up to `largest`, from those with the least q on.
    pub fn new(smoothness: f64, least: f64, largest: f64) -> Self {
        let step = step_for(largest);
        let [below, above] = extents(smoothness, least).map(|extent| (extent / step).ceil());
        let offset: Vec<f64> = (-below as i64..=above as i64)
            .map(|index| index as f64 * step)
            .collect();
        let exponent = exponent_of(least);
        let exponents = exponent..=exponent_of(largest - smoothness).max(exponent);
        let first = exponents.map(|exponent| {
            let [extent, _] = extents(smoothness, 2f64.powi(exponent));
            (below - (extent / step).ceil()).max(0.0) as usize
        });
        let growth = |&delta: &f64| smoothness * growth_of(delta);
        let spread = |delta: &f64| 2.0 * (0.5 * delta).sinh().powi(2);
        Self {
            step,
            largest,
            first: first.collect(),
            exponent,
            growth: offset.iter().map(growth).collect(),
            spread: offset.iter().map(spread).collect(),
            inverse: offset.iter().map(|delta| (-delta).exp()).collect(),
            offset,
        }
    }

    /// The first node whose term counts for `q = R − ν`.
    #[inline(always)]
    pub fn first(&self, q: f64) -> usize {
        let place = (exponent_of(q) - self.exponent).max(0) as usize;
        self.first[place.min(self.first.len() - 1)]
    }
}

/// The e for which a positive number is at least `2^e` and less than `2^(e + 1)`, or −1023 for subnormal ones.
#[inline(always)]
fn exponent_of(number: f64) -> i32 {
    (number.to_bits() >> 52) as i32 - 1023
}

/// The step for which the rule has 14 digits: `(2π/h)²/(2R)` is the logarithm of its relative error for large
/// `R = √(ν² + z²)`, and `π²/h` for small R, as the integrand is analytic in a strip of width π. Measured for ν from
/// 0.1 to 30.
pub fn step_for(radius: f64) -> f64 {
    0.73 / (radius + 8.5).sqrt()
}

/// How far from the largest term, below and above, the terms of φ and of its derivatives reach `e^(−TAIL)`.
///
/// Of the exponent `−ν(e^δ − 1 − δ) − q(cosh δ − 1)`, both parts count above, where `e^δ − 1 − δ ≥ cosh δ − 1`.
/// Below, for `δ = −d`, one of them suffices: `q(cosh d − 1)`, or `ν(e^(−d) − 1 + d) ≥ ν·d²/(2 + d)`, which
/// the factor `e^d` of the slope reduces to no less than `(ν − 1)·d²/(2 + d)`.
#[inline(always)]
fn extents(smoothness: f64, q: f64) -> [f64; 2] {
    let above = inverse_spread(TAIL / (smoothness + q));
    let below = inverse_spread(TAIL / q);
    if smoothness <= 1.0 {
        return [below, above];
    }
    let t = TAIL / (smoothness - 1.0);
    [below.min(0.5 * (t + (t * (t + 8.0)).sqrt())), above]
}

/// The δ with `cosh δ − 1 = x`, up to a bound where `e^δ` is still a number.
#[inline(always)]
fn inverse_spread(x: f64) -> f64 {
    match x < 1e100 {
        true => (x + (x * (x + 2.0)).sqrt()).ln_1p(),
        false => (2.0 * x.min(1e300)).ln(),
    }
}

/// `e^δ − 1 − δ`; near zero by its series, which loses no digits.
fn growth_of(delta: f64) -> f64 {
    if delta.abs() > 0.5 {
        return delta.exp_m1() - delta;
    }
    let terms = (3..16).rev().map(f64::from);
    0.5 * delta * delta * terms.fold(1.0, |sum, k| 1.0 + delta / k * sum)
}
