//! The Matérn profile by other operations, for GPUs.

use core::f64::consts::PI;

use burn::tensor::{DType, Tensor};

use crate::ops::{exp_minus_one, stirling_remainder};

/// Squared distances beyond which φ no longer changes in any digit.
const FARTHEST: f64 = 1e10;

/// Squared distances below which points coincide.
const COINCIDENT: f64 = 1e-30;

/// `φ`, `[B, N1, N2]`, by the trapezoidal rule on nodes that depend on the distance. The derivatives are computed in
/// the same pass, so that autodiff keeps two tensors and not all terms.
pub fn matern(squares: Tensor<3>, smoothness: Tensor<1>) -> Tensor<3> {
    let [members] = smoothness.dims();
    let smoothness = smoothness.reshape([members, 1, 1]);
    // Not the logarithm of a quotient: burn divides gradients by a number in single precision.
    let log_factor = smoothness.clone().log() * 0.5
        - 0.5 * (2.0 * PI).ln()
        - stirling_remainder(smoothness.clone());
    let s = squares.clone().detach().clamp_max(FARTHEST);
    let nu = smoothness.clone().detach();
    let ratio = s.clone() * 2.0 / nu.clone();
    let q = nu.clone() * (ratio.clone() / ((ratio + 1.0).sqrt() + 1.0)); // R − ν
    let q = q.clamp_min(COINCIDENT);
    let log_ratio = (q.clone() / (nu.clone() * 2.0)).log1p();
    let exponent = nu.clone() * log_ratio.clone() - q.clone() + log_factor.clone().detach();
    let [value, inverse, offset] = sums(&nu, &q).map(|sum| sum * exponent.clone().exp());

    let slope = (inverse * (nu.clone() / (nu.clone() * 2.0 + q))).neg();
    let of_smoothness =
        offset + value.clone() * log_ratio + slope.clone() * (s.clone() / nu.clone());
    let is_same = s.clone().lower_equal_elem(COINCIDENT);
    let without_same = |tensor: Tensor<3>| tensor.mask_fill(is_same.clone(), 0.0);
    let [slope, of_smoothness] = [slope, of_smoothness].map(without_same);
    // Differences that are zero, but have a gradient.
    let change_of_factor = log_factor.clone() - log_factor.detach();
    let change = slope * (squares.clone() - squares.detach())
        + of_smoothness * (smoothness - nu)
        + without_same(value.clone()) * change_of_factor;
    value.mask_fill(is_same, 1.0) + change
}

/// `h·Σ_k t_k`, `h·Σ_k t_k·e^(−δ_k)` and `h·Σ_k t_k·δ_k` with `t = exp(−ν(e^δ − 1 − δ) − q(cosh δ − 1))`, `[B, N1, N2]`.
fn sums(nu: &Tensor<3>, q: &Tensor<3>) -> [Tensor<3>; 3] {
    // The logarithms of the terms that are left out, and the number of nodes: the step is below that on the CPU for
    // distances from 10⁻⁶ lengthscales on.
    let (tail, count) = match q.dtype() {
        DType::F64 => (37.0, 256),
        _ => (18.0, 128),
    };
    let [below, above] = extents(nu, q, tail);
    let step = (below.clone() + above) / f64::from(count - 1);
    let zeros = Tensor::zeros_like(q);
    let [mut total, mut inverse, mut offset] = [zeros.clone(), zeros.clone(), zeros];
    for index in 0..count {
        let delta = step.clone() * f64::from(index) - below.clone();
        let (power, less_one) = (delta.clone().exp(), exp_minus_one(delta.clone()));
        let spread = less_one.clone().square() / (power.clone() * 2.0); // cosh δ − 1
        let growth = less_one - delta.clone();
        let term = (nu.clone() * growth + q.clone() * spread).neg().exp();
        total = total + term.clone();
        inverse = inverse + term.clone() / power;
        offset = offset + term * delta;
    }
    [total, inverse, offset].map(|sum| sum * step.clone())
}

/// How far from the largest term, below and above, terms reach `e^(−tail)`: as on the CPU, `nodes.rs`.
fn extents(nu: &Tensor<3>, q: &Tensor<3>, tail: f64) -> [Tensor<3>; 2] {
    let inverse_spread = |x: Tensor<3>| {
        let root = x.clone().sqrt() * (x.clone() + 2.0).sqrt();
        (x + root).log1p()
    };
    let t = (nu.clone() - 1.0).clamp_min(1e-3).recip() * tail;
    let by_smoothness = (t.clone() + t.clone().sqrt() * (t + 8.0).sqrt()) * 0.5;
    let by_distance = inverse_spread(q.clone().recip() * tail);
    let above = inverse_spread((nu.clone() + q.clone()).recip() * tail);
    let by_smoothness = by_smoothness.expand(by_distance.dims());
    [by_distance.min_pair(by_smoothness), above]
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, Tensor, TensorData};

    use super::super::matern as on_cpu;
    use super::matern as composed;
    use crate::ops::numbers;

    /// Values and both gradients are those of the CPU, from coincident points to far ones.
    #[test]
    fn agrees_with_the_cpu() {
        let squares = [
            0.0, 1e-10, 1e-4, 0.01, 0.3, 1.0, 2.5, 9.0, 40.0, 400.0, 1e12, 0.7,
        ];
        let smoothness = [0.2, 0.5, 1.0, 1.3, 2.5, 12.0];
        for (dtype, tolerance) in [(DType::F64, 1e-10), (DType::F32, 3e-5)] {
            let device = Device::default().autodiff();
            let options = (&device, dtype);
            let all: Vec<f64> = smoothness.iter().flat_map(|_| squares).collect();
            let data = TensorData::new(all, [smoothness.len(), 3, 4]);
            let squares = Tensor::<3>::from_data(data, options).require_grad();
            let smoothness =
                Tensor::<1>::from_data(TensorData::from(smoothness), options).require_grad();
            let [expected, found] = [on_cpu, composed].map(|function| {
                let values = function(squares.clone(), smoothness.clone());
                let gradients = (values.clone().square().sum() + values.clone().sum()).backward();
                let of_squares = squares.grad(&gradients).map(numbers).unwrap_or_default();
                let of_smoothness = smoothness.grad(&gradients).map(numbers).unwrap_or_default();
                [numbers(values), of_squares, of_smoothness]
            });
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    let error = (found - expected).abs();
                    assert!(
                        error <= tolerance * (1.0 + expected.abs()),
                        "{found} for {expected} in {dtype:?}"
                    );
                }
            }
        }
    }
}
