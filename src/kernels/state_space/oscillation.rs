//! The oscillation of a damped oscillator.

use burn::tensor::Tensor;

/// Around critical damping, `|z| < 10⁻³`, four terms of the power series are exact in double precision.
const CRITICAL: f64 = 1e-3;
/// Below, the power series of S′ has more digits than its formula.
const NEAR_ZERO: f64 = 0.1;
/// Its terms, after which the rest is below rounding.
const TERMS: usize = 8;
/// Larger phases θ say nothing about an oscillation, and their squares must not overflow in single precision.
const LARGEST_PHASE: f64 = 1e15;

/// The value and the velocity of an oscillator with the damping ratio ζ at the phase `θ = ω₀Δ ≥ 0`:
/// `c = e^(−ζθ)·C(z)` and `s = e^(−ζθ)·θ·S(z)` with `z = (1 − ζ²)θ²`, `C = cos √z` and `S = sin √z/√z`. Both are entire
/// functions of z, cosh and sinh below zero, so that nothing jumps where the oscillator stops to oscillate at ζ = 1.
pub fn oscillation<const D: usize>(theta: Tensor<D>, damping: Tensor<D>) -> [Tensor<D>; 2] {
    let theta = theta.clamp_max(LARGEST_PHASE);
    let decay = theta.clone() * damping.clone(); // ζθ
    let square = theta.clone().square();
    let z = (damping.square().neg() + 1.0) * square.clone();
    let is_under = z.clone().greater_elem(CRITICAL);
    let is_over = z.clone().lower_elem(-CRITICAL);
    let [c, s] = critical(z.clone());
    let kept = decay.clone().neg().exp();
    let near = [c * kept.clone(), s * kept.clone()];
    let w = z.clone().clamp_min(CRITICAL).sqrt();
    let under = [w.clone().cos() * kept.clone(), w.clone().sin() / w * kept];
    let over = overdamped(z.neg().clamp_min(CRITICAL).sqrt(), decay, square);
    let [c, s] = pairs(near, under, over).map(|(near, under, over)| {
        near.mask_where(is_under.clone(), under)
            .mask_where(is_over.clone(), over)
    });
    [c, s * theta]
}

/// The same in plain numbers, with what derivatives with respect to ζ need.
pub struct Oscillation {
    /// θ
    pub theta: f64,
    pub c: f64,
    pub s: f64,
    /// `e^(−ζθ)·θ³·S′(z)`, where `S′(z) = (C − S)/(2z)`.
    pub t: f64,
}

impl Oscillation {
    pub fn new(theta: f64, damping: f64) -> Self {
        let theta = theta.min(LARGEST_PHASE);
        let (decay, rest) = (damping * theta, 1.0 - damping * damping);
        let z = rest * theta * theta;
        let kept = (-decay).exp();
        let (c, s) = if z > CRITICAL {
            let w = z.sqrt();
            (w.cos() * kept, theta * w.sin() / w * kept)
        } else if z < -CRITICAL {
            let w = (-z).sqrt();
            let (slow, fast) = (theta * theta / (decay + w), decay + w);
            let (slow, fast) = ((-slow).exp(), (-fast).exp());
            (0.5 * (slow + fast), theta * 0.5 * (slow - fast) / w)
        } else {
            let c = 1.0 + z * (-1.0 / 2.0 + z * (1.0 / 24.0 - z / 720.0));
            let s = 1.0 + z * (-1.0 / 6.0 + z * (1.0 / 120.0 - z / 5040.0));
            (c * kept, theta * s * kept)
        };
        let t = match z.abs() < NEAR_ZERO {
            true => theta.powi(3) * kept * slope_near_zero(z),
            false => (theta * c - s) / (2.0 * rest),
        };
        Self { theta, c, s, t }
    }
}

/// `S′(z) = Σ_k (−1)ᵏ·k·z^(k−1)/(2k + 1)!` near zero, where C and S cancel.
fn slope_near_zero(z: f64) -> f64 {
    let (mut sum, mut power, mut factorial) = (0.0, 1.0, 1.0);
    for k in 1..=TERMS {
        factorial *= -((2 * k) as f64) * (2 * k + 1) as f64;
        sum += k as f64 * power / factorial;
        power *= z;
    }
    sum
}

/// The first, and then the second of three pairs.
fn pairs<T>([a, b]: [T; 2], [c, d]: [T; 2], [e, f]: [T; 2]) -> [(T, T, T); 2] {
    [(a, c, e), (b, d, f)]
}

/// C(z) and S(z) by their power series.
fn critical<const D: usize>(z: Tensor<D>) -> [Tensor<D>; 2] {
    let z = z.clamp(-CRITICAL, CRITICAL);
    // 1 + z·(a₁ + z·(a₂ + z·a₃))
    let series = |[first, second, third]: [f64; 3]| {
        let inner = z.clone() * third + second;
        (inner * z.clone() + first) * z.clone() + 1.0
    };
    [
        series([-1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0]),
        series([-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0]),
    ]
}

/// `e^(−a)·cosh w` and `e^(−a)·sinh w/w` with `a = ζθ` and `w² = a² − θ²`, without overflow: the slow rate is
/// `a − w = θ²/(a + w)`.
fn overdamped<const D: usize>(w: Tensor<D>, a: Tensor<D>, square: Tensor<D>) -> [Tensor<D>; 2] {
    let fast = a + w.clone();
    let slow = (square / fast.clone()).neg().exp();
    let fast = fast.neg().exp();
    let half = |value: Tensor<D>| value * 0.5;
    [half(slow.clone() + fast.clone()), half((slow - fast) / w)]
}
