//! The Matérn profile and its derivatives at many squared distances.

use core::f64::consts::PI;

use super::nodes::Nodes;
use crate::ops::{
    cpu::{Kernel, Scalar, dot, sum},
    special::functions::stirling_remainder,
};

/// Terms below `e^(−TAIL)` times the largest one are left out: half a unit in the last place.
pub const TAIL: f64 = 37.0;

/// φ is zero in double precision for larger `q = R − ν`: its logarithm is about −q/2 or less.
const FARTHEST: f64 = 1600.0;

/// Closer points, in squared lengthscales, count as coincident for the slopes. Their differences are rounding errors, and
/// slopes remain finite in single precision.
const COINCIDENT: f64 = 1e-30;

/// The ratio of the largest to the smallest `R + 8.5` with the same nodes.
const RATIO: f64 = 1.3;

/// φ and its derivatives with respect to r² and to ν, for one smoothness ν and the distances it was made for.
///
/// With `R = √(ν² + z²)` and `q = R − ν`, the integrand of φ is largest at `u* = log((ν + R)/2)`, and δ from there it
/// has the factor `exp(−ν(e^δ − 1 − δ) − q(cosh δ − 1))`. So no exponent is positive, whatever ν and z are, and nothing
/// cancels.
pub struct Mixture {
    smoothness: f64,
    /// `½·log(ν/2π)` minus the remainder of Stirling's formula: the logarithm of the largest term for z = 0.
    log_factor: f64,
    /// `log ν − ψ(ν)`
    shift: f64,
    /// By increasing R.
    nodes: Vec<Nodes>,
}

/// The quantities of one distance.
struct Distance {
    q: f64,
    /// `log((ν + R)/2ν)`
    log_ratio: f64,
    /// The largest term of the integral, divided by Γ(ν).
    factor: f64,
}

impl Mixture {
    /// Prepares the profile of smoothness ν for these squared distances.
    pub fn new<T: Scalar>(smoothness: f64, squares: &[T]) -> Self {
        let (remainder, slope) = stirling_remainder(smoothness);
        let mut mixture = Self {
            smoothness,
            log_factor: 0.5 * (smoothness / (2.0 * PI)).ln() - remainder,
            shift: 0.5 / smoothness - slope,
            nodes: Vec::new(),
        };
        let [mut least, mut most] = [f64::INFINITY, 0.0];
        for square in squares {
            let square = square.to_f64();
            if square > 0.0 {
                (least, most) = (square.min(least), square.max(most));
            }
        }
        let [least, most] = [least, most].map(|square| mixture.excess(square).min(FARTHEST));
        mixture.add_nodes(least, most);
        mixture
    }

    /// Adds the nodes for q from `least` to `most`; none, so that values are NaN, if the smoothness is not positive and finite.
    fn add_nodes(&mut self, least: f64, most: f64) {
        if !(self.smoothness > 0.0 && self.smoothness.is_finite()) {
            return;
        }
        let mut from = least;
        while from < most || (self.nodes.is_empty() && from == most) {
            let largest = (self.smoothness + from + 8.5) * RATIO - 8.5;
            let largest = largest.min(f64::MAX);
            self.nodes.push(Nodes::new(self.smoothness, from, largest));
            from = largest - self.smoothness;
        }
    }

    /// `q = R − ν = ν·(√(1 + z²/ν²) − 1)`, where `z²/ν² = 2r²/ν`.
    #[inline(always)]
    fn excess(&self, square: f64) -> f64 {
        let ratio = 2.0 * square / self.smoothness;
        let root = (1.0 + ratio).sqrt();
        // The second form does not cancel, and the first is not NaN for an infinite distance.
        let excess = if ratio > 1.0 {
            root - 1.0
        } else {
            ratio / (1.0 + root)
        };
        self.smoothness * excess
    }

    /// None if φ is zero.
    #[inline(always)]
    fn distance(&self, square: f64) -> Option<Distance> {
        let q = self.excess(square);
        let log_ratio = (q / (2.0 * self.smoothness)).ln_1p();
        // ν·u* − e^(u*) − (z/2)²·e^(−u*) − log Γ(ν), with Stirling's formula for log Γ
        let exponent = self.smoothness * log_ratio - q + self.log_factor;
        let is_zero = q >= FARTHEST;
        (!is_zero).then(|| Distance {
            q,
            log_ratio,
            factor: exponent.exp(),
        })
    }

    /// The nodes for a distance, and the first that counts.
    #[inline(always)]
    fn nodes(&self, distance: &Distance) -> Option<(&Nodes, usize)> {
        let radius = self.smoothness + distance.q;
        let found = self.nodes.iter().find(|nodes| radius <= nodes.largest);
        let nodes = found.or(self.nodes.last())?;
        Some((nodes, nodes.first(distance.q)))
    }

    /// The terms at nodes, relative to the largest.
    #[inline(always)]
    fn terms<'a, const FUSED: bool>(
        &self,
        distance: &Distance,
        (nodes, first): (&Nodes, usize),
        terms: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        let (growth, spread) = (&nodes.growth[first..], &nodes.spread[first..]);
        terms.resize(terms.len().max(growth.len()), 0.0);
        let terms = &mut terms[..growth.len()];
        for ((term, growth), spread) in terms.iter_mut().zip(growth).zip(spread) {
            let exponent = (-distance.q).multiply_add::<FUSED>(*spread, -growth);
            *term = exponent.exp_nonpositive::<FUSED>();
        }
        terms
    }

    /// φ at a squared distance; NaN for NaN.
    #[inline(always)]
    fn value<const FUSED: bool>(&self, square: f64, terms: &mut Vec<f64>) -> f64 {
        if square <= 0.0 {
            return if square == 0.0 { 1.0 } else { f64::NAN };
        }
        let Some(distance) = self.distance(square) else {
            return 0.0;
        };
        let Some(nodes) = self.nodes(&distance) else {
            return f64::NAN;
        };
        let terms = self.terms::<FUSED>(&distance, nodes, terms);
        distance.factor * nodes.0.step * sum(terms)
    }

    /// `dφ/dr²` and `dφ/dν` at a squared distance; NaN for NaN.
    #[inline(always)]
    fn slopes<const FUSED: bool>(&self, square: f64, terms: &mut Vec<f64>) -> [f64; 2] {
        if square <= COINCIDENT {
            return if square >= 0.0 {
                [0.0; 2]
            } else {
                [f64::NAN; 2]
            };
        }
        let Some(distance) = self.distance(square) else {
            return [0.0; 2];
        };
        let Some(nodes) = self.nodes(&distance) else {
            return [f64::NAN; 2];
        };
        let terms = self.terms::<FUSED>(&distance, nodes, terms);
        let (nodes, first) = nodes;
        let scale = distance.factor * nodes.step;
        let inverse = dot::<_, FUSED>(terms, &nodes.inverse[first..]);
        let offset = dot::<_, FUSED>(terms, &nodes.offset[first..]);
        // dφ/dz² = −¼·E[e^(−u)], with e^(−u*) = 2/(ν + R), and z² = 2ν·r²
        let radius = self.smoothness + distance.q;
        let slope = -scale * inverse * (self.smoothness / (self.smoothness + radius));
        // ∂φ/∂ν = E[u − ψ(ν)] for equal z, with u* − ψ(ν) = log((ν + R)/2ν) + log ν − ψ(ν)
        let of_smoothness = scale * (offset + sum(terms) * (distance.log_ratio + self.shift));
        [slope, of_smoothness + slope * (square / self.smoothness)]
    }
}

/// φ at every squared distance.
pub struct Values<'a, T> {
    pub mixture: &'a Mixture,
    pub squares: &'a [T],
    pub results: &'a mut [T],
}

impl<T: Scalar> Kernel for Values<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let mut terms = Vec::new();
        for (result, square) in self.results.iter_mut().zip(self.squares) {
            *result = T::from_f64(self.mixture.value::<FUSED>(square.to_f64(), &mut terms));
        }
    }
}

/// `dφ/dr²` and `dφ/dν` at every squared distance.
pub struct Slopes<'a, T> {
    pub mixture: &'a Mixture,
    pub squares: &'a [T],
    pub results: &'a mut [[f64; 2]],
}

impl<T: Scalar> Kernel for Slopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call<const FUSED: bool>(self) {
        let mut terms = Vec::new();
        for (result, square) in self.results.iter_mut().zip(self.squares) {
            *result = self.mixture.slopes::<FUSED>(square.to_f64(), &mut terms);
        }
    }
}
